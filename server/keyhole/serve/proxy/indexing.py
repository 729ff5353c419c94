"""Index stored results while no result is bounded, because indexing takes the time of several calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

IDLE_SECONDS: Final = 1.0
"""Seconds without a bounded result after which the stored ones are indexed."""
MAX_WAITING: Final = 200
"""Bounded results from which they are indexed although further ones arrive: each write looks at the files of all."""


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
        """Start to index after `IDLE_SECONDS`, unless this is called again until then."""
        self._waiting += 1
        if self._waiting > MAX_WAITING and self._task and not self._task.done():
            return
        self.stop()
        self._task = asyncio.create_task(self._run())

    def stop(self) -> None:
        """Index nothing more. What is not indexed yet can be read, and a later process indexes it."""
        if self._task:
            self._task.cancel()

    async def _run(self) -> None:
        await self._sleep(IDLE_SECONDS)
        while await asyncio.to_thread(self._index_oldest):
            pass
        self._waiting = 0
