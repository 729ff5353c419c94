"""Share worker processes among the owners of calls, kill and replace them.

A worker reads one page at a time. It is killed if it exceeds a time limit or if its call is cancelled, and replaced if
it ends by itself. The limits are of processor time, so that a page is read as well on a busy machine as on an idle one;
the wait for a worker does not count. A pool belongs to one event loop.

A server for several owners reads fewer heavy pages of one owner at once than it has processors, and fewer light ones.
It has a spare worker for an owner that has no page being read. The pages of an owner with several pages to be read get
a lower priority, so that the pages of owners with one page are read first.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar
from urllib.parse import urlsplit

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.base import Result, Task
from keyhole.extract.workers.frames import READING_ENDED, OutOfTimeError, UnreadError
from keyhole.extract.workers.worker import Worker, WorkerLimits
from keyhole.records import Document, Page
from keyhole.runtime.fair_slots import FairSlots
from keyhole.runtime.memory import return_free_memory

log = logging.getLogger(__name__)

T = TypeVar("T")
_Work = Callable[[Worker, WorkerLimits], Awaitable[T]]
"""What a worker does: reads a page, or runs a task."""

POOL_SIZE: Final = max(2, min(4, os.cpu_count() or 1))
"""Largest number of workers for heavy pages: one per processor, at most four. At least two, so that a slow page does
not block the others."""
RESERVED_WORKERS: Final = 1
"""Additional workers that only light pages use. Most pages are light and take less than a second, so they should not
wait for a few hostile pages. A light page uses any free worker."""
SPARE_WORKERS: Final = 1
"""Additional workers of a server for several owners, only for owners that have no page being read. Nine users who read
a small page every two seconds need one of 30 ms about every seventh of the time."""
BACKGROUND_NICE: Final = 7
"""Niceness of the workers for the further pages of an owner. Beside a process of normal priority on one processor, such
a worker gets a sixth of the time. In benchmarks/server/fair_shares.py on a busy machine, 5 slowed polite users more,
and with 10 a greedy user's pages hardly made progress."""
MAX_LIGHT_BYTES: Final = 300_000
"""Largest body of a light page, in bytes. Nine of ten pages are smaller."""
LIGHT_SECONDS: Final = 2.0
"""Limit in seconds of processor time of the first attempt at a light page. A slower page is read again as a heavy page
with the full limit."""
WALL_FACTOR: Final = 10 if sys.platform != "win32" else 1
"""Seconds for each second of the limit on processor time, after which a page counts as unreadable: a worker that waits
for something would never reach the other limit. Beside eight busy programs on two processors, a worker gets a fifth of
one. Windows has only this limit."""
TRIM_DELAY: Final = 1.0
"""Seconds after the last page until freed memory is returned to the system. The C library keeps up to 130 MB of large
pages, and the calls still refer to their pages when the workers have read them."""
IDLE_TIMEOUT: Final = 300.0
"""Seconds after which an idle worker ends: longer than an agent's pause between two pages."""
READER: Final = "keyhole.extract.workers.child:extract_with_words"
"""The function that a worker runs on each page."""


