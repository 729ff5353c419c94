"""The budget of one call: what was asked for, what the client lets through, and what the settings say. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from keyhole.budget.clients import Host, host_of
from keyhole.callers import Caller
from keyhole.config.config import Config
from keyhole.config.schema import MAX_BUDGET, MIN_BUDGET, MIN_TOKENS
from keyhole.text.measure import Measure, fits, serialized_size

KNOWN_SIZE: Final = 16_000
"""Bytes of a result for a client that is known to let more through than the 9,000 that every one does: some 4,000
tokens of English, 2 % of a context of 200,000. Not the cap: that a client takes 48,000 is no wish to read them."""
MARGIN: Final = 20
"""One part in so many of a client's cap is left free, for what it counts and we do not see."""
CONTEXT_SHARE: Final = 8
"""One part in so many of a model's context is the most that one result takes: four results fill half of it, and the
other half is for the conversation, the tools and the answer."""
SIZE_PER_TOKEN: Final = 4
"""Bytes of English in a token: by it the words around a text are chosen, which are English."""
BRIEF_BELOW: Final = 1_200
"""Bytes. Under such a budget title, address, facts and advice would take more than the text."""
AHEAD: Final = 5.0
"""Seconds before the client stops waiting at which a call ends by itself, so that it still says something."""

READ_OVERHEAD: Final = 1_500
"""Bytes kept free in a reading window for the longest header, both continuation calls and the facts."""
READ_TOKENS: Final = 400
"""The same in tokens: addresses and ids are dense."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a result may measure: all of these at once."""

    size: int
    """Bytes of the whole result as JSON."""
    tokens: int | None = None
    """Of its text, as `tokens.estimate` counts; None for no bound of its own."""
    note: str = ""
    """One line for the reader where this is less than what was asked for."""
    chars: int | None = None
    """Characters of its text; None for no bound of its own."""

    @property
    def measure(self) -> Measure:
        """What a text takes of `size`: its bytes, or its share of the tokens or characters where that is more."""
        if self.tokens is None and self.chars is None:
            return serialized_size
        weight = 0
        if self.tokens is not None:
            from keyhole.budget.tokens import capacity

            weight = capacity(self.tokens)
        return partial(_share, self.size, weight, self.chars)

    def holds(self, text: str) -> bool:
        """Whether it takes no more than `size`."""
        return fits(text, self.size, self.measure)

    @property
    def english(self) -> int:
        """Bytes of English that fit: by them the words around a text are chosen."""
        return min(self.size, self.chars or self.size, (self.tokens or self.size) * SIZE_PER_TOKEN)

    @property
    def brief(self) -> bool:
        """Whether there is only room for the text and what reads on in it."""
        return self.english < BRIEF_BELOW

    @property
    def reading(self) -> int:
        """What of `size` the text in a reading window takes. Of a small budget a fifth: its words are brief."""
        size = self.size
        tokens, chars = self.tokens or size, self.chars or size
        kept = (READ_OVERHEAD, READ_TOKENS * size // tokens, READ_OVERHEAD * size // chars)
        return max(size - max(kept), size // 5)


def allowance(config: Config, caller: Caller, max_chars: int | None = None, max_tokens: int | None = None) -> Budget:
    """The budget of a call that asked for so many bytes and tokens, None for what it did not ask for."""
    host = host_of(caller.client, caller.version)
    most = min(MAX_BUDGET, _spared(host.max_bytes) or MAX_BUDGET)
    size = min(most, max(MIN_BUDGET, max_chars or _usual(config, host)))
    chars = _spared(host.max_chars)
    shares = [max(MIN_TOKENS, config.context_tokens // CONTEXT_SHARE)] if config.context_tokens else []
    caps = [*([cap] if (cap := _spared(host.max_tokens)) else []), *shares]
    # No tokenizer makes more tokens than bytes: a cap that the size keeps already is not computed.
    tokens = min([*([max_tokens] if max_tokens else []), *(cap for cap in caps if cap < size)], default=None)
    lowered = [f"{most:,} bytes"] if (max_chars or 0) > most else []
    lowered += [f"{chars:,} characters"] if chars and (max_chars or 0) > chars else []
    lowered += [f"{min(caps):,} tokens"] if caps and (max_tokens or 0) > min(caps) else []
    who = "the context" if shares and lowered and not host.name else host.name or "Keyhole"
    note = f"Within {' and '.join(lowered)}, not what was asked for: {who} takes no more." if lowered else ""
    return Budget(size, tokens, note, chars if chars and chars < size else None)


def deadline(seconds: float, caller: Caller) -> float:
    """The seconds that a call may take: those of the settings, or fewer where the client waits no longer."""
    patience = host_of(caller.client, caller.version).timeout
    return min(seconds, patience - AHEAD) if patience else seconds


def _usual(config: Config, host: Host) -> int:
    """Bytes of a result for which nothing was asked."""
    known = host.max_bytes or host.max_chars
    return config.max_chars if "max_chars" in config.origins or not known else host.usual or KNOWN_SIZE


def _spared(cap: int | None) -> int | None:
    """A client's cap less the margin."""
    return cap - cap // MARGIN if cap else None


def _share(size: int, weight: int, chars: int | None, text: str) -> int:
    """What a text takes of `size`, of which `weight` and `chars` are the whole. Rounded up, so never too little."""
    taken = serialized_size(text)
    if chars:
        taken = max(taken, -(-len(text) * size // chars))
    if weight:
        from keyhole.budget.tokens import weigh

        taken = max(taken, -(-weigh(text) * size // weight))
    return taken
