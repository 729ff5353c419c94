"""Call a disk that may fail. After a failure, further attempts wait for the pauses of a backoff."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock
from typing import Final, TypeVar

from keyhole.errors import Code, KeyholeError
from keyhole.store.base import Clock

# Decide when a failing medium may be tried again.

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


# Call a disk that may fail. After a failure, further attempts wait for the pauses of a backoff.

log = logging.getLogger(__name__)

_T = TypeVar("_T")


class DiskCalls:
    """Calls a disk, and records for reads and for writes whether it fails: a full disk can still be read.

    `prepare` is called before each use of the disk until it succeeds, because the disk may be mounted later.
    """

    def __init__(self, clock: Clock, prepare: Callable[[], None] | None = None) -> None:
        self.reads, self.writes = Backoff(clock), Backoff(clock)
        self._prepare = prepare

    def call(self, call: Callable[[], _T], backoff: Backoff | None = None) -> _T:
        """Return the result of `call`. It is made even while the disk fails, because only the disk has the answer."""
        backoff = backoff or self.reads
        try:
            self._prepare_disk()
            result = call()
        except KeyholeError as error:
            # An attempt during a pause must not lengthen the pause.
            if not backoff.is_failing or error.code is not Code.STORE_UNAVAILABLE:
                self._record_error(backoff, error)
            raise
        self._record_success(backoff)
        return result

    def attempt_if_due(self, backoff: Backoff, call: Callable[[], _T], default: _T) -> _T:
        """Return the result of `call`, or `default` if the disk fails or may not be tried yet."""
        return self.attempt(backoff, call, default) if backoff.acquire() else default

    def attempt(self, backoff: Backoff, call: Callable[[], _T], default: _T) -> _T:
        """Return the result of `call`, or `default` if the disk fails."""
        try:
            self._prepare_disk()
            result = call()
        except KeyholeError as error:
            self._record_error(backoff, error)
            if error.code is not Code.STORE_UNAVAILABLE:
                raise
            return default
        self._record_success(backoff)
        return result

    def _prepare_disk(self) -> None:
        if self._prepare:
            self._prepare()
            self._prepare = None

    def _record_error(self, backoff: Backoff, error: KeyholeError) -> None:
        if error.code is not Code.STORE_UNAVAILABLE:
            self._record_success(backoff)
            return
        if not backoff.is_failing:
            log.warning("%s; new artifacts are kept in memory until the store works again", error.message)
        backoff.record_failure()

    def _record_success(self, backoff: Backoff) -> None:
        if backoff.is_failing:
            log.warning("the artifact store works again")
        backoff.record_success()
        if backoff is self.writes:  # a disk that can be written can be read
            self.reads.record_success()
