"""Count what the limits of a server over HTTP apply to: concurrent work, calls per minute and open sessions."""

from __future__ import annotations

import asyncio
import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final

from keyhole.runtime.bounded_dict import BoundedDict
from keyhole.runtime.fair_slots import FairSlots
from keyhole.serve.http.asgi import Message, Scope, Send

# Concurrent work: slots of one kind, limited per tenant and in total.

WAITING_PER_SLOT: Final = 8
"""Calls that may wait for each slot of a tenant or of the server: as many as get one in time if each takes a second."""


@dataclass(slots=True)
class Slots:
    """Slots of one kind. Tenants without a slot take no memory."""

    per_tenant: int
    """Maximum slots of one tenant."""
    total: int
    """Maximum slots of all tenants."""
    in_use: int = 0
    _held: Counter[str] = field(default_factory=Counter)

    def is_full(self) -> bool:
        """Return whether all slots are in use."""
        return self.in_use >= self.total

    def is_full_for(self, tenant: str) -> bool:
        """Return whether a tenant holds as many slots as allowed."""
        return self._held[tenant] >= self.per_tenant if tenant in self._held else False

    def slot(self, tenant: str) -> Slot:
        """Return a slot that is acquired when its `with` block begins. The caller must check the limits before."""
        return Slot(tenant, self.acquire, self.release)

    def acquire(self, tenant: str) -> None:
        """Count one more slot of a tenant."""
        self._held[tenant] += 1
        self.in_use += 1

    def release(self, tenant: str) -> None:
        """Count one slot of a tenant less."""
        self._held[tenant] -= 1
        self.in_use -= 1
        if not self._held[tenant]:
            del self._held[tenant]


@dataclass(slots=True)
class CallSlots:
    """The slots of calls, for which calls wait in fair turn: see runtime/fair_slots.py."""

    per_tenant: int
    """Maximum slots of one tenant."""
    total: int
    """Maximum slots of all tenants."""
    _slots: FairSlots = field(init=False)

    def __post_init__(self) -> None:
        self._slots = FairSlots(self.total, most=self.per_tenant)

    async def slot(self, tenant: str, seconds: float) -> Slot | None:
        """Return a slot for one `with` block, None if none was free for `seconds` or too many calls wait."""
        waiting, all_waiting = self._slots.waiting(tenant), self._slots.all_waiting()
        if waiting >= self.per_tenant * WAITING_PER_SLOT or all_waiting >= self.total * WAITING_PER_SLOT:
            return None
        try:
            async with asyncio.timeout(seconds):
                await self._slots.acquire(tenant)
        except TimeoutError:
            return None
        return Slot(tenant, self._slots.count, self._slots.release, is_acquired=True)

    @property
    def in_use(self) -> int:
        """The number of slots that calls hold."""
        return self._slots.in_use

    def is_full_for(self, tenant: str) -> bool:
        """Return whether a tenant holds as many slots as allowed."""
        return self._slots.held(tenant) >= self.per_tenant


class Slot:
    """One slot, acquired by the first `with` block on it and released by the last.

    Both the request and the work that it started have such a block: in a session the work goes on after the request's
    connection is lost, as the protocol requires.
    """

    def __init__(
        self, tenant: str, acquire: Callable[[str], None], release: Callable[[str], None], *, is_acquired: bool = False
    ) -> None:
        self._tenant = tenant
        self._acquire = acquire
        self._release = release
        self._is_acquired = is_acquired
        self._holders = 0

    @property
    def is_detached(self) -> bool:
        """True if one `with` block remains: the work's, after its request has ended."""
        return self._holders == 1

    def __enter__(self) -> None:
        if not self._holders and not self._is_acquired:
            # Work that starts after its request has ended counts too, even beyond the limit.
            self._acquire(self._tenant)
        self._is_acquired = False
        self._holders += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._holders -= 1
        if not self._holders:
            self._release(self._tenant)


# Rates, with token buckets.
#
# A bucket is one number, the time at which it will be full again, as in the generic cell rate algorithm. So nothing
# needs to refill it.

MAX_BUCKETS: Final = 10_000
"""Maximum buckets, about 2 MB. The least recently used are dropped first. A bucket that was not used in the last minute
is full, so dropping it changes nothing."""

FILL_SECONDS: Final = 60.0
"""Seconds to fill an empty bucket, so a burst is at most a minute's tokens. With fewer seconds, a caller within its
rate per minute could be refused; with more, a burst could be larger. In any `t` seconds, callers take at most
`rate * (1 + t / 60)` tokens."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate in tokens per minute."""

    per_minute: int

    @property
    def interval(self) -> float:
        """Seconds until one token is refilled."""
        return FILL_SECONDS / self.per_minute


