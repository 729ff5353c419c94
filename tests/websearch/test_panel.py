"""Test querying several engines: preference and reserves, timeouts, rests, phrasings and reports."""

from __future__ import annotations

import asyncio
import gc
import time
import weakref
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.records import EngineReport, Hit, SearchRequest
from keyhole.render.sources import search_status
from keyhole.runtime.owner import owned_by
from keyhole.websearch.filters import HITS_PER_RESULT
from keyhole.websearch.hits import NotedHits
from keyhole.websearch.panel import MAX_ENGINE_REQUESTS, MAX_REQUESTS, MAX_SHARED_REQUESTS, Panel, PanelResult
from tests.support.fakes import HANGS, Clock, FakeEngine

QUESTION = SearchRequest("q", 3)
SHORT, LONG = 0.03, 20.0
"""Seconds: a timeout that expires, and one that never does."""
PATIENCE = 5.0
"""Seconds after which a call counts as hanging, even on a busy machine; its own deadline is at most one second."""
QUOTA = KeyholeError(Code.RATE_LIMITED, "slow down")
DOWN = KeyholeError(Code.ENGINE_UNAVAILABLE, "HTTP 500")
NO_NEWS = frozenset({"sites", "exclude_sites", "freshness", "language", "country"})


def hits(engine: str, count: int = 3) -> list[Hit]:
    return [Hit(f"https://{engine}{number}.example/", engine, "", engine) for number in range(count)]


def healthy(name: str, count: int = 3) -> FakeEngine:
    return FakeEngine(hits(name, count), name)


def search(panel: Panel, *requests: SearchRequest, seconds: float | None = None) -> PanelResult:
    async def run() -> PanelResult:
        until = None if seconds is None else asyncio.get_running_loop().time() + seconds
        return await panel.search(requests or [QUESTION], until)

    return asyncio.run(run())


def failure(panel: Panel, *requests: SearchRequest, seconds: float | None = None) -> str:
    with pytest.raises(KeyholeError) as caught:
        search(panel, *requests, seconds=seconds)
    assert caught.value.code in {Code.ENGINE_UNAVAILABLE, Code.KEY_REFUSED}
    return caught.value.message


def faults(result: PanelResult) -> dict[str, str]:
    return {report.name: report.fault for report in result.reports}


class Gated(FakeEngine):
    """An engine that waits for `after`, then sets `before` and answers. Counts its concurrent requests."""

    def __init__(self, name: str, after: asyncio.Event | None = None, before: asyncio.Event | None = None) -> None:
        super().__init__(hits(name), name)
        self.after, self.before = after, before
        self.running = self.most = 0

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        self.running += 1
        self.most = max(self.most, self.running)
        if self.after:
            await self.after.wait()
        if self.before:
            self.before.set()
        await asyncio.sleep(0)
        self.running -= 1
        return await super().search(request)


async def settle() -> None:
    """Let all tasks run until they wait."""
    for _ in range(20):
        await asyncio.sleep(0)


# Preference and reserves.


def test_lists_are_in_order_of_preference_whichever_engine_was_first() -> None:
    done = asyncio.Event()
    panel = Panel([Gated("a", after=done), Gated("b", before=done)])
    assert [result[0].engine for result in search(panel).lists] == ["a", "b"]


def test_only_the_configured_number_of_engines_is_queried() -> None:
    engines = [healthy(name) for name in "abcd"]
    result = search(Panel(engines, count=2))
    assert [len(engine.requests) for engine in engines] == [1, 1, 0, 0]
    assert faults(result) == {"a": "", "b": ""}


def test_one_reserve_replaces_each_engine_that_fails() -> None:
    engines = [FakeEngine(QUOTA, "a"), FakeEngine(DOWN, "b"), healthy("c"), healthy("d")]
    result = search(Panel(engines, count=1))
    assert faults(result) == {"a": "quota", "b": "down (HTTP 500)", "c": ""}
    assert [len(engine.requests) for engine in engines] == [1, 1, 1, 0]


