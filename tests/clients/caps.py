"""Measure the largest tool result that each real agent passes to its model: `python -m tests.clients.caps [AGENT…]`.

Each agent runs one or two turns of at most 90 s, in which its model reads larger and larger windows of a stored page.
The client's name is hidden from the server, so that the server does not fit results to the client.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from .agent_turns import Turn, run_turn, window_script
from .agents import AGENTS, Agent
from .npm import PINNED, InstallError, install_from_npm
from .setup import Setup, open_setup
from .steps import FAULTS

SIZES: Final = (9_000, *range(10_000, 60_000, 2_000), *range(60_000, 200_001, 10_000))
"""Characters of the requested windows; the last is the largest budget of a call."""


FINE_STEP: Final = 100
"""Minimum difference in characters between two windows of the second turn, which narrows the limit down."""
FINE_STEPS: Final = 25
"""Maximum number of windows of the second turn."""


@dataclass(frozen=True, slots=True)
class Cap:
    """The output limit of an agent."""

    largest: int
    """Characters of the largest result before the first truncated one."""
    requested: int
    """The size of the window in that result."""
    truncated: int | None = None
    """Characters of the first truncated result; None if there is none."""
    shown: int | None = None
    """Characters of that result that the model received."""
    shown_part: str = ""


def cap_of(turn: Turn, sizes: Iterable[int]) -> Cap:
    """Return the limit observed in a turn that read windows of these sizes."""
    largest = requested = 0
    for sent, shown, size in zip(turn.sent[1:], turn.shown[1:], sizes, strict=False):
        if sent not in shown:
            return Cap(largest, requested, len(sent), len(shown), _shown_part(sent, shown))
        largest, requested = len(sent), size
    return Cap(largest, requested)


def _shown_part(sent: str, shown: str) -> str:
    """Return the part of a truncated result that was shown: its head, its tail, both or neither."""
    edge = 200
    head, tail = sent[:edge] in shown, sent[-edge:] in shown
    names = {(True, True): "head and tail", (True, False): "head", (False, True): "tail", (False, False): "neither end"}
    return names[head, tail]


def row(agent: Agent, setup: Setup, programs: Path) -> str:
    """Measure an agent; return its row of the table."""
    turn = run_turn(agent, setup, programs, window_script(setup.long_page, SIZES), unnamed=True)
    assert len(turn.sent) > 1, f"no tool was called: {turn.shown}"
    cap = cap_of(turn, SIZES)
    if cap.truncated is not None:
        above = next(size for size in SIZES if size > cap.requested)
        between = range(cap.requested, above + 1, max(FINE_STEP, (above - cap.requested) // FINE_STEPS))
        with tempfile.TemporaryDirectory(prefix="keyhole-clients-") as scratch, open_setup(Path(scratch)) as fresh:
            cap = cap_of(
                run_turn(agent, fresh, programs, window_script(fresh.long_page, between), unnamed=True), between
            )
    version = PINNED["dependencies"][agent.packages[0]]
    truncation = "–" if cap.truncated is None else f"of {cap.truncated:,}: {cap.shown:,} ({cap.shown_part})"
    announced = f"`{turn.client['name']}` {turn.client['version']}"
    return f"| {agent.name} {version} | {announced} | {turn.revision} | {cap.largest:,} | {truncation} |"


def main(names: list[str]) -> int:
    """Print the table of all agents, or of those whose names contain one of the words."""
    print(f"Measured {datetime.now(UTC):%Y-%m-%d}, results of up to {SIZES[-1]:,} bytes.\n")
    print("| agent | clientInfo | revision | largest complete, characters | first truncated result: characters shown |")
    print("| --- | --- | --- | ---: | --- |")
    for agent in AGENTS:
        if names and not any(name in agent.name for name in names):
            continue
        try:
            programs = install_from_npm(agent.packages)
        except InstallError as reason:
            print(f"| {agent.name} | not installed: {reason} | | | |")
            continue
        with tempfile.TemporaryDirectory(prefix="keyhole-clients-") as scratch, open_setup(Path(scratch)) as setup:
            try:
                print(row(agent, setup, programs), flush=True)
            except FAULTS as fault:
                print(f"| {agent.name} | not measured: {' '.join(str(fault).split())[:200]} | | | |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
