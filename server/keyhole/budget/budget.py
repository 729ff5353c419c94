"""Compute the budget of one call from its arguments, the client's limits, the settings and the session."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from keyhole.budget.clients import ClientLimits
from keyhole.config.config import MAX_BUDGET, MIN_BUDGET, MIN_TOKENS, Config
from keyhole.text.measure import Measure, fits, serialized_size

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
            from keyhole.budget.tokens import capacity

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
    """Return `budget` lowered for a session of `session_tokens`, of which `spent` are used. None: no session limit."""
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
        from keyhole.budget.tokens import weigh

        measured = max(measured, -(-weigh(text) * size // weight))
    return measured
