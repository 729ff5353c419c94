"""The limits that known clients put on a result: a table, each row with its source and date.

The evidence is a run of the real client, its code or its documentation. A client without evidence has no row and counts
as unknown.
Names are compared in lower case, and by their beginning where a client appends the name of the server.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from keyhole.config.config import MAX_BUDGET

DECLARED_CHARS: Final = MAX_BUDGET
"""Characters that the tools declare as `anthropic/maxResultSizeChars`: the most that a call can request. Claude Code
then never puts a requested result into a file. It accepts up to 500,000; results are far shorter by default."""

_PROXY_SUFFIX: Final = re.compile(r" \(via [^()]*\)$")
"""mcp-remote appends this to the name of the client that it relays."""
MAX_CLIENT_NAME: Final = 200
"""Characters of a client's name that are compared: several times the longest known name. A client may send any name."""


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """One client and the limits it puts on a result; None for no limit."""

    name: str
    max_bytes: int | None = None
    """Bytes of the serialized result."""
    max_chars: int | None = None
    """Characters of the text."""
    max_tokens: int | None = None
    """Tokens of the text, as the client counts them."""
    default_bytes: int | None = None
    """Bytes of a result if the call requests no size. It is set where the client's limit depends on something that the
    client does not send, such as its model."""
    timeout: float | None = None
    """Seconds that the client waits for a call."""
    source: str = ""
    """Where the figures are from, with the date."""
    is_prefix: bool = False
    """True if a client's name only has to begin with `name`."""
    since: tuple[int, ...] = ()
    """The first version to which the row applies."""


UNKNOWN_CLIENT: Final = ClientLimits("", default_bytes=9_500)
"""Below the 10,000 bytes of Codex of 2025, the lowest limit of all clients that were tested except VS Code, which sends
its name."""
CLIENT_LIMITS: Final = (
    ClientLimits(
        "codex-mcp-client",
        max_bytes=48_000,
        default_bytes=11_000,
        timeout=300,
        source="measured with Codex 0.169, 2026-11: the middle of longer results is elided, beyond 48,000 bytes with a "
        "model that it knows and 12,000 with another; 300 s from its source",
        since=(0, 169),
    ),
    ClientLimits(
        "codex-mcp-client",
        max_bytes=10_000,
        timeout=60,
        source="openai/codex#7906, 2025-12: a policy of 10,000 bytes; 60 s from its documentation, 2026-11",
    ),
    ClientLimits(
        "claude-code",
        max_chars=DECLARED_CHARS,
        timeout=60,
        source="its documentation, 2026-11: the declared size holds instead of the token cap; release notes of 2.1.91; "
        "60 s to the first byte over HTTP; name from a run of 2.1.197",
        since=(2, 1, 91),
    ),
    ClientLimits(
        "claude-code",
        max_chars=50_000,
        max_tokens=8_000,
        timeout=60,
        source="its documentation, 2026-11: MAX_MCP_OUTPUT_TOKENS is 25,000, by a count of up to three times our "
        "estimate (see docs/how-it-works/budgets.md); longer text goes to a file",
    ),
    ClientLimits(
        "claude-ai",
        max_chars=100_000,
        timeout=60,
        source="150,000 in its documentation, 100,000 in lirantal/awesome-mcp-best-practices#2, 2025-05; 60 s from "
        "anthropics/claude-code#36319, 2026-03; name from logs of Claude Desktop",
    ),
    ClientLimits(
        "visual studio code",
        max_bytes=8_192,
        source="setting chat.agent.largeToolResultsToDisk.thresholdBytes, microsoft/vscode#329276, 2026-08: more goes "
        "to a file",
        is_prefix=True,
    ),
    ClientLimits(
        "gemini-cli-mcp-client",
        max_chars=40_000,
        timeout=600,
        source="bundle of @google/gemini-cli 0.61, 2026-11: DEFAULT_TRUNCATE_TOOL_OUTPUT_THRESHOLD; name from a run",
        is_prefix=True,
    ),
    ClientLimits(
        "qwen-cli-mcp-client",
        max_chars=25_000,
        timeout=600,
        source="bundle of @qwen-code/qwen-code, 2026-11: DEFAULT_TRUNCATE_TOOL_OUTPUT_THRESHOLD; name from a run",
        is_prefix=True,
    ),
    ClientLimits(
        "copilot-cli",
        max_bytes=20_480,
        source="measured with Copilot CLI 1.0.102, 2026-11: more goes to a file",
    ),
    ClientLimits(
        "opencode",
        max_bytes=51_200,
        timeout=60,
        source="bundle of opencode-ai 1.18.33, 2026-11: 51,200 bytes and 2,000 lines; name from a run; 60 s is the "
        "default of the TypeScript SDK that it is built on",
    ),
)
"""The rows, newer versions of a client before older ones: the first row that matches is used."""


def limits_of(client: str, version: str = "") -> ClientLimits:
    """Return the row of the client with this name and version, or `UNKNOWN_CLIENT`."""
    name = _PROXY_SUFFIX.sub("", client[:MAX_CLIENT_NAME].strip().lower())
    numbers = tuple(int(number) for number in re.findall(r"\d{1,9}", version[:40])[:3])
    for row in CLIENT_LIMITS:
        if (name == row.name or (row.is_prefix and name.startswith(row.name))) and numbers >= row.since:
            return row
    return UNKNOWN_CLIENT