def take_token(full_at: float, rate: Rate, now: float) -> tuple[float, float]:
    """Take one token: return the bucket's new `full_at` and 0, or `full_at` unchanged and the seconds to wait.

    A bucket is full if its `full_at` is in the past.
    """
    after = max(full_at, now) + rate.interval
    wait = after - now - FILL_SECONDS
    # Waits up to a millionth of a second are rounding errors of these sums.
    return (full_at, wait) if wait > 1e-6 else (after, 0.0)


@dataclass(slots=True)
class TokenBuckets:
    """One bucket for each name, all with the same rate."""

    rate: Rate
    _full_at: BoundedDict[str, float] = field(default_factory=lambda: BoundedDict(MAX_BUCKETS))

    def take(self, name: str, now: float) -> float:
        """Take a token of a name's bucket: return 0, or the seconds until a token is available."""
        full_at, wait = take_token(self._full_at.get(name, -math.inf), self.rate, now)
        self._full_at[name] = full_at
        return wait

    def refund(self, name: str) -> None:
        """Return the token of a call that was not made to a name's bucket."""
        if name in self._full_at:
            self._full_at[name] -= self.rate.interval

    def __len__(self) -> int:
        return len(self._full_at)


# Open sessions of each tenant, counted by the headers of requests. The SDK stores the sessions themselves.

HEADER: Final = b"mcp-session-id"
MAX_SESSIONS_PER_TENANT: Final = 100
"""Maximum open sessions of one tenant, each about 40 KB: clients open one for every window and seldom close it."""
SESSION_IDLE_SECONDS: Final = 1_800.0
"""Seconds without a request or an open stream until a session ends. A client that pauses longer gets a 404 and starts a
new session, as the protocol requires."""


@dataclass(slots=True)
class _Session:
    tenant: str
    last_used: float
    active_requests: int = 0


class SessionCounts:
    """The number of open sessions of each tenant."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._open: OrderedDict[str, _Session] = OrderedDict()
        """Sessions by id, least recently used first."""
        self._counts: Counter[str] = Counter()

    def is_full(self, tenant: str) -> bool:
        """Return whether a tenant has as many open sessions as allowed."""
        self._expire()
        return tenant in self._counts and self._counts[tenant] >= MAX_SESSIONS_PER_TENANT

    @contextmanager
    def track(self, tenant: str, scope: Scope, send: Send) -> Iterator[Send]:
        """Yield a `send` that also observes the response, and count the request as active in its session meanwhile."""
        id = find_session_id(scope["headers"])
        session = self._open.get(id)
        session = session if session and session.tenant == tenant else None

        async def observe(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._observe_response(tenant, id if session else "", scope["method"], message)
            await send(message)

        if session:
            session.active_requests += 1
        try:
            yield observe
        finally:
            if session:
                session.active_requests -= 1
                self._touch(id)

    def __len__(self) -> int:
        return len(self._open)

    def _observe_response(self, tenant: str, id: str, method: str, message: Message) -> None:
        """Remove the session that a response ends, or add the one that it opens. `id`: the request's session, or ""."""
        status, new_id = message["status"], find_session_id(message["headers"])
        if id in self._open and (status == 404 or (method == "DELETE" and status == 200)):
            self._remove(id)
        elif not id and new_id and new_id not in self._open and status < 400:
            self._expire()
            self._open[new_id] = _Session(tenant, self._now())
            self._counts[tenant] += 1

    def _touch(self, id: str) -> None:
        if id in self._open:
            self._open[id].last_used = self._now()
            self._open.move_to_end(id)

    def _remove(self, id: str) -> None:
        session = self._open.pop(id)
        self._counts[session.tenant] -= 1
        if not self._counts[session.tenant]:
            del self._counts[session.tenant]

    def _expire(self) -> None:
        """Remove sessions that have been idle too long."""
        while self._open:
            id, session = next(iter(self._open.items()))
            if session.last_used + SESSION_IDLE_SECONDS > self._now():
                break
            if session.active_requests:
                self._touch(id)
            else:
                self._remove(id)


def find_session_id(headers: list[tuple[bytes, bytes]]) -> str:
    """Return the session id in the headers, or ""."""
    return next((value.decode("latin-1") for name, value in headers if name.lower() == HEADER), "")