def test_no_reserve_replaces_an_engine_that_found_nothing() -> None:
    engines = [FakeEngine((), "a"), healthy("b")]
    assert search(Panel(engines, count=1)) == PanelResult((), (EngineReport("a"),))
    assert engines[1].requests == []


def test_all_engines_failing_is_engine_unavailable_with_every_fault() -> None:
    engines = [
        FakeEngine(QUOTA, "a"),
        FakeEngine(KeyholeError(Code.KEY_REFUSED, "m"), "b"),
        FakeEngine(KeyholeError(Code.BOT_CHALLENGE, "m"), "c"),
        FakeEngine(KeyholeError(Code.DNS_FAILURE, "m"), "d"),
    ]
    assert failure(Panel(engines)) == "a: quota; b: bad key; c: challenge; d: down (dns failure)"


def test_without_engines_the_missing_settings_are_reported() -> None:
    assert failure(Panel([])) == "no search engine is set up"
    missing = Panel([], missing=["brave needs KEYHOLE_BRAVE_KEY"])
    assert failure(missing) == "no search engine is set up: brave needs KEYHOLE_BRAVE_KEY"


@pytest.mark.parametrize(
    ("engines", "code"),
    [
        ([], Code.KEY_REFUSED),
        ([FakeEngine(KeyholeError(Code.KEY_REFUSED, "m"), "a")], Code.KEY_REFUSED),
        ([FakeEngine(KeyholeError(Code.KEY_REFUSED, "m"), "a"), FakeEngine(QUOTA, "b")], Code.ENGINE_UNAVAILABLE),
    ],
)
def test_the_error_code_is_retryable_only_if_a_retry_may_help(engines: list[FakeEngine], code: Code) -> None:
    with pytest.raises(KeyholeError) as caught:
        search(Panel(engines))
    assert caught.value.code is code


def test_a_parsing_bug_of_one_engine_does_not_affect_the_others(caplog: pytest.LogCaptureFixture) -> None:
    result = search(Panel([FakeEngine(KeyError("secret"), "a"), healthy("b")]))
    assert faults(result) == {"a": "down (its answer could not be read)", "b": ""}
    assert "a: KeyError" in caplog.text
    assert "secret" not in caplog.text


# Timeouts and the grace period.


class Body:
    """What an engine reads when it fails."""


class ReadingEngine(FakeEngine):
    """Fails while a frame holds a body."""

    bodies: ClassVar[list[weakref.ref[Body]]] = []

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        body = Body()
        self.bodies.append(weakref.ref(body))
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, f"it fails with {type(body).__name__}")


def test_what_a_failing_engine_read_is_freed_without_a_garbage_collection() -> None:
    gc.collect()
    gc.disable()
    try:
        search(Panel([ReadingEngine(name="reading"), healthy("b")]))
        assert [body() for body in ReadingEngine.bodies] == [None]
    finally:
        gc.enable()


def test_a_slow_engine_is_dropped_after_the_grace_period() -> None:
    result = search(Panel([FakeEngine(HANGS, "a"), healthy("b")], grace=SHORT, patience=SHORT, timeout=LONG))
    assert faults(result) == {"a": "slow", "b": ""}
    assert len(result.lists) == 1


def test_an_engine_that_answers_within_the_grace_counts() -> None:
    done = asyncio.Event()
    result = search(Panel([Gated("a", after=done), Gated("b", before=done)], grace=LONG))
    assert faults(result) == {"a": "", "b": ""}


def test_the_most_preferred_engine_gets_more_than_the_grace_period() -> None:
    done = asyncio.Event()
    panel = Panel([FakeEngine(DOWN, "a"), Gated("b", after=done), Gated("c", before=done)], grace=0.0, patience=LONG)
    assert faults(search(panel)) == {"a": "down (HTTP 500)", "b": "", "c": ""}


