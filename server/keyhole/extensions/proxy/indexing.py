"""Index stored results while no result is bounded, because indexing takes the time of several calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

IDLE_SECONDS: Final = 1.0
"""Seconds without a bounded result after which the stored ones are indexed."""
MAX_WAITING: Final = 200
"""If more results than this wait, a new one no longer delays indexing: each write looks at all of their files."""


class Indexing:
    """Indexes the results of one conversation in a thread.

    `index_oldest`: indexes one result; returns False if none is left.
    """

    def __init__(
        self, index_oldest: Callable[[], bool], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._index_oldest = index_oldest
        self._sleep = sleep
        self._waiting = 0
        self._task: asyncio.Task[None] | None = None

    def start_later(self) -> None:
        """Start indexing after `IDLE_SECONDS`. A further call before then restarts the wait."""
        self._waiting += 1
        if self._waiting > MAX_WAITING and self._task and not self._task.done():
            return
        self.stop()
        self._task = asyncio.create_task(self._run())

    def stop(self) -> None:
        """Stop indexing. Results that are not indexed yet can be read, and a later process indexes them."""
        if self._task:
            self._task.cancel()

    async def _run(self) -> None:
        await self._sleep(IDLE_SECONDS)
        while await asyncio.to_thread(self._index_oldest):
            pass
        self._waiting = 0
