"""Compute the budget of one call from its arguments, the client's limits, the settings and the session."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from keyhole.config.config import MAX_BUDGET, MIN_BUDGET, MIN_TOKENS, Config
from keyhole.text.measure import Measure, fits, serialized_size

# Clients: the limits that each has for results.
#
# The evidence is a run of the real client, its code or its documentation. A client without evidence has no row and
# counts as unknown. Names are compared in lower case, and by their beginning where a client appends the name of the
# server.

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


# Budgets: the limits of one result, and of the tokens left in a session.

HEADROOM_DIVISOR: Final = 20
"""A twentieth (5 %) of a client's limit is left free: clients also count text that the server cannot see."""
CONTEXT_DIVISOR: Final = 8
"""One result takes at most an eighth of a model's context. Four results then fill half of it; the other half is for the
conversation, the tools and the answer."""
CHARS_PER_TOKEN: Final = 4
"""Characters of English text in a token. The lines that Keyhole adds are English."""
TOKENS_PER_CHAR: Final = 4
"""Most tokens of one character: no tokenizer makes more tokens than bytes."""
BRIEF_BELOW: Final = 1_000
"""Characters. In a smaller budget the title, address, facts and advice would take more space than the text."""
TIMEOUT_MARGIN: Final = 5.0
"""Seconds before the client's timeout at which a call ends by itself, so that the client still gets an answer."""

WINDOW_OVERHEAD: Final = 450
"""Characters that a reading window leaves free for the longest lines of a brief answer."""
WINDOW_OVERHEAD_BYTES: Final = 750
"""The same in bytes of the result as JSON, with its frame and its facts."""
WINDOW_OVERHEAD_TOKENS: Final = 220
"""The same in tokens: ids take many tokens."""