def test_a_less_preferred_engine_gets_only_the_grace_period() -> None:
    panel = Panel([healthy("a"), FakeEngine(HANGS, "b")], grace=SHORT, patience=LONG, timeout=LONG)
    assert faults(search(panel)) == {"a": "", "b": "slow"}


def test_few_hits_are_enough_once_half_of_the_engines_answered() -> None:
    result = search(Panel([healthy("a", 1), FakeEngine(DOWN, "b"), FakeEngine(HANGS, "c")], grace=SHORT, timeout=LONG))
    assert faults(result) == {"a": "", "b": "down (HTTP 500)", "c": "slow"}


def test_empty_answers_are_not_enough_to_drop_an_engine() -> None:
    result = search(Panel([FakeEngine((), "a"), FakeEngine((), "b"), FakeEngine(HANGS, "c")], grace=0.0, timeout=SHORT))
    assert faults(result) == {"a": "", "b": "", "c": "timeout"}


def test_a_reserve_replaces_an_engine_that_times_out() -> None:
    result = search(Panel([FakeEngine(HANGS, "a"), healthy("b")], count=1, timeout=SHORT))
    assert faults(result) == {"a": "timeout", "b": ""}


def test_a_short_call_leaves_time_for_the_reserve_and_for_pages() -> None:
    started = time.monotonic()
    result = search(Panel([FakeEngine(HANGS, "a"), healthy("b")], count=1), seconds=1.0)
    assert faults(result) == {"a": "timeout", "b": ""}
    assert time.monotonic() - started < PATIENCE


def test_a_call_after_its_deadline_queries_no_engine() -> None:
    engine = healthy("a")
    assert failure(Panel([engine]), seconds=-1.0) == "no time was left to query an engine"
    assert engine.requests == []


def test_tasks_of_dropped_engines_have_ended_when_the_call_returns() -> None:
    async def run() -> set[asyncio.Task[Any]]:
        await Panel([FakeEngine(HANGS, "a"), healthy("b")], grace=0.0, patience=0.0).search([QUESTION])
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(run()) == set()


# Rests.


def test_a_reserve_replaces_an_engine_that_rests_after_a_refusal() -> None:
    clock = Clock(0.0)
    a = FakeEngine(QUOTA, "a")
    panel = Panel([a, healthy("b")], count=1, ticks=clock)
    search(panel)
    assert faults(search(panel)) == {"a": "paused after quota", "b": ""}
    assert len(a.requests) == 1
    clock.advance(61.0)
    a.answer = hits("a")
    assert faults(search(panel)) == {"a": ""}
    assert faults(search(panel)) == {"a": ""}


def test_an_engine_rests_as_long_as_its_retry_after() -> None:
    clock = Clock(0.0)
    a = FakeEngine(KeyholeError(Code.RATE_LIMITED, "m", retry_after=300), "a")
    panel = Panel([a], ticks=clock)
    assert failure(panel) == "a: quota"
    clock.advance(299.0)
    assert failure(panel) == "a: paused after quota"
    clock.advance(1.0)
    assert failure(panel) == "a: quota"


def test_an_engine_that_is_always_slow_rests() -> None:
    a = FakeEngine(HANGS, "a")
    panel = Panel([a, healthy("b")], grace=0.0, patience=0.0, timeout=LONG, ticks=Clock(0.0))
    results = [faults(search(panel))["a"] for _ in range(4)]
    assert results == ["slow", "slow", "slow", "paused after slow answers"]
    assert len(a.requests) == 3


def test_only_one_of_several_concurrent_calls_tries_an_engine_after_its_rest() -> None:
    clock = Clock(0.0)
    a = FakeEngine(QUOTA, "a")
    panel = Panel([a, healthy("b")], count=1, ticks=clock)
    search(panel)
    clock.advance(61.0)

    async def run() -> list[PanelResult]:
        return await asyncio.gather(*(panel.search([QUESTION]) for _ in range(3)))

    results = [faults(result)["a"] for result in asyncio.run(run())]
    assert results == ["quota", "paused after quota", "paused after quota"]


