"""What an engine's failure is called in a report, and whether asking again soon can help. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.records import EngineReport
from keyhole.text.measure import clip, serialized_size

FAULTS: Final[Mapping[str, str]] = {
    "rate_limited": "quota",
    "key_refused": "bad key",
    "bot_challenge": "challenge",
    "timeout": "timeout",
}
"""The words for the failures that an operator acts on, each by its code; every other failure is `down (why)`."""
REFUSALS: Final = frozenset({"quota", "bad key"})
"""Faults that the next call can only repeat: the engine is well and has said no."""
SLOW: Final = "slow"
"""The fault of an engine that was left behind because others had answered."""
MAX_REASON: Final = 80
"""Bytes of what an engine says of its own failure: a sentence, not a page."""


def fault(error: KeyholeError) -> str:
    """A failure in a few words."""
    if word := FAULTS.get(error.code):
        return word
    reason = error.message.rstrip(". ") if error.code is Code.ENGINE_UNAVAILABLE else str(error.code).replace("_", " ")
    return f"down ({clip(reason, MAX_REASON)})" if reason else "down"


def retry_after(error: KeyholeError) -> float | None:
    """Seconds that the engine asks to wait, where it said so."""
    seconds = error.facts.get("retry_after")
    return float(seconds) if isinstance(seconds, int | float) and seconds >= 0 else None


def every_fault(reports: Sequence[EngineReport], room: int) -> str:
    """All engines' faults in at most `room` bytes where names and bare faults fit: reasons go first, none is hidden."""
    told = [(report.name, report.fault) for report in reports if report.fault]
    full = "; ".join(f"{name}: {why}" for name, why in told)
    if serialized_size(full) <= room:
        return full
    return "; ".join(f"{name}: {why.partition(' (')[0]}" for name, why in told)
