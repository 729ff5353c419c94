"""A failing medium is tried by one caller after each pause."""

from __future__ import annotations

from keyhole.store.disk_calls import FIRST_PAUSE, Backoff
from tests.support.fakes import Clock


def test_only_one_caller_may_try_after_a_pause() -> None:
    clock = Clock()
    backoff = Backoff(clock)
    backoff.record_failure()
    assert [backoff.acquire() for _ in range(3)] == [False] * 3
    clock.advance(FIRST_PAUSE)
    assert [backoff.acquire() for _ in range(3)] == [True, False, False]
    backoff.record_success()
    assert [backoff.acquire() for _ in range(3)] == [True] * 3


def test_a_clock_that_is_set_back_does_not_lengthen_the_pause() -> None:
    clock = Clock()
    backoff = Backoff(clock)
    backoff.record_failure()
    clock.advance(-86_400)
    assert backoff.acquire()
