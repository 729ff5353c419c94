"""Limit the load on each host: concurrent connections, and the waits that hosts request with Retry-After.

The owners of calls share the connections to a host fairly.

The clock and the sleep function are parameters, so that tests can replace them.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.runtime.bounded_dict import BoundedDict
from keyhole.runtime.fair_slots import FairSlots

MAX_PER_HOST: Final = 6
"""Concurrent requests and open connections to one host, as many as browsers open. A search that reads five pages of
one site takes one round. No slot is reserved for other owners: if a host is slow and one owner holds all slots, the
others wait too."""
BACKOFF: Final = (0.25,)
"""Seconds before each retry of a failed connection. There is one retry, soon enough for any deadline."""
WAIT_MARGIN: Final = 2.0
"""Seconds that must remain between the end of a wait and the deadline, for the request itself."""
MAX_WAIT: Final = 86_400
"""Seconds. A longer Retry-After is treated as a mistake and shortened to this."""
MAX_HOSTS: Final = 1_000
"""Hosts whose waits are remembered; the oldest are forgotten first."""

_SECONDS = re.compile(r"[0-9]{1,20}")
_DATE_LENGTH = 40


def parse_retry_after(value: str, now: float) -> int | None:
    """Parse a `Retry-After` header, a number or a date (RFC 9110, section 10.2.3); return seconds, or None if invalid.

    `now` is the time of the response in seconds since the epoch.
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


class HostLimits:
    """Open connections and requested waits of each host."""

    def __init__(
        self, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.now = now
        self.sleep = sleep
        self._slots: dict[str, FairSlots] = {}
        """The connection slots of each host that is in use."""
        self._wait_ends: BoundedDict[str, float] = BoundedDict(MAX_HOSTS)

    @asynccontextmanager
    async def slot(self, host: str, deadline: float = math.inf) -> AsyncIterator[None]:
        """Hold one of the host's `MAX_PER_HOST` connection slots, and wait for it until `deadline`.

        `deadline` is in seconds of the event loop's clock. Raises KeyholeError (timeout).
        """
        slots = self._slots.setdefault(host, FairSlots(MAX_PER_HOST))
        try:
            async with _slot_in_time(slots, host, deadline):
                yield
        finally:
            # If calls are cancelled together, another one may have removed or replaced these slots already.
            if slots.is_unused and self._slots.get(host) is slots:
                del self._slots[host]

    def check_wait(self, host: str) -> None:
        """Raise KeyholeError (rate_limited) if a wait that the host requested is not over."""
        left = math.ceil(self._wait_ends.get(host, 0.0) - self.now())
        if left > 0:
            message = f"{host} asked to wait {left} s more; no request was sent"
            raise KeyholeError(Code.RATE_LIMITED, message, retry_after=left)

    def record_wait(self, host: str, seconds: float) -> None:
        """Record that a host requested a wait."""
        self._wait_ends[host] = self.now() + seconds

    def fits_deadline(self, seconds: float, deadline: float) -> bool:
        """Return True if a wait of `seconds` leaves time for a request before `deadline`, in seconds of `now`."""
        return seconds + WAIT_MARGIN <= deadline - self.now()


@asynccontextmanager
async def _slot_in_time(slots: FairSlots, host: str, deadline: float) -> AsyncIterator[None]:
    """Hold one of the slots, and wait for it until `deadline`."""
    async with AsyncExitStack() as stack:
        try:
            async with asyncio.timeout_at(deadline if deadline < math.inf else None):
                await stack.enter_async_context(slots.slot())
        except TimeoutError as error:
            message = f"all connections allowed to {host} were in use by other requests"
            raise KeyholeError(Code.TIMEOUT, message) from error
        yield
