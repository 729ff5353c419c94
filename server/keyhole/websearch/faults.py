"""Short names for the failures of engines, as shown in reports and used by breakers. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.records import EngineReport
from keyhole.text.measure import clip, serialized_size

FAULT_NAMES: Final[Mapping[str, str]] = {
    "rate_limited": "quota",
    "key_refused": "bad key",
    "bot_challenge": "challenge",
    "timeout": "timeout",
}
"""Names by error code, for failures that an operator can act on. Every other failure is `down (reason)`."""
REFUSALS: Final = frozenset({"quota", "bad key"})
"""Faults with which an engine refuses calls, so that an immediate retry would fail too."""
SLOW: Final = "slow"
"""The fault of an engine that did not answer before the other engines had found enough hits."""
MAX_REASON: Final = 80
"""Bytes of the reason of a failure, about one sentence."""


def describe_fault(error: KeyholeError) -> str:
    """Describe a failure in a few words."""
    if name := FAULT_NAMES.get(error.code):
        return name
    reason = error.message.rstrip(". ") if error.code is Code.ENGINE_UNAVAILABLE else str(error.code).replace("_", " ")
    return f"down ({clip(reason, MAX_REASON)})" if reason else "down"


def retry_after_seconds(error: KeyholeError) -> float | None:
    """Return the seconds that the engine requests to wait, or None if it requests no wait."""
    seconds = error.facts.get("retry_after")
    return float(seconds) if isinstance(seconds, int | float) and seconds >= 0 else None


def describe_faults(reports: Sequence[EngineReport], limit: int) -> str:
    """Return the faults of all engines, without their reasons if they would exceed `limit` bytes.

    Even without reasons the result may exceed `limit`, because no fault is left out.
    """
    faults = [(report.name, report.fault) for report in reports if report.fault]
    full = "; ".join(f"{name}: {fault}" for name, fault in faults)
    if serialized_size(full) <= limit:
        return full
    return "; ".join(f"{name}: {fault.partition(' (')[0]}" for name, fault in faults)
