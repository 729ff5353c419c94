"""Write to logs of calls in one thread, so that no call waits for its record."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import BoundedSemaphore
from typing import Final

from keyhole.errors import KeyholeError

log = logging.getLogger(__name__)

MAX_WAITING: Final = 1_000
"""Records that may wait to be written, about 20 MB with their texts' references. Further records are lost: keeping them
while the disk is so slow would fill the memory."""


class CallQueue:
    """Runs functions in one thread, in the order in which they were put. A failure is logged once, until a record is
    written again."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "calls")
        self._places = BoundedSemaphore(MAX_WAITING)
        self._last: Future[None] | None = None
        self._is_failing = False

    def put(self, work: Callable[[], None]) -> None:
        """Run `work` soon. Never waits and never raises."""
        if not self._places.acquire(blocking=False):
            self._report("too many records wait to be written")
            return
        try:
            self._last = self._thread.submit(work)
        except RuntimeError:  # the process ends
            self._places.release()
            return
        self._last.add_done_callback(self._finish)

    def wait(self, seconds: float) -> None:
        """Wait until all work put so far has run, at most `seconds`."""
        if self._last is not None:
            wait([self._last], seconds)

    def _finish(self, done: Future[None]) -> None:
        self._places.release()
        error = done.exception()
        if error is None:
            self._is_failing = False
        elif isinstance(error, KeyholeError):
            self._report(error.message)
        else:
            log.error("recording a call failed", exc_info=error)

    def _report(self, reason: str) -> None:
        if not self._is_failing:
            log.warning("calls are not recorded: %s", reason)
        self._is_failing = True
