"""Keep the reads of fetched pages that outlast their calls, so that the same call gets their result later.

A machine can be so busy that a page is not read within its call. The call then ends with an error, but the read goes
on, within bounds of number, size and time.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, Page

log = logging.getLogger(__name__)

MAX_PENDING: Final = 16
"""Reads kept without a call: what the workers read in some seconds. The oldest is cancelled first."""
MAX_PENDING_BYTES: Final = 64_000_000
"""Bytes of their pages: some of the largest, or far more than 16 usual ones."""
PENDING_SECONDS: Final = 120.0
"""Seconds for which a read is kept: four calls of the default duration."""

Read = tuple[Artifact, bool]
"""The artifact of a page, and True if it is stored."""
Key = tuple[bytes, str]
"""The secret of a tenant, which no other tenant has, and the requested URL."""


@dataclass(frozen=True, slots=True)
class PendingRead:
    """A read of a fetched page. `url`: the page's final URL; `size`: bytes of its body."""

    url: str
    size: int
    task: asyncio.Task[Read]


def start_read(page: Page, read: Coroutine[Any, Any, Read]) -> PendingRead:
    """Begin to read a page in a task of its own."""
    return PendingRead(page.url, len(page.body), asyncio.get_running_loop().create_task(read))


class PendingReads:
    """The reads that no call waits for, oldest first."""

    def __init__(self) -> None:
        self._reads: OrderedDict[Key, PendingRead] = OrderedDict()

    def take(self, key: Key, permits: Callable[[str], bool]) -> PendingRead | None:
        """Return the read of a page for a call that waits for it, also if it has ended; None if there is none.

        `permits`: whether the call may read a page with this final URL.
        """
        read = self._reads.get(key)
        if read is None or not permits(read.url):
            return None
        del self._reads[key]
        return None if read.task.cancelled() else read

    async def wait(self, key: Key, read: PendingRead, until: float) -> Read:
        """Return the result of a read. If it does not end by `until`, keep it and raise extraction_pending.

        `until`: in seconds of the event loop's clock. A cancelled call cancels its read.
        """
        loop = asyncio.get_running_loop()
        try:
            done, _ = await asyncio.wait([read.task], timeout=max(0.0, until - loop.time()))
        except asyncio.CancelledError:
            read.task.cancel()
            await asyncio.wait([read.task])
            raise
        if done:
            return read.task.result()
        self._keep(key, read)
        loop.call_later(PENDING_SECONDS, self._drop, key, read)
        message = f"the page was fetched ({read.size:,} bytes), but not read within the time of the call"
        raise KeyholeError(Code.EXTRACTION_PENDING, message, url=key[1], bytes=read.size)

    async def aclose(self) -> None:
        """Cancel all reads, and wait until they have ended."""
        tasks = [read.task for read in self._reads.values()]
        self._reads.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _keep(self, key: Key, read: PendingRead) -> None:
        if earlier := self._reads.get(key):  # another call for the page, which ended before
            self._drop(key, earlier)
        read.task.add_done_callback(_report)
        self._reads[key] = read
        while len(self._reads) > 1 and self._is_full():
            self._drop(*next(iter(self._reads.items())))

    def _is_full(self) -> bool:
        return len(self._reads) > MAX_PENDING or sum(read.size for read in self._reads.values()) > MAX_PENDING_BYTES

    def _drop(self, key: Key, read: PendingRead) -> None:
        """Forget a read and cancel it, unless a call has taken it."""
        if self._reads.get(key) is read:
            del self._reads[key]
            read.task.cancel()


def _report(task: asyncio.Task[Read]) -> None:
    """Log the unexpected failure of a read, since no call may ask for its result."""
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, KeyholeError):
        log.error("a page could not be read after its call had ended", exc_info=error)
