"""Properties of the token bucket, for any times of requests."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from keyhole.serve.http import limits
from keyhole.serve.http.limits import FILL_SECONDS, Rate, TokenBuckets, retry_after_seconds, take_token

PAUSES = st.lists(st.floats(0, 200), min_size=1, max_size=60)


@given(st.integers(1, 50), PAUSES)
def test_in_any_period_at_most_the_rate_plus_one_burst_is_taken(per_minute: int, pauses: list[float]) -> None:
    rate, now, full_at = Rate(per_minute), 0.0, -math.inf
    taken_at: list[float] = []
    for pause in pauses:
        now += pause
        full_at, wait = take_token(full_at, rate, now)
        if not wait:
            taken_at.append(now)
    for first in range(len(taken_at)):
        for last in range(first, len(taken_at)):
            seconds = taken_at[last] - taken_at[first]
            assert last - first + 1 <= per_minute * (1 + seconds / FILL_SECONDS) + 1e-3


@given(st.integers(1, 50), PAUSES)
def test_a_caller_within_the_rate_in_every_minute_is_never_refused(per_minute: int, pauses: list[float]) -> None:
    rate, now, full_at = Rate(per_minute), 0.0, -math.inf
    taken_at: list[float] = []
    for pause in pauses:
        now += pause
        if sum(1 for earlier in taken_at if now - earlier <= FILL_SECONDS) < per_minute:
            full_at, wait = take_token(full_at, rate, now)
            assert not wait
            taken_at.append(now)


@given(st.integers(1, 1_000_000), st.integers(0, 100), st.floats(0, 1e9))
def test_after_the_returned_wait_a_token_is_available(per_minute: int, already: int, now: float) -> None:
    rate, full_at = Rate(per_minute), now + FILL_SECONDS * already / 100
    after, wait = take_token(full_at, rate, now)
    if wait:
        assert after == full_at
        assert take_token(full_at, rate, now + wait)[1] == 0
        assert take_token(full_at, rate, now + retry_after_seconds(wait))[1] == 0


def test_waits_are_rounded_up_to_whole_seconds() -> None:
    assert [retry_after_seconds(wait) for wait in (0.0, 0.001, 1.0, 1.001, 59.5)] == [1, 1, 1, 2, 60]


def test_a_refund_gives_a_token_back() -> None:
    buckets = TokenBuckets(Rate(2))
    assert [buckets.take("a", 0.0) for _ in range(3)] == [0, 0, 30]
    buckets.refund("a")
    buckets.refund("unknown")
    assert [buckets.take("a", 0.0) for _ in range(2)] == [0, 30]


def test_the_least_recently_used_buckets_are_dropped_first() -> None:
    buckets = TokenBuckets(Rate(1))
    for n in range(limits.MAX_BUCKETS):
        assert not buckets.take(str(n), 0.0)
    assert buckets.take("0", 0.0)
    assert not buckets.take("new", 0.0)
    assert len(buckets) == limits.MAX_BUCKETS
    assert buckets.take("0", 0.0)
    assert not buckets.take("1", 0.0)
