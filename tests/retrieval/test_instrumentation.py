"""What calls tell of themselves: to all who listen, however many calls run at once."""

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
from tests.support.fakes import page
from tests.support.product import retrieval

who: ContextVar[str] = ContextVar("who", default="nobody")


class Notes:
    """Writes down what it is told, by the call that told it."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    @contextmanager
    def call(self, call: ObservedCall) -> Iterator[None]:
        try:
            yield
        finally:
            self.told.append((call.tool, call.outcome))

    @contextmanager
    def stage(self, name: Stage) -> Iterator[None]:
        self.told.append((who.get(), f"{name}…"))
        try:
            yield
        finally:
            self.told.append((who.get(), name))

    def add(self, what: Amount, amount: int) -> None:
        self.told.append((what, str(amount)))

    def refused(self, reason: str) -> None:
        self.told.append(("refused", reason))

    def answered(self, status: int) -> None:
        self.told.append(("answered", str(status)))


def test_all_who_listen_are_told_until_they_no_longer_listen() -> None:
    one, two = Notes(), Notes()
    with observed_by(one), observed_by(two), stage("fetch"):
        add_amount("bytes_in", 7)
        count_refusal("draining")
        instrumentation.count_response(503)
    with stage("fetch"):
        add_amount("bytes_in", 8)
    expected = [("bytes_in", "7"), ("refused", "draining"), ("answered", "503")]
    assert one.told == two.told == [("nobody", "fetch…"), *expected, ("nobody", "fetch")]


def test_a_call_without_an_answer_was_cancelled() -> None:
    notes = Notes()
    with observed_by(notes):
        with pytest.raises(asyncio.CancelledError), observe_call("search", "t"):
            raise asyncio.CancelledError
        with observe_call("search", "t") as told:
            told.outcome = instrumentation.OK
    assert notes.told == [("search", "cancelled"), ("search", "ok")]


def test_a_stage_that_fails_ends_and_fails_on() -> None:
    notes = Notes()
    with observed_by(notes), pytest.raises(ValueError, match="as it was"), stage("rank"):
        raise ValueError("as it was")
    assert [what for _, what in notes.told] == ["rank…", "rank"]


def test_calls_at_once_tell_of_themselves_and_not_of_each_other() -> None:
    notes = Notes()

    async def one(name: str) -> None:
        who.set(name)
        with stage("fetch"):
            await asyncio.sleep(0)
            with stage("store"):
                await asyncio.to_thread(in_thread)

    def in_thread() -> None:
        with stage("rank"):
            pass

    async def run() -> None:
        await asyncio.gather(*(one(f"call {number}") for number in range(20)))

    with observed_by(notes):
        asyncio.run(run())
    for number in range(20):
        own = [what for name, what in notes.told if name == f"call {number}"]
        assert own == ["fetch…", "store…", "rank…", "rank", "store", "fetch"]
    assert len(notes.told) == 120


def test_a_fetch_tells_its_stages_and_what_it_spared_its_reader() -> None:
    url, notes = "https://a.example/", Notes()
    product = retrieval({url: page(url, "<p>" + "Pumps and valves stand here. " * 1_000)})
    with observed_by(notes):
        asyncio.run(product.web_fetch(url, query="pumps", max_chars=2_000))
    told = [what for name, what in notes.told if name == "nobody" and not what.endswith("…")]
    assert list(dict.fromkeys(told)) == ["store", "fetch", "extract", "rank", "render"]
    amounts = dict(told for told in notes.told if told[0] in ("bytes_in", "characters_saved"))
    assert int(amounts["bytes_in"]) > 29_000
    assert 26_000 < int(amounts["characters_saved"]) < 29_000


def test_telling_nobody_costs_next_to_nothing() -> None:
    def told() -> None:
        with stage("fetch"):
            pass

    # Ten times what it takes: a figure is measured by benchmarks/instrumentation.py, this only keeps it from growing a part.
    assert min(timeit.repeat(told, number=10_000, repeat=5)) / 10_000 < 5e-6
