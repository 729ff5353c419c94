"""Observers of calls, stages and amounts, also for concurrent calls."""

from __future__ import annotations

import asyncio
import timeit
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import pytest

from keyhole.retrieval import instrumentation
from keyhole.retrieval.instrumentation import (
    Amount,
    ObservedCall,
    Stage,
    add_amount,
    count_refusal,
    observe_call,
    observed_by,
    stage,
)
from keyhole.store.calls.base import OK
from tests.support.fakes import page
from tests.support.product import retrieval

who: ContextVar[str] = ContextVar("who", default="nobody")


class Recorder:
    """Observer that records events, stages with the name of their call."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []

    @contextmanager
    def call(self, call: ObservedCall) -> Iterator[None]:
        try:
            yield
        finally:
            self.events.append((call.tool, call.outcome))

    @contextmanager
    def stage(self, name: Stage) -> Iterator[None]:
        self.events.append((who.get(), f"{name}…"))
        try:
            yield
        finally:
            self.events.append((who.get(), name))

    def add(self, what: Amount, amount: int) -> None:
        self.events.append((what, str(amount)))

    def count_refusal(self, reason: str) -> None:
        self.events.append(("refused", reason))

    def count_response(self, status: int) -> None:
        self.events.append(("answered", str(status)))


def test_all_observers_are_notified_until_they_are_removed() -> None:
    one, two = Recorder(), Recorder()
    with observed_by(one), observed_by(two), stage("fetch"):
        add_amount("bytes_in", 7)
        count_refusal("draining")
        instrumentation.count_response(503)
    with stage("fetch"):
        add_amount("bytes_in", 8)
    expected = [("bytes_in", "7"), ("refused", "draining"), ("answered", "503")]
    assert one.events == two.events == [("nobody", "fetch…"), *expected, ("nobody", "fetch")]


def test_a_call_without_an_answer_was_cancelled() -> None:
    recorder = Recorder()
    with observed_by(recorder):
        with pytest.raises(asyncio.CancelledError), observe_call("search", "t"):
            raise asyncio.CancelledError
        with observe_call("search", "t") as observed:
            observed.outcome = OK
    assert recorder.events == [("search", "cancelled"), ("search", "ok")]


def test_a_failing_stage_ends_and_propagates_its_exception() -> None:
    recorder = Recorder()
    with observed_by(recorder), pytest.raises(ValueError, match="as it was"), stage("rank"):
        raise ValueError("as it was")
    assert [what for _, what in recorder.events] == ["rank…", "rank"]


def test_concurrent_calls_report_their_own_stages() -> None:
    recorder = Recorder()

    async def one(name: str) -> None:
        who.set(name)
        with stage("fetch"):
            await asyncio.sleep(0)
            with stage("store"):
                await asyncio.to_thread(rank_in_thread)

    def rank_in_thread() -> None:
        with stage("rank"):
            pass

    async def run() -> None:
        await asyncio.gather(*(one(f"call {number}") for number in range(20)))

    with observed_by(recorder):
        asyncio.run(run())
    for number in range(20):
        own = [what for name, what in recorder.events if name == f"call {number}"]
        assert own == ["fetch…", "store…", "rank…", "rank", "store", "fetch"]
    assert len(recorder.events) == 120


def test_a_fetch_reports_its_stages_and_the_saved_characters() -> None:
    url, recorder = "https://a.example/", Recorder()
    product = retrieval({url: page(url, "<p>" + "Pumps and valves stand here. " * 1_000)})
    with observed_by(recorder):
        asyncio.run(product.web_fetch(url, query="pumps", max_chars=2_000))
    observed = [what for name, what in recorder.events if name == "nobody" and not what.endswith("…")]
    assert list(dict.fromkeys(observed)) == ["store", "fetch", "extract", "rank", "render"]
    amounts = dict(observed for observed in recorder.events if observed[0] in ("bytes_in", "characters_saved"))
    assert int(amounts["bytes_in"]) > 29_000
    assert 26_000 < int(amounts["characters_saved"]) < 29_000


def test_a_stage_without_observers_costs_almost_nothing() -> None:
    def observed() -> None:
        with stage("fetch"):
            pass

    # Ten times the present cost, which benchmarks/server/overhead.py measures.
    assert min(timeit.repeat(observed, number=10_000, repeat=5)) / 10_000 < 5e-6