SESSION_DIVISOR: Final = 4
"""A result takes at most a quarter of the tokens left in the session. Results then shrink step by step, and no single
call uses up the session."""
MIN_SESSION_TOKENS: Final = 400
"""Tokens that a result may always have, however few are left: enough for the header and about a hundred words."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one result. All of them apply."""

    size: int
    """Characters of the text of the result, with all lines that Keyhole adds."""
    tokens: int | None = None
    """Tokens of the text, as `tokens.estimate` counts them; None for no limit."""
    note: str = ""
    """A line that tells the reader why the budget is smaller than requested, or ""."""
    bytes: int | None = None
    """Bytes of the whole result as JSON; None for no limit."""

    @property
    def measure(self) -> Measure:
        """Return a function that measures text on the scale of `size`.

        The measure of a text is its characters, or its share of `tokens` or `bytes` multiplied by `size` if that is
        more.
        """
        if self.tokens is None and self.bytes is None:
            return len
        weight = 0
        if self.tokens is not None:
            from keyhole.render.tokens import capacity

            weight = capacity(self.tokens)
        return partial(_scaled_size, self.size, weight, self.bytes)

    def allows(self, text: str) -> bool:
        """Return True if `text` is within all limits."""
        return fits(text, self.size, self.measure)

    @property
    def safe_bytes(self) -> int:
        """Return how many bytes fit in any case. A text has at most as many characters as bytes."""
        return min(self.size, self.bytes or self.size)

    def reduced_by(self, count: int) -> Budget:
        """Return the budget with `count` bytes less, if it limits them."""
        return replace(self, bytes=self.bytes - count) if count and self.bytes else self

    @property
    def english_chars(self) -> int:
        """Return about how many characters of English text fit. The length of the header depends on this number."""
        return min(self.safe_bytes, (self.tokens or self.size) * CHARS_PER_TOKEN)

    @property
    def is_brief(self) -> bool:
        """Return True if a result has space only for its text and the call that reads on."""
        return self.english_chars < BRIEF_BELOW

    @property
    def window_size(self) -> int:
        """Return how much of `size` the text of a reading window may take: at least a fifth."""
        size = self.size
        by_tokens = WINDOW_OVERHEAD_TOKENS * size // self.tokens if self.tokens else 0
        by_bytes = WINDOW_OVERHEAD_BYTES * size // self.bytes if self.bytes else 0
        overhead = max(WINDOW_OVERHEAD, by_tokens, by_bytes)
        return max(size - overhead, size // 5)


def client_budget(
    config: Config, limits: ClientLimits, max_chars: int | None = None, max_tokens: int | None = None
) -> Budget:
    """Return the budget of a call that requests `max_chars` and `max_tokens`; None means the default."""
    chars, most = _with_headroom(limits.max_chars), _with_headroom(limits.max_bytes)
    size = min(chars or MAX_BUDGET, MAX_BUDGET, max(MIN_BUDGET, max_chars or config.max_chars))
    if max_chars is None and "max_chars" not in config.origins:
        most = min(filter(None, (most, limits.default_bytes)), default=None)
    shares = [max(MIN_TOKENS, config.context_tokens // CONTEXT_DIVISOR)] if config.context_tokens else []
    shares += [config.max_tokens] if config.max_tokens else []
    token_limits = [*([limit] if (limit := _with_headroom(limits.max_tokens)) else []), *shares]
    effective = [limit for limit in token_limits if limit < TOKENS_PER_CHAR * size]
    tokens = min([*([max_tokens] if max_tokens else []), *effective], default=None)
    lowered = [f"{most:,} bytes"] if most and (max_chars or 0) > most else []
    lowered += [f"{chars:,} characters"] if chars and (max_chars or 0) > chars else []
    lowered += [f"{min(token_limits):,} tokens"] if token_limits and (max_tokens or 0) > min(token_limits) else []
    by_settings = (
        "KEYHOLE_MAX_TOKENS" if config.max_tokens and config.max_tokens == min(token_limits) else "the context"
    )
    limited_by = by_settings if shares and lowered and not limits.name else limits.name or "Keyhole"
    note = f"Limited to {' and '.join(lowered)} by {limited_by}, less than requested." if lowered else ""
    return Budget(size, tokens, note, most)


def session_budget(budget: Budget, session_tokens: int | None, spent: int) -> Budget:
    """Return `budget` lowered for a session of `session_tokens`, of which `spent` are used. `session_tokens`: None
    for no limit."""
    if session_tokens is None:
        return budget
    left = max(0, session_tokens - spent)
    most = max(MIN_SESSION_TOKENS, left // SESSION_DIVISOR)
    size = max(MIN_BUDGET, most * CHARS_PER_TOKEN)
    # Text that is not English may take more tokens than characters.
    tokens = min(most, budget.tokens or most) if most < TOKENS_PER_CHAR * budget.size else budget.tokens
    if size >= budget.size:
        return replace(budget, tokens=tokens)
    is_lower = most < (budget.tokens or budget.size)
    reason = f"Session budget: {left:,} of {session_tokens:,} tokens left, so results are short." if is_lower else ""
    return replace(budget, size=size, tokens=tokens, note=" ".join(filter(None, (budget.note, reason))))


def call_timeout(seconds: float, limits: ClientLimits) -> float:
    """Return the seconds that a call may take: `seconds`, or fewer if the client stops waiting earlier."""
    return min(seconds, limits.timeout - TIMEOUT_MARGIN) if limits.timeout else seconds


def _with_headroom(limit: int | None) -> int | None:
    """Return a client's limit minus 5 %."""
    return limit - limit // HEADROOM_DIVISOR if limit else None


def _scaled_size(size: int, weight: int, most: int | None, text: str) -> int:
    """Return the measure of `text`; `size` characters, `weight` and `most` bytes each measure `size`. Rounds up."""
    measured = len(text)
    if most:
        measured = max(measured, -(-serialized_size(text) * size // most))
    if weight:
        from keyhole.render.tokens import weigh

        measured = max(measured, -(-weigh(text) * size // weight))
    return measured
