"""Limit rates with token buckets: pure functions on one bucket, and a class with a bucket for each name.

A bucket is one number, the time at which it will be full again, as in the generic cell rate algorithm. So nothing needs
to refill it.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

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
    _full_at: OrderedDict[str, float] = field(default_factory=OrderedDict)

    def take(self, name: str, now: float) -> float:
        """Take a token of a name's bucket: return 0, or the seconds until a token is available."""
        full_at, wait = take_token(self._full_at.get(name, -math.inf), self.rate, now)
        self._full_at[name] = full_at
        self._full_at.move_to_end(name)
        if len(self._full_at) > MAX_BUCKETS:
            self._full_at.popitem(last=False)
        return wait

    def refund(self, name: str) -> None:
        """Return the token of a call that was not made to a name's bucket."""
        if name in self._full_at:
            self._full_at[name] -= self.rate.interval

    def __len__(self) -> int:
        return len(self._full_at)