def test_after_a_cancelled_trial_the_next_call_tries_the_engine() -> None:
    clock = Clock(0.0)
    a = FakeEngine(QUOTA, "a")
    panel = Panel([a], ticks=clock)
    failure(panel)
    clock.advance(61.0)
    a.answer = HANGS

    async def run() -> None:
        task = asyncio.create_task(panel.search([QUESTION]))
        for _ in range(10):  # turns of the loop until it hangs in the engine
            await asyncio.sleep(0)
        assert len(a.requests) == 2
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    a.answer = hits("a")
    assert faults(search(panel)) == {"a": ""}


# Phrasings.


class Picky(FakeEngine):
    """An engine that fails at some phrasings."""

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        self.requests.append(request)
        if request.query in {"bad", "worse"}:
            raise QUOTA
        if request.query == "hang":
            await asyncio.Event().wait()
        return NotedHits.with_note(hits(request.query), "without google")


def phrasings(*queries: str) -> list[SearchRequest]:
    return [SearchRequest(query, 3) for query in queries]


def test_every_engine_returns_a_list_for_every_phrasing() -> None:
    result = search(Panel([Picky(name="a"), Picky(name="b")]), *phrasings("x", "y"))
    assert [hit_list[0].title for hit_list in result.lists] == ["x", "y", "x", "y"]


def test_an_engine_that_fails_at_some_phrasings_reports_them_in_a_note() -> None:
    result = search(Panel([Picky(name="a")]), *phrasings("x", "bad", "worse"))
    assert result.reports == (EngineReport("a", note="quota for 2 of 3 phrasings; without google"),)
    assert len(result.lists) == 1


def test_a_phrasing_that_hangs_is_dropped_and_the_others_count() -> None:
    result = search(Panel([Picky(name="a")], grace=SHORT, patience=SHORT, timeout=LONG), *phrasings("hang", "x"))
    assert result.reports == (EngineReport("a", note="slow for 1 of 2 phrasings; without google"),)


def test_concurrent_requests_are_limited_per_engine_and_per_call() -> None:
    engines = [Gated(name) for name in "abcdef"]
    running: list[int] = []

    class Counting(Gated):
        async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
            running.append(1 + sum(engine.running for engine in engines))
            return await super().search(request)

    engines = [Counting(name) for name in "abcdef"]
    result = search(Panel(engines, count=6), *phrasings(*"123456"))
    assert len(result.lists) == 36
    assert max(engine.most for engine in engines) == MAX_ENGINE_REQUESTS
    assert max(running) <= MAX_REQUESTS


def test_the_requests_of_another_owner_do_not_wait_for_those_of_a_busy_one() -> None:
    async def main() -> None:
        opened = asyncio.Event()
        engine = Gated("a", opened)
        panel = Panel([engine], timeout=PATIENCE)

        async def ask(owner: str, *names: str) -> PanelResult:
            with owned_by(owner):
                return await panel.search(phrasings(*names))

        busy = [asyncio.create_task(ask("busy", *"123")) for _ in range(2 * MAX_SHARED_REQUESTS)]
        await settle()
        assert engine.running == MAX_SHARED_REQUESTS - MAX_ENGINE_REQUESTS
        other = asyncio.create_task(ask("other", "4"))
        await settle()
        assert engine.running == MAX_SHARED_REQUESTS - MAX_ENGINE_REQUESTS + 1
        opened.set()
        await other
        assert not all(call.done() for call in busy)
        assert len(await asyncio.gather(*busy)) == len(busy)

    asyncio.run(main())


