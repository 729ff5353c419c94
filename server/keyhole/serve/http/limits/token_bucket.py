"""How often something may begin: a token bucket as a pure function, and one bucket for each name. No clock is read.

A bucket is one number, the time at which it will be full again, as in the generic cell rate algorithm: it never has to
be filled by anybody. PostgreSQL computes the same in replicas/tables.py.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

MAX_BUCKETS: Final = 10_000
"""Buckets remembered, some 2 MB. The longest unused go first: forgetting one only matters if it was used within
the last minute, for then it would have filled by itself."""

MINUTE: Final = 60.0
"""Seconds that a bucket takes to fill, and so how much of its rate may come at once: a minute's worth. With less,
somebody who begins no more than the permitted calls in any minute could be refused; with more, nights would be saved up
for one burst. In any `t` seconds at most `rate * (1 + t / 60)` begin."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many a minute."""

    per_minute: int

    @property
    def each(self) -> float:
        """Seconds in which room for one more comes."""
        return MINUTE / self.per_minute


def take(full_at: float, rate: Rate, now: float) -> tuple[float, float]:
    """When the bucket will be full after one is taken of it now, and 0; or as it was, and the seconds until one can be.

    `full_at` is any time in the past for a full bucket.
    """
    after = max(full_at, now) + rate.each
    wait = after - now - MINUTE
    # Sums of many fractions are off by a few millionths at most.
    return (full_at, wait) if wait > 1e-6 else (after, 0.0)


def emptied(rate: Rate, now: float, wait: float) -> float:
    """When a bucket will be full of which nothing can be taken for the next `wait` seconds."""
    return now + wait + MINUTE - rate.each


@dataclass(slots=True)
class Buckets:
    """A bucket for each name, all of one rate."""

    rate: Rate
    _full_at: OrderedDict[str, float] = field(default_factory=OrderedDict)

    def take(self, name: str, now: float) -> float:
        """Take one of a name's bucket: 0, or the seconds after which one can be taken."""
        full_at, wait = take(self._full_at.get(name, -math.inf), self.rate, now)
        self._keep(name, full_at)
        return wait

    def give_back(self, name: str) -> None:
        """Undo a taking: what it was taken for did not come about."""
        if name in self._full_at:
            self._full_at[name] -= self.rate.each

    def empty(self, name: str, now: float, wait: float) -> None:
        """Let nothing be taken for so long: somebody who knows more said so."""
        self._keep(name, emptied(self.rate, now, wait))

    def __len__(self) -> int:
        return len(self._full_at)

    def _keep(self, name: str, full_at: float) -> None:
        self._full_at[name] = full_at
        self._full_at.move_to_end(name)
        if len(self._full_at) > MAX_BUCKETS:
            self._full_at.popitem(last=False)
