"""Which stored artifacts go, by age and by size. Pure: it is given facts in the order of access and drops nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Held:
    """What the decision looks at."""

    key: int
    size: int
    """About as many bytes as are free without it."""
    last_access: float


def doomed(held: Sequence[Held], excess: int, expired_before: float, spared: int = 0) -> list[int]:
    """The keys of those that go: all that expired, and then the longest unread until `excess` bytes are free.

    `held` is in the order of access, the longest unread first. It is an order of events and not of times: a clock that
    was set back makes no artifact older than one that was read before it. `spared` is the one that has just been put.
    """
    gone = [each for each in held if each.last_access < expired_before and each.key != spared]
    excess -= sum(each.size for each in gone)
    keys = {each.key for each in gone}
    for each in held:
        if excess <= 0:
            break
        if each.key not in keys and each.key != spared:
            keys.add(each.key)
            excess -= each.size
    return [each.key for each in held if each.key in keys]