def test_an_engine_whose_requests_only_waited_for_other_calls_does_not_rest() -> None:
    async def main() -> str:
        engine = Gated("a", asyncio.Event())
        panel = Panel([engine], timeout=SHORT)
        async with AsyncExitStack() as stack:
            for _ in range(MAX_SHARED_REQUESTS - MAX_ENGINE_REQUESTS):
                await stack.enter_async_context(panel.slots["a"].slot())
            for _ in range(5):
                with pytest.raises(KeyholeError):
                    await panel.search([QUESTION])
        return panel.breakers.open_fault("a")

    assert asyncio.run(main()) == ""


# Filters.


def test_engines_without_news_are_not_queried_for_news() -> None:
    a = FakeEngine(hits("a"), "a", NO_NEWS)
    result = search(Panel([a, healthy("b")]), SearchRequest("q", 3, kind="news"))
    assert result.reports == (EngineReport("b"),)
    assert a.requests == []


def test_if_no_engine_has_news_web_pages_are_returned_and_reported() -> None:
    a = FakeEngine(hits("a"), "a", NO_NEWS)
    result = search(Panel([a]), SearchRequest("q", 3, kind="news"))
    assert result.reports == (EngineReport("a", unapplied=("news",)),)
    assert [request.kind for request in a.requests] == ["web"]


def test_filtered_hits_are_not_returned_and_do_not_count_as_enough() -> None:
    a = FakeEngine([Hit("https://x.example/", "x", "", "a", "2001-01-01")] * 9, "a", frozenset())
    panel = Panel([a, FakeEngine(HANGS, "b")], grace=0.0, timeout=SHORT, clock=Clock())
    result = search(panel, SearchRequest("q", 3, freshness="week"))
    assert result.lists == ()
    assert faults(result) == {"a": "", "b": "timeout"}


# Everything together.

ANSWERS = st.sampled_from([
    HANGS, QUOTA, DOWN, KeyholeError(Code.TIMEOUT, "m"), ValueError("x"), (), hits("x", 1), hits("y", 9),
    [Hit("", "", "", "")], [Hit("http://[", "\x00", "", "e", "not a date")],
])  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(ANSWERS, min_size=1, max_size=6), st.integers(1, 4), st.integers(1, 3))
def test_any_mix_of_engines_ends_in_time_with_hits_or_every_fault(
    answers: Sequence[Any], count: int, phrasing_count: int
) -> None:
    engines = [FakeEngine(answer, f"engine{number}") for number, answer in enumerate(answers)]
    panel = Panel(engines, count=count, timeout=SHORT, grace=0.01, patience=0.02)
    started = time.monotonic()
    try:
        result = search(panel, *phrasings(*"abc"[:phrasing_count]), seconds=0.1)
    except KeyholeError as error:
        assert error.code is Code.ENGINE_UNAVAILABLE
        assert all(f"engine{n}" in error.message for n, engine in enumerate(engines) if engine.requests)
    else:
        assert {report.name for report in result.reports} >= {engine.name for engine in engines if engine.requests}
        assert all(len(hit_list) <= 3 * HITS_PER_RESULT for hit_list in result.lists)
    assert time.monotonic() - started < PATIENCE


def test_the_status_line_lists_failed_engines_and_unapplied_filters() -> None:
    reports = [
        EngineReport("searxng", note="without google"),
        EngineReport("brave", "quota"),
        EngineReport("mojeek", unapplied=("freshness", "country")),
        EngineReport("wikipedia", unapplied=("freshness", "news")),
    ]
    assert search_status(5, 5, reports, 0, "web") == (
        "5 sources from the web. 3 of 4 engines; brave: quota. searxng: without google. "
        "freshness not applied by mojeek, wikipedia. country not applied by mojeek. "
        "No news by wikipedia: web pages instead."
    )
    assert search_status(1, 1, [EngineReport("a")], 0, "web") == "1 source from the web."


def test_the_default_count_of_a_panel_equals_that_of_the_settings() -> None:
    assert Panel([]).count == Config().engine_count
