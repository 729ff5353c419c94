"""Measure the stages of one call."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class StageTimes:
    """The seconds during which each stage of a call ran. Thread-safe.

    Parts of a stage that run at the same time, such as the fetches of a search, count once.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: dict[str, tuple[int, float]] = {}
        """By name of the stage: its parts that run now, and when the first of them started."""
        self._seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the block as a part of a stage."""
        with self._lock:
            parts, started = self._running.get(name, (0, 0.0))
            self._running[name] = (parts + 1, started if parts else time.perf_counter())
        try:
            yield
        finally:
            with self._lock:
                parts, started = self._running[name]
                self._running[name] = (parts - 1, started)
                if parts == 1:
                    self._seconds[name] = self._seconds.get(name, 0.0) + time.perf_counter() - started

    def measured(self) -> tuple[tuple[str, float], ...]:
        """Return the seconds of each stage, in the order in which they ended."""
        with self._lock:
            return tuple(self._seconds.items())
