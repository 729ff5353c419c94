"""Circuit breakers: decide when a failing engine rests and when it is tried again. Pure; times are arguments.

Closed: calls may query the engine. Open: the engine rests and calls skip it. A breaker opens after several consecutive
failures, and at once after a refusal. Half-open: the rest is over; one call tries the engine and the others skip it.
Each further rest is twice as long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.records import EngineReport
from keyhole.text.measure import clip, serialized_size

# Faults: short names for the failures of engines, as shown in reports and used by breakers.

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


_UNREACHED: Final = ("dns failure", "no connection")
"""What the fault of an engine says that could not be reached."""


def describe_faults(reports: Sequence[EngineReport], limit: int) -> str:
    """Return the faults of all engines, without their reasons if they would exceed `limit` bytes.

    Even without reasons the result may exceed `limit`, because no fault is left out. If no engine could be reached, the
    result says that there is no network: it is one fault, and not that of the engines.
    """
    faults = [(report.name, report.fault) for report in reports if report.fault]
    if faults and all(any(sign in fault for sign in _UNREACHED) for _, fault in faults):
        return "no network: no search engine could be reached"
    full = "; ".join(f"{name}: {fault}" for name, fault in faults)
    if serialized_size(full) <= limit:
        return full
    return "; ".join(f"{name}: {fault.partition(' (')[0]}" for name, fault in faults)


# Breakers: the state of each engine, and how its outcomes change it.

FAILURES: Final = 3
"""Consecutive failures after which an engine rests. One may be chance, and a network outage may cause two at once."""
REST: Final = 20.0
"""Seconds of a first rest, about the time in which an agent asks a few questions. A broken engine then delays one of
them, and a restarted engine is used again soon."""
REFUSED_REST: Final = 60.0
"""Seconds of a first rest after a spent quota or a bad key without Retry-After. Most quotas are counted per minute."""
MAX_REST: Final = 900.0
"""Maximum seconds of a rest. A repaired engine must be used again within one working session."""
MAX_RETRY_AFTER: Final = 3_600.0
"""Maximum seconds of a Retry-After. After an hour the engine is tried anyway, as one request per hour is no burden."""


@dataclass(frozen=True, slots=True)
class Breaker:
    """The circuit breaker of one engine. Times are seconds of a monotonic clock."""

    failures: int = 0
    """Failures since the last success."""
    rests: int = 0
    """Rests since the last success."""
    until: float = 0.0
    """When the rest ends."""
    fault: str = ""
    """The fault that opened the breaker; "" if it is closed."""
    has_trial: bool = False
    """True while a call tries the engine after its rest."""

    def allows_call(self, now: float) -> bool:
        """Return True if a call may query the engine."""
        return not self.fault or (now >= self.until and not self.has_trial)

    def begin_call(self) -> Breaker:
        """Return the state after a call began to query the engine."""
        return replace(self, has_trial=bool(self.fault))

    def record_success(self) -> Breaker:
        """Return the state after an answer, which is closed."""
        return Breaker()

    def abandon_call(self) -> Breaker:
        """Return the state after a call that ended without an outcome."""
        return replace(self, has_trial=False)

    def record_failure(self, fault: str, now: float, retry_after: float | None = None) -> Breaker:
        """Count a failure. A call that began before the engine was paused does not make the pause longer."""
        if self.fault and not self.has_trial:
            return self
        failures = self.failures + 1
        refused = fault in REFUSALS
        if not refused and not self.fault and failures < FAILURES:
            return replace(self, failures=failures)
        rest = min(MAX_REST, (REFUSED_REST if refused else REST) * 2**self.rests)
        if retry_after is not None:
            rest = min(MAX_RETRY_AFTER, retry_after) if refused else max(rest, min(MAX_RETRY_AFTER, retry_after))
        return Breaker(failures, min(self.rests + 1, 10), now + rest, fault)


class Breakers:
    """The breakers of several engines, by name, shared by concurrent calls in one event loop."""

    def __init__(self, ticks: Callable[[], float]) -> None:
        """`ticks`: returns seconds of a monotonic clock."""
        self._ticks = ticks
        self._breakers: dict[str, Breaker] = {}

    def open_fault(self, name: str) -> str:
        """Return the fault after which an engine rests, or "" if a call may query it."""
        breaker = self._get(name)
        return "" if breaker.allows_call(self._ticks()) else breaker.fault

    def begin_call(self, name: str) -> None:
        """Record that a call began to query the engine."""
        self._breakers[name] = self._get(name).begin_call()

    def record_success(self, name: str) -> None:
        """Record that the engine answered."""
        self._breakers[name] = self._get(name).record_success()

    def abandon_call(self, name: str) -> None:
        """Record that a call ended before the engine answered or failed."""
        self._breakers[name] = self._get(name).abandon_call()

    def record_failure(self, name: str, fault: str, retry_after: float | None = None) -> None:
        """Record that the engine failed. `retry_after`: seconds that the engine requests to wait."""
        self._breakers[name] = self._get(name).record_failure(fault, self._ticks(), retry_after)

    def _get(self, name: str) -> Breaker:
        return self._breakers.get(name, Breaker())
