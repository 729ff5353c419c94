"""Decide when a failing medium may be tried again."""

from __future__ import annotations

from threading import Lock
from typing import Final

from keyhole.store.base import Clock

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 30.0
"""Seconds between two attempts on a failing disk; each pause is twice the previous pause. An attempt on a hanging disk
takes seconds of a call. A disk that works again is used after half a minute at most."""


class Backoff:
    """Exponential backoff: after a failure, one call may try again after each pause; after a success, all calls."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._pause = 0.0
        self._since = 0.0

    @property
    def is_failing(self) -> bool:
        """True if the last attempt failed."""
        return self._pause > 0

    def acquire(self) -> bool:
        """Return whether the caller may try now. After a pause, only the first caller may."""
        with self._lock:
            # If the clock was set back, the pause must not become longer.
            if 0 <= self._clock() - self._since < self._pause:
                return False
            self._since = self._clock()
            return True

    def record_failure(self) -> None:
        """Record a failed attempt and double the pause."""
        with self._lock:
            self._pause = min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * self._pause))
            self._since = self._clock()

    def record_success(self) -> None:
        """Record a successful attempt."""
        self._pause = 0.0
