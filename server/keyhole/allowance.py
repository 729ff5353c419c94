"""The budget of one call: what was asked for, what the client lets through, and what the settings say. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from keyhole.callers import Caller
from keyhole.config import Config
from keyhole.hosts import host_of
from keyhole.settings import MAX_BUDGET, MIN_BUDGET


@dataclass(frozen=True, slots=True)
class Budget:
    """What a result may measure: all of these at once."""

    size: int
    """Bytes of the whole result as JSON."""
    tokens: int | None = None
    """Of its text, as `tokens.estimate` counts; None for no bound of its own."""
    note: str = ""
    """One line for the reader where this is less than what was asked for."""


def allowance(config: Config, caller: Caller, max_chars: int | None = None, max_tokens: int | None = None) -> Budget:
    """The budget of a call that asked for so many bytes and tokens, None for what it did not ask for."""
    host = host_of(caller.client)
    most = min(MAX_BUDGET, host.max_bytes or MAX_BUDGET)
    return Budget(min(most, max(MIN_BUDGET, max_chars or config.max_chars)), max_tokens)
