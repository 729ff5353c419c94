"""Several instances of one engine: the first that is well answers, and what failed before it is told."""

from __future__ import annotations

import asyncio

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import Hits
from keyhole.websearch.breaker import FAILURES, REFUSED_REST, REST
from keyhole.websearch.failover import Failover
from tests.support.fakes import HANGS, Clock, FakeEngine, Hangs

REQUEST = SearchRequest("q", 5)
HIT = Hit("https://a.example/", "A", "", "searxng")
DOWN = KeyholeError(Code.CONNECT_FAILURE, "refused")
QUOTA = KeyholeError(Code.RATE_LIMITED, "slow down", retry_after=90)
Answers = list[Hit] | KeyholeError | Hangs


def failover(*answers: Answers, clock: Clock | None = None, timeout: float = 0.06) -> tuple[Failover, list[FakeEngine]]:
    engines = [FakeEngine(answer) for answer in answers]
    places = [(f"host{number}", engine) for number, engine in enumerate(engines)]
    return Failover("searxng", places, timeout, clock or Clock(0.0)), engines


def search(engine: Failover) -> tuple[tuple[Hit, ...], str]:
    hits = asyncio.run(engine.search(REQUEST))
    assert isinstance(hits, Hits)
    return hits, hits.note


def asked(engines: list[FakeEngine]) -> list[int]:
    return [len(engine.requests) for engine in engines]


def test_the_first_instance_that_is_well_answers_and_no_other_is_asked() -> None:
    engine, places = failover([HIT], [HIT])
    assert search(engine) == ((HIT,), "")
    assert asked(places) == [1, 0]
    assert engine.name == "searxng"


def test_the_next_instance_answers_where_one_fails_and_that_is_told() -> None:
    engine, places = failover(DOWN, [HIT], [HIT])
    assert search(engine) == ((HIT,), "host0 down (connect failure)")
    assert asked(places) == [1, 1, 0]


def test_an_instance_that_hangs_has_only_its_share_of_the_time() -> None:
    engine, _ = failover(HANGS, [HIT])
    assert search(engine) == ((HIT,), "host0 timeout")


def test_an_instance_that_finds_nothing_has_answered() -> None:
    engine, places = failover([], [HIT])
    assert search(engine) == ((), "")
    assert asked(places) == [1, 0]


def test_all_failing_alike_is_that_failure() -> None:
    engine, _ = failover(QUOTA, QUOTA)
    with pytest.raises(KeyholeError) as caught:
        search(engine)
    assert caught.value is QUOTA


def test_all_failing_is_one_failure_with_every_fault() -> None:
    engine, _ = failover(DOWN, QUOTA)
    with pytest.raises(KeyholeError) as caught:
        search(engine)
    assert caught.value.code is Code.ENGINE_UNAVAILABLE
    assert caught.value.message == "host0 down (connect failure), host1 quota"


def test_an_instance_that_rests_is_asked_last_and_first_again_after_its_rest() -> None:
    clock = Clock(0.0)
    engine, places = failover(QUOTA, [HIT], clock=clock)
    search(engine)
    assert search(engine) == ((HIT,), "")
    assert asked(places) == [1, 2]
    clock.advance(90.0 + REFUSED_REST)
    places[0].answer = [HIT]
    search(engine)
    assert asked(places) == [2, 2]


def test_where_every_instance_rests_they_are_asked_all_the_same() -> None:
    engine, places = failover(QUOTA, QUOTA)
    for _ in range(2):
        with pytest.raises(KeyholeError):
            search(engine)
    places[1].answer = [HIT]
    assert search(engine)[0] == (HIT,)


def test_an_instance_at_which_the_whole_time_runs_out_is_asked_last_after_a_few_times() -> None:
    clock = Clock(0.0)
    engine, places = failover(HANGS, [HIT], clock=clock, timeout=100.0)

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
    assert asked(places) == [FAILURES + 1, 1]


def test_it_applies_what_every_instance_applies_and_passes_remarks_on() -> None:
    class Remarking(FakeEngine):
        async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
            return Hits.with_note([HIT], "without google")

    places = [
        ("a", FakeEngine(DOWN, supported_filters=frozenset({"news", "language"}))),
        ("b", Remarking(supported_filters=frozenset({"news"}))),
    ]
    engine = Failover("searxng", places, 1.0, Clock())
    assert engine.supported_filters == {"news"}
    assert search(engine) == ((HIT,), "a down (connect failure); without google")
