"""The bucket's law, for any times at which somebody asks."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from keyhole.serve.http.limits import token_bucket
from keyhole.serve.http.limits.token_bucket import MINUTE, Buckets, Rate, emptied, take
from keyhole.serve.http.refusals import whole_seconds

PAUSES = st.lists(st.floats(0, 200), min_size=1, max_size=60)


@given(st.integers(1, 50), PAUSES)
def test_in_any_stretch_of_time_at_most_the_rate_and_a_minutes_worth_begin(
    per_minute: int, pauses: list[float]
) -> None:
    rate, now, full_at = Rate(per_minute), 0.0, -math.inf
    begun: list[float] = []
    for pause in pauses:
        now += pause
        full_at, wait = take(full_at, rate, now)
        if not wait:
            begun.append(now)
    for first in range(len(begun)):
        for last in range(first, len(begun)):
            seconds = begun[last] - begun[first]
            assert last - first + 1 <= per_minute * (1 + seconds / MINUTE) + 1e-3


@given(st.integers(1, 50), PAUSES)
def test_who_begins_no_more_than_the_rate_in_any_minute_is_never_refused(per_minute: int, pauses: list[float]) -> None:
    rate, now, full_at = Rate(per_minute), 0.0, -math.inf
    begun: list[float] = []
    for pause in pauses:
        now += pause
        if sum(1 for earlier in begun if now - earlier <= MINUTE) < per_minute:
            full_at, wait = take(full_at, rate, now)
            assert not wait
            begun.append(now)


@given(st.integers(1, 1_000_000), st.integers(0, 100), st.floats(0, 1e9))
def test_after_the_wait_that_was_told_the_next_is_let_in(per_minute: int, already: int, now: float) -> None:
    rate, full_at = Rate(per_minute), now + MINUTE * already / 100
    after, wait = take(full_at, rate, now)
    if wait:
        assert after == full_at
        assert take(full_at, rate, now + wait)[1] == 0
        assert take(full_at, rate, now + whole_seconds(wait))[1] == 0


def test_an_emptied_bucket_gives_nothing_for_so_long() -> None:
    rate = Rate(60)
    full_at = emptied(rate, 100.0, 5.0)
    assert take(full_at, rate, 104.0)[1] == 1.0
    after, wait = take(full_at, rate, 105.0)
    assert wait == 0
    assert take(after, rate, 105.0)[1] == 1.0


def test_waits_are_told_in_whole_seconds_that_are_enough() -> None:
    assert [whole_seconds(wait) for wait in (0.0, 0.001, 1.0, 1.001, 59.5)] == [1, 1, 1, 2, 60]


def test_what_was_taken_in_vain_is_given_back() -> None:
    buckets = Buckets(Rate(2))
    assert [buckets.take("a", 0.0) for _ in range(3)] == [0, 0, 30]
    buckets.give_back("a")
    buckets.give_back("unknown")
    assert [buckets.take("a", 0.0) for _ in range(2)] == [0, 30]


def test_so_many_buckets_are_remembered_the_longest_unused_go_first() -> None:
    buckets = Buckets(Rate(1))
    for n in range(token_bucket.MAX_BUCKETS):
        assert not buckets.take(str(n), 0.0)
    assert buckets.take("0", 0.0)
    assert not buckets.take("new", 0.0)
    assert len(buckets) == token_bucket.MAX_BUCKETS
    assert buckets.take("0", 0.0)
    assert not buckets.take("1", 0.0)