class WorkerPool:
    """An Extractor that reads pages in worker processes.

    At most `size` workers read heavy pages, and `reserved` more read light pages. Beyond these, `spare` workers read
    pages of owners that have no page being read; 0 if all calls have one owner. `reader` is the function that workers
    run, as "module:function".
    """

    def __init__(
        self,
        config: Config,
        size: int = POOL_SIZE,
        reader: str = READER,
        reserved: int = RESERVED_WORKERS,
        spare: int = 0,
    ) -> None:
        self._config = config
        self._options = {"reader": reader, "memory": config.extract_memory}
        self._reserved = reserved
        self._spare = spare
        total = size + reserved + spare
        # While an owner reads pages of one weight, a processor is left for the others.
        one_owner = max(1, size - 1) if spare else total
        self._heavy = FairSlots(size + spare, size + spare - one_owner if spare else 0)
        self._light = FairSlots(total, total - one_owner)
        self._all = FairSlots(total, total - size if spare else 0)
        self._max_processes = size + reserved + spare + size
        """Workers of one priority may be idle while those of the other are busy, but not without limit."""
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._is_closing = False
        self._trim: asyncio.TimerHandle | None = None

    def warm(self) -> None:
        """Start a worker if no worker is idle and a slot is free."""
        if not any(worker.is_alive and not worker.nice for worker in self._idle) and self._all.has_free():
            self._put_back(Worker(self._options))

    async def extract(self, page: Page) -> tuple[Document, str]:
        """Return the document and words of a page, read by a worker. Salvages a page that no worker finishes."""
        try:
            return await self._in_turn(len(page.body), lambda worker, limits: worker.read(page, limits))
        except UnreadError as failure:
            if self._is_closing:
                raise KeyholeError(Code.EXTRACTION_PENDING, "the server ended before the page was read") from failure
            log.warning("a page of %s could not be read: %s", urlsplit(page.url).hostname, failure.message)
            return await self._salvage(page, failure)

    async def run(self, task: Task) -> Result:
        """Return the result of a task, run by a worker like a page of the same size."""
        size = sum(len(body) for body in task.bodies)
        return await self._in_turn(size, lambda worker, limits: worker.run(task, limits))

    async def aclose(self) -> None:
        """Kill all workers, and wait until they have ended and all calls have returned."""
        self._is_closing = True
        if self._trim:
            self._trim.cancel()
        for worker in self._busy:
            worker.kill()
        await self._heavy.wait_unused()
        await self._light.wait_unused()
        await self._all.wait_unused()
        while self._idle:
            self._drop(self._idle.pop())
        await asyncio.gather(*self._ending)

    async def _salvage(self, page: Page, failure: UnreadError) -> tuple[Document, str]:
        """Return the bare text of a page that no worker finished. Raises the failure if there is none."""
        limits = WorkerLimits(LIGHT_SECONDS, LIGHT_SECONDS * WALL_FACTOR)
        try:
            async with self._light.slot(), self._all.slot():
                return await self._do(lambda worker, limits: worker.read(page, limits, failure.message), limits)
        except UnreadError as error:
            raise KeyholeError(Code.EXTRACTION_FAILED, failure.message) from error

    async def _in_turn(self, size: int, work: _Work[T]) -> T:
        """Do work on `size` bytes when a worker is free. Light work that is slow is done again as heavy work."""
        seconds = self._config.extract_timeout
        if size <= MAX_LIGHT_BYTES and self._reserved:
            try:
                async with self._light.slot(), self._all.slot():
                    return await self._do(work, self._limits(min(seconds, LIGHT_SECONDS)))
            except OutOfTimeError:
                if seconds <= LIGHT_SECONDS:
                    raise
        async with self._heavy.slot(), self._all.slot():
            return await self._do(work, self._limits(seconds))

    def _trim_later(self) -> None:
        """Return freed memory to the system when no page was read for `TRIM_DELAY`, in a thread."""
        if self._trim:
            self._trim.cancel()
        loop = asyncio.get_running_loop()
        self._trim = loop.call_later(TRIM_DELAY, loop.run_in_executor, None, return_free_memory)

    def _limits(self, cpu_seconds: float) -> WorkerLimits:
        return WorkerLimits(cpu_seconds, self._config.extract_timeout * WALL_FACTOR)

    async def _do(self, work: _Work[T], limits: WorkerLimits) -> T:
        if self._is_closing:
            raise UnreadError(READING_ENDED)
        has_further_pages = self._light.demand() + self._heavy.demand() > 1
        worker = self._take_worker(BACKGROUND_NICE if self._spare and has_further_pages else 0)
        self._busy.add(worker)
        try:
            return await work(worker, limits)
        finally:
            self._busy.discard(worker)
            if not self._is_closing:
                self._trim_later()
            if worker.is_reusable:
                self._put_back(worker)
            else:  # used up, or still busy with an abandoned page
                self._drop(worker)

    def _take_worker(self, nice: int) -> Worker:
        """Return the idle worker of this niceness that was used last, or a new worker."""
        for worker in [worker for worker in reversed(self._idle) if worker.nice == nice]:
            self._idle.remove(worker)
            if worker.is_alive:
                worker.set_idle_timer(None)
                return worker
            self._drop(worker)
        return Worker(self._options, nice)

    def _put_back(self, worker: Worker) -> None:
        worker.set_idle_timer(asyncio.get_running_loop().call_later(IDLE_TIMEOUT, self._retire, worker))
        self._idle.append(worker)
        if len(self._idle) + len(self._busy) > self._max_processes:
            self._retire(self._idle[0])

    def _retire(self, worker: Worker) -> None:
        self._idle.remove(worker)
        self._drop(worker)

    def _drop(self, worker: Worker) -> None:
        worker.set_idle_timer(None)
        worker.kill()
        ending = asyncio.get_running_loop().create_task(worker.end())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)
