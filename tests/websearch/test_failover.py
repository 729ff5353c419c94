"""Test failover between instances of one engine, and the notes on failed instances."""

from __future__ import annotations

import asyncio

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.breaker import FAILURES, REFUSED_REST, REST
from keyhole.websearch.failover import Failover
from keyhole.websearch.hits import NotedHits
from tests.support.fakes import HANGS, Clock, FakeEngine, Hangs

REQUEST = SearchRequest("q", 5)
HIT = Hit("https://a.example/", "A", "", "searxng")
DOWN = KeyholeError(Code.CONNECT_FAILURE, "refused")
QUOTA = KeyholeError(Code.RATE_LIMITED, "slow down", retry_after=90)
Answers = list[Hit] | KeyholeError | Hangs


def make_failover(
    *answers: Answers, clock: Clock | None = None, timeout: float = 0.06
) -> tuple[Failover, list[FakeEngine]]:
    engines = [FakeEngine(answer) for answer in answers]
    instances = [(f"host{number}", engine) for number, engine in enumerate(engines)]
    return Failover("searxng", instances, timeout, clock or Clock(0.0)), engines


def search(engine: Failover) -> tuple[tuple[Hit, ...], str]:
    hits = asyncio.run(engine.search(REQUEST))
    assert isinstance(hits, NotedHits)
    return hits, hits.note


def request_counts(engines: list[FakeEngine]) -> list[int]:
    return [len(engine.requests) for engine in engines]


def test_only_the_first_healthy_instance_is_queried() -> None:
    engine, engines = make_failover([HIT], [HIT])
    assert search(engine) == ((HIT,), "")
    assert request_counts(engines) == [1, 0]
    assert engine.name == "searxng"


def test_the_next_instance_replaces_one_that_fails_and_a_note_names_it() -> None:
    engine, engines = make_failover(DOWN, [HIT], [HIT])
    assert search(engine) == ((HIT,), "host0 down (connect failure)")
    assert request_counts(engines) == [1, 1, 0]


def test_an_instance_that_hangs_gets_only_its_share_of_the_time() -> None:
    engine, _ = make_failover(HANGS, [HIT])
    assert search(engine) == ((HIT,), "host0 timeout")


def test_an_instance_that_finds_nothing_has_answered() -> None:
    engine, engines = make_failover([], [HIT])
    assert search(engine) == ((), "")
    assert request_counts(engines) == [1, 0]


def test_the_same_failure_of_all_instances_is_raised() -> None:
    engine, _ = make_failover(QUOTA, QUOTA)
    with pytest.raises(KeyholeError) as caught:
        search(engine)
    assert caught.value is QUOTA


def test_different_failures_of_all_instances_are_listed_in_one_error() -> None:
    engine, _ = make_failover(DOWN, QUOTA)
    with pytest.raises(KeyholeError) as caught:
        search(engine)
    assert caught.value.code is Code.ENGINE_UNAVAILABLE
    assert caught.value.message == "host0 down (connect failure), host1 quota"


def test_a_paused_instance_is_queried_last_until_its_pause_is_over() -> None:
    clock = Clock(0.0)
    engine, engines = make_failover(QUOTA, [HIT], clock=clock)
    search(engine)
    assert search(engine) == ((HIT,), "")
    assert request_counts(engines) == [1, 2]
    clock.advance(90.0 + REFUSED_REST)
    engines[0].answer = [HIT]
    search(engine)
    assert request_counts(engines) == [2, 2]


def test_instances_are_queried_even_if_all_of_them_rest() -> None:
    engine, engines = make_failover(QUOTA, QUOTA)
    for _ in range(2):
        with pytest.raises(KeyholeError):
            search(engine)
    engines[1].answer = [HIT]
    assert search(engine)[0] == (HIT,)


def test_an_instance_that_uses_up_the_time_of_several_calls_is_queried_last() -> None:
    clock = Clock(0.0)
    engine, engines = make_failover(HANGS, [HIT], clock=clock, timeout=100.0)

    async def short() -> None:
        async with asyncio.timeout(0.01):
            await engine.search(REQUEST)

    for _ in range(FAILURES):
        with pytest.raises(TimeoutError):
            asyncio.run(short())
    assert search(engine) == ((HIT,), "")
    clock.advance(REST)
    with pytest.raises(TimeoutError):
        asyncio.run(short())
    assert request_counts(engines) == [FAILURES + 1, 1]


def test_failover_supports_the_common_filters_and_keeps_notes() -> None:
    class EngineWithNote(FakeEngine):
        async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
            return NotedHits.with_note([HIT], "without google")

    instances = [
        ("a", FakeEngine(DOWN, supported_filters=frozenset({"news", "language"}))),
        ("b", EngineWithNote(supported_filters=frozenset({"news"}))),
    ]
    engine = Failover("searxng", instances, 1.0, Clock())
    assert engine.supported_filters == {"news"}
    assert search(engine) == ((HIT,), "a down (connect failure); without google")
