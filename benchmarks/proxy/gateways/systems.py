"""The gateways that are compared, and how each is started."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.proxy.gateways.corpus import model_text
from benchmarks.proxy.gateways.stores import GovernorStore, KeyholeStore, NoStore, Result
from keyhole.extensions.proxy.rewrite import QUERY_ARGUMENT

REPLAY = [sys.executable, "-m", "benchmarks.proxy.gateways.replay"]
PEERS = str(Path(__file__).with_name("peers.py"))
GOVERNOR_BYTES = 32_768
"""The budget of tool-result-size-governor as it is installed. Its command line has no option for another one."""
GAP = "\n…\n"
JSON_BYTES = 100
"""Bytes of a result around its text."""


def _unchanged(result: Result, _budget: int) -> Result:
    return result


@dataclass(frozen=True)
class System:
    """A gateway."""

    name: str
    command: Callable[[str, int], list[str]]
    """Returns the command line, for an interpreter with the other gateways and a budget in bytes."""
    store: NoStore = field(default_factory=NoStore)
    asks: bool = False
    """True if a call takes the question."""
    shape: Callable[[Result, int], Result] = _unchanged
    """What the client itself does to a result."""
    budget: int | None = None
    """Its only budget, 0 for none, None if it takes any."""

    def arguments(self, recorded: Mapping[str, Any], query: str) -> dict[str, Any]:
        """Return the arguments of a recorded call, with the question if the gateway takes it."""
        return {**recorded, QUERY_ARGUMENT: query} if self.asks else dict(recorded)


def head_and_tail(result: Result, budget: int) -> Result:
    """Return the beginning and the end of the texts, half each, without structured content."""
    raw = model_text({"content": result["content"]}).encode()
    half = (budget - JSON_BYTES) // 2
    if len(raw) > 2 * half:
        raw = raw[:half] + GAP.encode() + raw[-half:]
    return {"content": [{"type": "text", "text": raw.decode(errors="ignore")}]}


def _replay(_python: str, _budget: int) -> list[str]:
    return REPLAY


def _fastmcp(python: str, budget: int) -> list[str]:
    return [python, PEERS, "fastmcp", str(budget), *REPLAY]


def _governor(python: str, budget: int) -> list[str]:
    return [python, PEERS, "governor", str(budget), *REPLAY]


def _keyhole(_python: str, _budget: int) -> list[str]:
    return [sys.executable, "-m", "keyhole", "proxy", "--", *REPLAY]


SYSTEMS = (
    System("no gateway", _replay, budget=0),
    System("head+tail", _replay, shape=head_and_tail),
    System("FastMCP's limiter", _fastmcp),
    System("governor, as installed", _governor, GovernorStore(), budget=GOVERNOR_BYTES),
    System("governor", _governor, GovernorStore()),
    System("keyhole, unasked", _keyhole, KeyholeStore()),
    System("keyhole", _keyhole, KeyholeStore(), asks=True),
)
