"""What each known client lets through: a table, each row with its source and date. Pure.

A row stands on what a real client does or says in its code; a client without such evidence has none and is treated as
unknown. Names are compared in lower case, and by their beginning where a client adds the name of the server.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from keyhole.config.schema import MAX_BUDGET

DECLARED_CHARS: Final = MAX_BUDGET
"""Characters that our tools declare as `anthropic/maxResultSizeChars`: the most that a call can ask for, so that what
it asked for is never put into a file instead. Claude Code takes up to 500,000; unasked, a call gets far less."""

_PROXIED: Final = re.compile(r" \(via [^)]*\)$")
"""What mcp-remote adds to the name of the client that it speaks for."""
MAX_NAME: Final = 200
"""Characters of a name that are looked at: several times the longest known one. Each request may give another."""


@dataclass(frozen=True, slots=True)
class Host:
    """One client and the caps it sets on a result; None where it sets none."""

    name: str
    max_bytes: int | None = None
    """Of the serialized result."""
    max_chars: int | None = None
    """Of its text."""
    max_tokens: int | None = None
    """Of its text, as the client counts them."""
    usual: int | None = None
    """Bytes of a result for which nothing was asked, where what the client lets through depends on what it does not
    tell, such as its model."""
    timeout: float | None = None
    """Seconds that it waits for a call."""
    source: str = ""
    """Where the figures are from, with the date."""
    prefix: bool = False
    """Whether more may follow the name."""
    since: tuple[int, ...] = ()
    """The version from which on this holds."""


UNKNOWN: Final = Host("")
HOSTS: Final = (
    Host(
        "codex-mcp-client",
        max_bytes=48_000,
        usual=11_000,
        timeout=300,
        source="measured with Codex 0.169, 2026-11: the middle of longer results is elided, beyond 48,000 bytes with a "
        "model that it knows and 12,000 with another; 300 s from its source",
        since=(0, 169),
    ),
    Host(
        "codex-mcp-client",
        max_bytes=10_000,
        timeout=60,
        source="openai/codex#7906, 2025-12: a policy of 10,000 bytes; 60 s from its documentation, 2026-11",
    ),
    Host(
        "claude-code",
        max_chars=DECLARED_CHARS,
        timeout=60,
        source="its documentation, 2026-11: the declared size holds instead of the token cap; release notes of 2.1.91; "
        "60 s to the first byte over HTTP; name from a run of 2.1.197",
        since=(2, 1, 91),
    ),
    Host(
        "claude-code",
        max_chars=50_000,
        max_tokens=8_000,
        timeout=60,
        source="its documentation, 2026-11: MAX_MCP_OUTPUT_TOKENS is 25,000, by a count of up to three times our "
        "estimate (see docs/how-it-works/budgets.md); longer text goes to a file",
    ),
    Host(
        "claude-ai",
        max_chars=100_000,
        timeout=60,
        source="150,000 in its documentation, 100,000 in lirantal/awesome-mcp-best-practices#2, 2025-05; 60 s from "
        "anthropics/claude-code#36319, 2026-03; name from logs of Claude Desktop",
    ),
    Host(
        "visual studio code",
        max_bytes=8_192,
        source="setting chat.agent.largeToolResultsToDisk.thresholdBytes, microsoft/vscode#329276, 2026-08: more goes "
        "to a file",
        prefix=True,
    ),
    Host(
        "gemini-cli-mcp-client",
        max_chars=40_000,
        timeout=600,
        source="bundle of @google/gemini-cli 0.61, 2026-11: DEFAULT_TRUNCATE_TOOL_OUTPUT_THRESHOLD; name from a run",
        prefix=True,
    ),
    Host(
        "qwen-cli-mcp-client",
        max_chars=25_000,
        timeout=600,
        source="bundle of @qwen-code/qwen-code, 2026-11: DEFAULT_TRUNCATE_TOOL_OUTPUT_THRESHOLD; name from a run",
        prefix=True,
    ),
    Host(
        "copilot-cli",
        max_bytes=20_480,
        source="measured with Copilot CLI 1.0.102, 2026-11: more goes to a file",
    ),
    Host(
        "opencode",
        max_bytes=51_200,
        timeout=60,
        source="bundle of opencode-ai 1.18.33, 2026-11: 51,200 bytes and 2,000 lines; name from a run; 60 s is the "
        "default of the TypeScript SDK that it is built on",
    ),
)
"""The newer version of a client stands before the older."""


def host_of(client: str, version: str = "") -> Host:
    """The row of a client that named itself so, `UNKNOWN` for one that is in no row."""
    name = _PROXIED.sub("", client[:MAX_NAME].strip().lower())
    numbers = tuple(int(number) for number in re.findall(r"\d{1,9}", version[:40])[:3])
    for host in HOSTS:
        if (name == host.name or (host.prefix and name.startswith(host.name))) and numbers >= host.since:
            return host
    return UNKNOWN
