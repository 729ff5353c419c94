"""How hard one host is pressed: connections at once, waits it asked for, retries. No HTTP and no robots.txt here.

Time is two ports, a clock that only runs forward and a sleep, so that tests need neither.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

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


class Manners:
    """What is remembered of hosts while the process lives: who is being asked, and who wants to be left alone."""

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.now = now
        self.sleep = sleep
        self._slots: dict[str, tuple[asyncio.Semaphore, int]] = {}
        self._waits: OrderedDict[str, float] = OrderedDict()

    @asynccontextmanager
    async def slot(self, host: str) -> AsyncIterator[None]:
        """Wait until fewer than four connections to a host are open, and hold one."""
        slots, users = self._slots.get(host, (asyncio.Semaphore(PER_HOST), 0))
        self._slots[host] = slots, users + 1
        try:
            async with slots:
                yield
        finally:
            slots, users = self._slots[host]
            if users > 1:
                self._slots[host] = slots, users - 1
            else:
                del self._slots[host]

    def check(self, host: str) -> None:
        """Refuse a host that asked to be left alone for now. Raises KeyholeError(rate_limited)."""
        left = math.ceil(self._waits.get(host, 0.0) - self.now())
        if left > 0:
            message = f"{host} asked to be left alone for {left} s more; it was not asked again"
            raise KeyholeError(Code.RATE_LIMITED, message, retry_after=left)

    def leave_alone(self, host: str, seconds: float) -> None:
        """Remember that a host asked for a wait."""
        self._waits[host] = self.now() + seconds
        self._waits.move_to_end(host)
        while len(self._waits) > MAX_HOSTS:
            self._waits.popitem(last=False)

    def fits(self, seconds: float, until: float) -> bool:
        """Whether a wait leaves enough of a deadline, which is in the clock's seconds."""
        return seconds + WAIT_MARGIN <= until - self.now()
