"""Tests of choosing the artifacts to evict by age and size."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.store.sqlite.space import Candidate, choose_evictions

ROWS = [Candidate(key, 10, float(key)) for key in (1, 2, 3, 4)]


def test_expired_artifacts_are_evicted_first_then_the_least_recently_read() -> None:
    assert choose_evictions(ROWS, 0, expired_before=0.0) == []
    assert choose_evictions(ROWS, -5, expired_before=2.0) == [1]
    assert choose_evictions(ROWS, 0, expired_before=2.5) == [1, 2]
    assert choose_evictions(ROWS, 15, expired_before=0.0) == [1, 2]
    assert choose_evictions(ROWS, 20, expired_before=0.0) == [1, 2]
    assert choose_evictions(ROWS, 15, expired_before=3.5) == [1, 2, 3]
    assert choose_evictions(ROWS, 10**9, expired_before=0.0) == [1, 2, 3, 4]
    assert choose_evictions([], 10, expired_before=0.0) == []


def test_the_artifact_just_put_is_not_evicted() -> None:
    assert choose_evictions(ROWS, 10**9, expired_before=10.0, protected_key=3) == [1, 2, 4]


def test_eviction_follows_the_order_of_access_rather_than_the_clock() -> None:
    back = [Candidate(1, 10, 900.0), Candidate(2, 10, 5.0), Candidate(3, 10, 6.0)]
    assert choose_evictions(back, 5, expired_before=0.0) == [1]
    assert choose_evictions(back, 0, expired_before=5.5) == [2]


@given(st.lists(st.tuples(st.integers(1, 50), st.floats(0, 9))), st.integers(-9, 400), st.floats(0, 9))
def test_no_more_is_evicted_than_necessary(rows: list[tuple[int, float]], excess: int, before: float) -> None:
    candidates = [Candidate(key, size, access) for key, (size, access) in enumerate(rows, start=1)]
    evicted = choose_evictions(candidates, excess, before)
    unexpired = [each for each in candidates if each.key in evicted and each.last_access >= before]
    freed = sum(each.size for each in candidates if each.key in evicted)
    assert all(each.key in evicted for each in candidates if each.last_access < before)
    assert not unexpired or freed - unexpired[-1].size < excess
    assert freed >= excess or len(evicted) == len(candidates)
