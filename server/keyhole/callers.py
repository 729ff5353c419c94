"""Who makes a call, as far as it is known. Nothing is decided by it here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyhole.retrieval.session import Ledger


def waiting() -> bool:
    """A caller that is not known to have gone."""
    return False


@dataclass(frozen=True, slots=True)
class Caller:
    """One client, as it named itself: a claim, good for what it lets through and for nothing else."""

    client: str = ""
    """`clientInfo.name`, "" where it gave none."""
    version: str = ""
    ledger: Ledger | None = None
    """What its session was shown; None where there is no session."""
    gone: Callable[[], bool] = waiting
    """Whether nobody waits for the answer any more: then it shows nothing."""


ANYBODY = Caller()
"""A caller of whom nothing is known."""
