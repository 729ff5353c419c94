"""How hard one host is pressed: connections at once, waits it asked for, retries. No HTTP and no robots.txt here.

Time is two ports, a clock that only runs forward and a sleep, so that tests need neither. Other servers that press the
same hosts are a third.
"""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final, Protocol

from keyhole.errors import Code, KeyholeError

PER_HOST: Final = 4
"""Connections to one host at once: below the six that a browser opens for one reader, and enough for a search
whose results all lie on one site to be read in three rounds."""
BACKOFF: Final = (0.25,)
"""Seconds before each further try of a connection that failed: one try, soon enough for any deadline."""
WAIT_MARGIN: Final = 2.0
"""Seconds that must be left of a deadline after a wait, for the request that follows it."""
MAX_WAIT: Final = 86_400
"""Seconds for which a host's wish to be left alone is kept: longer ones are mistakes."""
MAX_HOSTS: Final = 1_000
"""Hosts whose wish is remembered; the longest known go first."""
POLL: Final = (0.02, 0.06)
"""Seconds, at random between these, before other servers are asked again for a place at a host: shorter than a page
takes, and at random lest two servers stay in step."""

_SECONDS = re.compile(r"[0-9]{1,20}")
_DATE_LENGTH = 40


def retry_after(value: str, now: float) -> int | None:
    """The seconds that a `Retry-After` header names, or None: a number, or a date (RFC 9110, section 10.2.3).

    `now` is the time of the answer in seconds since the epoch.
    """
    value = value.strip()
    if _SECONDS.fullmatch(value):
        return min(int(value), MAX_WAIT)
    if not value.isascii() or len(value) > _DATE_LENGTH or "," not in value:
        return None
    try:
        date = parsedate_to_datetime(value)
        seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(0, min(math.ceil(seconds), MAX_WAIT))


class Others(Protocol):
    """The other servers that fetch from the same hosts. Nothing here waits long or raises: where they cannot be asked,
    this server goes by what it knows itself."""

    async def take(self, host: str, most: int) -> str | None:
        """One of a host's `most` places among all servers: what to give back, or None when all are taken; "" when they
        cannot be asked."""
        ...

    def give_back(self, host: str, lease: str) -> None:
        """The place is free again."""
        ...

    async def left(self, host: str) -> float:
        """Seconds for which the host wants to be left alone, as it told any server."""
        ...

    async def leave_alone(self, host: str, seconds: float) -> None:
        """Tell all servers of a host's wish."""
        ...

    async def aclose(self) -> None:
        """Let go of them."""
        ...


class Manners:
    """What is remembered of hosts while the process lives: who is being asked, and who wants to be left alone."""

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        others: Others | None = None,
    ) -> None:
        self.now = now
        self.sleep = sleep
        self._others = others
        self._slots: dict[str, tuple[asyncio.Semaphore, int]] = {}
        self._waits: OrderedDict[str, float] = OrderedDict()

    @asynccontextmanager
    async def slot(self, host: str, until: float = math.inf) -> AsyncIterator[None]:
        """Wait until fewer than four connections to a host are open, by this server and by others, and hold one. The
        wait ends at `until`, in seconds of the event loop's clock. Raises KeyholeError(timeout)."""
        slots, users = self._slots.get(host, (asyncio.Semaphore(PER_HOST), 0))
        self._slots[host] = slots, users + 1
        try:
            async with _soon(slots, host, until), self._place(host, until):
                yield
        finally:
            slots, users = self._slots[host]
            if users > 1:
                self._slots[host] = slots, users - 1
            else:
                del self._slots[host]

    async def check(self, host: str) -> None:
        """Refuse a host that asked to be left alone for now. Raises KeyholeError(rate_limited)."""
        left = math.ceil(self._waits.get(host, 0.0) - self.now())
        if left <= 0 and self._others is not None and (left := math.ceil(await self._others.left(host))) > 0:
            self._remember(host, left)
        if left > 0:
            message = f"{host} asked to be left alone for {left} s more; it was not asked again"
            raise KeyholeError(Code.RATE_LIMITED, message, retry_after=left)

    async def leave_alone(self, host: str, seconds: float) -> None:
        """Remember that a host asked for a wait."""
        self._remember(host, seconds)
        if self._others is not None:
            await self._others.leave_alone(host, seconds)

    def fits(self, seconds: float, until: float) -> bool:
        """Whether a wait leaves enough of a deadline, which is in the clock's seconds."""
        return seconds + WAIT_MARGIN <= until - self.now()

    async def aclose(self) -> None:
        """Let go of the other servers."""
        if self._others is not None:
            await self._others.aclose()

    @asynccontextmanager
    async def _place(self, host: str, until: float) -> AsyncIterator[None]:
        """One of the host's places among all servers."""
        if self._others is None:
            yield
            return
        clock = asyncio.get_running_loop().time
        while (lease := await self._others.take(host, PER_HOST)) is None:
            pause = random.uniform(*POLL)  # noqa: S311 - no secret
            if clock() + pause >= until:
                raise _busy(host)
            await self.sleep(pause)
        try:
            yield
        finally:
            if lease:
                self._others.give_back(host, lease)

    def _remember(self, host: str, seconds: float) -> None:
        self._waits[host] = self.now() + seconds
        self._waits.move_to_end(host)
        while len(self._waits) > MAX_HOSTS:
            self._waits.popitem(last=False)


@asynccontextmanager
async def _soon(slots: asyncio.Semaphore, host: str, until: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout_at(until if until < math.inf else None):
            await slots.acquire()
    except TimeoutError as error:
        raise _busy(host) from error
    try:
        yield
    finally:
        slots.release()


def _busy(host: str) -> KeyholeError:
    return KeyholeError(Code.TIMEOUT, f"{host} was busy with other requests of ours, and no connection to it came free")
