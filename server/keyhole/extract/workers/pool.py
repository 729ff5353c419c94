"""Share, kill and replace worker processes.

A worker reads one page at a time. It is killed if it exceeds its time limit or if its call is cancelled, and replaced
if it ends by itself. A pool belongs to one event loop.
"""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Final
from urllib.parse import urlsplit

from keyhole.config.config import Config
from keyhole.extract.workers.frames import OutOfTimeError, UnreadError
from keyhole.extract.workers.worker import Worker
from keyhole.records import Document, Page

log = logging.getLogger(__name__)

POOL_SIZE: Final = max(2, min(4, os.cpu_count() or 1))
"""Largest number of workers for heavy pages: one per processor, at most four. At least two, so that a slow page does
not block the others."""
RESERVED_WORKERS: Final = 1
"""Additional workers that only light pages use. Most pages are light and take less than a second, so they should not
wait for a few hostile pages. A light page uses any free worker."""
MAX_LIGHT_BYTES: Final = 300_000
"""Largest body of a light page, in bytes. Nine of ten pages are smaller."""
LIGHT_SECONDS: Final = 2.0
"""Time limit in seconds of the first attempt at a light page. A slower page is read again as a heavy page with the full
time limit."""
IDLE_TIMEOUT: Final = 300.0
"""Seconds after which an idle worker ends: longer than an agent's pause between two pages."""
READER: Final = "keyhole.extract.workers.child:extract_with_words"
"""The function that a worker runs on each page."""


class WorkerPool:
    """An Extractor that reads pages in worker processes.

    At most `size` workers read heavy pages, and `reserved` more read light pages. `reader` is the function that workers
    run, as "module:function".
    """

    def __init__(
        self, config: Config, size: int = POOL_SIZE, reader: str = READER, reserved: int = RESERVED_WORKERS
    ) -> None:
        self._config = config
        self._options = {"reader": reader, "memory": config.extract_memory, "seconds": config.extract_timeout}
        self._size = size
        self._reserved = reserved
        self._heavy = asyncio.Semaphore(size)
        self._all = asyncio.Semaphore(size + reserved)
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._ending: set[asyncio.Task[None]] = set()

    def warm(self) -> None:
        """Start a worker if no worker is idle and a slot is free."""
        if not any(worker.is_alive for worker in self._idle) and not self._all.locked():
            self._put_back(Worker(self._options))

    async def extract(self, page: Page, deadline: float | None = None) -> tuple[Document, str]:
        """Return the document and words of a page, read by a worker. Salvages a page that no worker finishes."""
        try:
            return await self._read_until(page, deadline)
        except UnreadError as failure:
            from keyhole.extract.workers.salvage import salvage

            log.warning("a page of %s could not be read: %s", urlsplit(page.url).hostname, failure.message)
            self.warm()  # replaces the lost worker
            return await asyncio.to_thread(salvage, page, failure.message)

    async def aclose(self) -> None:
        """Kill all workers, and wait until they have ended and all calls have returned."""
        for worker in self._busy:
            worker.kill()
        for _ in range(self._size):
            await self._heavy.acquire()
        for _ in range(self._size + self._reserved):
            await self._all.acquire()
        while self._idle:
            self._drop(self._idle.pop())
        await asyncio.gather(*self._ending)
        for _ in range(self._size):
            self._heavy.release()
        for _ in range(self._size + self._reserved):
            self._all.release()

    async def _read_until(self, page: Page, deadline: float | None) -> tuple[Document, str]:
        """Read a page before the call's deadline, including the wait for a worker and its start."""
        try:
            async with asyncio.timeout_at(deadline):
                return await self._read_in_turn(page)
        except TimeoutError as error:
            raise OutOfTimeError(
                "too little of the call's time was left to read it (refresh=true tries again)"
            ) from error

    async def _read_in_turn(self, page: Page) -> tuple[Document, str]:
        """Read a page when a worker is free. A light page that is slow is read again as a heavy page."""
        seconds = self._config.extract_timeout
        if len(page.body) <= MAX_LIGHT_BYTES and self._reserved:
            try:
                async with self._all:
                    return await self._read(page, min(seconds, LIGHT_SECONDS))
            except OutOfTimeError:
                if seconds <= LIGHT_SECONDS:
                    raise
        async with self._heavy, self._all:
            return await self._read(page, seconds)

    async def _read(self, page: Page, seconds: float) -> tuple[Document, str]:
        worker = self._take_worker()
        self._busy.add(worker)
        try:
            return await worker.read(page, seconds)
        finally:
            self._busy.discard(worker)
            if worker.is_reusable:
                self._put_back(worker)
            else:  # used up, or still busy with an abandoned page
                self._drop(worker)

    def _take_worker(self) -> Worker:
        """Return the idle worker that was used last, or a new worker."""
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                worker.set_idle_timer(None)
                return worker
            self._drop(worker)
        return Worker(self._options)

    def _put_back(self, worker: Worker) -> None:
        worker.set_idle_timer(asyncio.get_running_loop().call_later(IDLE_TIMEOUT, self._retire, worker))
        self._idle.append(worker)

    def _retire(self, worker: Worker) -> None:
        self._idle.remove(worker)
        self._drop(worker)

    def _drop(self, worker: Worker) -> None:
        worker.set_idle_timer(None)
        worker.kill()
        ending = asyncio.get_running_loop().create_task(worker.end())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)
