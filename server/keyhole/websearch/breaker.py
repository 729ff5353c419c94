"""When an engine that fails is left alone, and when it is tried again: a state machine without a clock. Pure.

Closed: it is asked. Open: it rests, after some failures in a row or at once when it said no. Half-open: its rest is
over and one call tries it; the others wait for what that call finds. Each rest in a row is twice the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from keyhole.websearch.outcome import REFUSALS

FAILURES: Final = 3
"""Failures in a row after which an engine rests: one may be chance, and two fall together when a network blinks."""
REST: Final = 20.0
"""Seconds of a first rest: about as long as an agent takes for its next few questions, so that an engine that fell
over costs one of them, and one that restarted is found again soon."""
REFUSED_REST: Final = 60.0
"""Seconds of a first rest after a quota or a bad key without Retry-After: quotas are counted by the minute at least."""
MAX_REST: Final = 900.0
"""Seconds of the longest rest, 15 minutes: what is mended must be found again within one session of work."""
MAX_RETRY_AFTER: Final = 3_600.0
"""Seconds of the longest Retry-After obeyed to the end: after an hour one request is no burden to anybody."""


@dataclass(frozen=True, slots=True)
class Breaker:
    """One engine's recent past. Times are seconds of one clock that never goes back."""

    failures: int = 0
    """In a row, since the last answer."""
    rests: int = 0
    """In a row, since the last answer."""
    until: float = 0.0
    """When the rest ends."""
    why: str = ""
    """The fault that it rests after; "" when closed."""
    tried: bool = False
    """Whether a call is trying it right now."""

    def admits(self, now: float) -> bool:
        """Whether a call may ask the engine."""
        return not self.why or (now >= self.until and not self.tried)

    def asked(self) -> Breaker:
        """A call has begun to ask."""
        return replace(self, tried=bool(self.why))

    def answered(self) -> Breaker:
        """It is well, whatever was before."""
        return Breaker()

    def abandoned(self) -> Breaker:
        """The call ended before the engine could show how it is: nothing is known."""
        return replace(self, tried=False)

    def failed(self, fault: str, now: float, retry_after: float | None = None) -> Breaker:
        """It failed. What a call that began before the rest finds out does not lengthen it."""
        if self.why and not self.tried:
            return self
        failures = self.failures + 1
        refused = fault in REFUSALS
        if not refused and not self.why and failures < FAILURES:
            return replace(self, failures=failures)
        rest = min(MAX_REST, (REFUSED_REST if refused else REST) * 2**self.rests)
        if retry_after is not None:
            rest = min(MAX_RETRY_AFTER, retry_after) if refused else max(rest, min(MAX_RETRY_AFTER, retry_after))
        return Breaker(failures, min(self.rests + 1, 10), now + rest, fault)


class Breakers:
    """The breakers of many engines by name, shared by concurrent calls. Between two awaits nothing changes them."""

    def __init__(self, ticks: Callable[[], float]) -> None:
        """`ticks`: seconds of a clock that never goes back."""
        self._ticks = ticks
        self._breakers: dict[str, Breaker] = {}

    def resting(self, name: str) -> str:
        """The fault after which an engine rests, or "" where it may be asked."""
        breaker = self._of(name)
        return "" if breaker.admits(self._ticks()) else breaker.why

    def asked(self, name: str) -> None:
        """A call has begun to ask it."""
        self._breakers[name] = self._of(name).asked()

    def answered(self, name: str) -> None:
        """It is well."""
        self._breakers[name] = self._of(name).answered()

    def abandoned(self, name: str) -> None:
        """The call ended before it could answer."""
        self._breakers[name] = self._of(name).abandoned()

    def failed(self, name: str, fault: str, retry_after: float | None = None) -> None:
        """It failed."""
        self._breakers[name] = self._of(name).failed(fault, self._ticks(), retry_after)

    def _of(self, name: str) -> Breaker:
        return self._breakers.get(name, Breaker())
