"""Count what the limits of a server over HTTP apply to, and describe the refusals of requests that exceed them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import MappingProxyType, TracebackType
from typing import Final, Literal

from keyhole.runtime.bounded_dict import BoundedDict

BODY_SECONDS: Final = 20.0
"""Seconds for a complete body: enough for a megabyte at 0.4 Mbit/s. A slower client is disconnected."""

# Concurrent work: slots of one kind, limited per tenant and in total.


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


# Refusals of requests that exceed a limit.

Reason = Literal[
    "calls_at_once",
    "calls_per_minute",
    "pages_at_once",
    "server_full",
    "open_requests",
    "requests_per_minute",
    "open_streams",
    "open_sessions",
    "sign_ins_per_minute",
]

_SENTENCES: Final = MappingProxyType(
    {
        "calls_at_once": "the user has as many calls running as allowed",
        "calls_per_minute": "the user has started as many calls this minute as allowed",
        "pages_at_once": "the user has as many pages open as are made at once",
        "server_full": "the server has as many calls running as it allows",
        "open_requests": "too many requests are open at once",
        "requests_per_minute": "too many requests came in a minute",
        "open_streams": "too many streams are open",
        "open_sessions": "too many sessions are open; end one, or reuse one",
        "sign_ins_per_minute": "too many tokens of this address were refused in a minute",
    }
)
_STATUS: Final = MappingProxyType({"server_full": 503, "open_requests": 503})
"""HTTP status of the reasons that other tenants may have caused; all other reasons have 429."""
_DEFAULT_WAITS: Final = MappingProxyType({"open_streams": 60.0, "open_sessions": 60.0})
"""Seconds to wait if the time of the next free slot is unknown, by reason; one second for all other reasons."""


@dataclass(frozen=True, slots=True)
class LimitRefusal:
    """The limit that a request exceeds, and the whole seconds to wait before the next attempt."""

    reason: str
    wait: int

    @property
    def status(self) -> int:
        """The HTTP status: 429 if the tenant caused the refusal, 503 if others may have."""
        return _STATUS.get(self.reason, 429)

    @property
    def message(self) -> str:
        """The reason's name and a sentence, in the format of tool errors."""
        return f"{self.reason}: {_SENTENCES[self.reason]}. Call again in {self.wait} s."


def retry_after_seconds(wait: float) -> int:
    """Return a wait for the `Retry-After` header: whole seconds, rounded up, at least one."""
    return max(1, math.ceil(wait))


def limit_refusal(reason: Reason, wait: float = 0.0) -> LimitRefusal:
    """Return the refusal for a reason. `wait`: seconds until the request would be allowed; 0 if unknown."""
    return LimitRefusal(reason, retry_after_seconds(wait or _DEFAULT_WAITS.get(reason, 1.0)))
