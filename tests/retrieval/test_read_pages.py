"""Pages read concurrently: reserves replace failed and late pages, and better pages are waited for up to a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.passages.near_duplicates import sketch
from keyhole.records import Hit, Source
from keyhole.retrieval.read_pages import (
    MIN_GRACE,
    ReadPlan,
    ReadState,
    grace_end,
    is_finished,
    make_plan,
    next_check,
    pages_to_begin,
    read_best,
    unread_source,
)
from tests.support.fakes import artifact

PLAN = ReadPlan(wanted=3, at_once=4, late_after=4.0, start=90.0, until=130.0)
NOW = 101.0
LATE_AFTER = 0.02
"""Seconds after which a page is late in these tests."""
LONG = 5.0
"""Seconds longer than any test."""


def hits(*names: str) -> list[Hit]:
    return [Hit(f"https://{name}.example/", name, "", "fake") for name in names]


class Web:
    """Pages by name, each of which is read, fails, hangs, or waits until another page is begun."""

    def __init__(self, behaviours: Mapping[str, str] | None = None) -> None:
        self.behaviours = dict(behaviours or {})
        self.begun: list[str] = []
        self.cancelled: list[str] = []
        self.events: dict[str, asyncio.Event] = {}
        self.max_open = 0
        self._open = 0

    async def read(self, hit: Hit) -> Source:
        self.begun.append(hit.title)
        self.events.setdefault(hit.title, asyncio.Event()).set()
        self._open += 1
        self.max_open = max(self.max_open, self._open)
        try:
            return await self._answer(hit)
        except asyncio.CancelledError:
            self.cancelled.append(hit.title)
            raise
        finally:
            self._open -= 1

    async def _answer(self, hit: Hit) -> Source:
        behaviour = self.behaviours.get(hit.title, "")
        await asyncio.sleep(0)  # lets all pages that were begun together start
        if behaviour == "fails":
            return unread_source(hit, "not_found")
        if behaviour == "hangs":
            await asyncio.Event().wait()
        if behaviour.startswith("after "):
            await self.events.setdefault(behaviour.removeprefix("after "), asyncio.Event()).wait()
        id = behaviour.removeprefix("is ") if behaviour.startswith("is ") else hit.title
        return Source(
            hit.url, hit.title, artifact=artifact(id), stored=True, sketch=sketch(f"all there is of {id} here")
        )


def read(
    web: Web, names: str, wanted: int = 2, *, at_once: int = 10, until: float = LONG
) -> tuple[dict[str, str], list[tuple[int, str]]]:
    reports: list[tuple[int, str]] = []

    async def on_read(count: int, hit: Hit) -> None:
        reports.append((count, hit.title))

    async def run() -> list[Source]:
        now = asyncio.get_running_loop().time()
        plan = ReadPlan(wanted, at_once, LATE_AFTER, now, now + until)
        async with asyncio.timeout(2 * LONG):
            return await read_best(hits(*names), plan, web.read, on_read)

    sources = asyncio.run(run())
    return {source.title: source.not_read for source in sources}, reports


def test_the_wanted_pages_and_two_spares_are_read() -> None:
    web = Web()
    sources, reports = read(web, "abcdefg")
    assert sources == {"a": "", "b": "", "c": "", "d": ""}
    assert web.begun == ["a", "b", "c", "d"]
    assert [count for count, _ in reports] == [1, 2, 3, 4]


def test_spares_that_hang_are_not_waited_for() -> None:
    web = Web({"c": "hangs", "d": "hangs"})
    sources, _ = read(web, "abcdefg")
    assert sources == {"a": "", "b": ""}  # the spares are not reported as pages that were not read in time
    assert web.begun == ["a", "b", "c", "d"]


def test_each_page_that_fails_is_replaced_by_the_next() -> None:
    web = Web(dict.fromkeys("acd", "fails"))
    sources, _ = read(web, "abcdef")
    assert {name for name, why in sources.items() if not why} == {"b", "e"}
    assert "f" not in web.begun


def test_a_reserve_is_read_beside_a_late_page_which_is_still_used() -> None:
    web = Web({"a": "after e", "c": "fails", "d": "fails"})
    sources, _ = read(web, "abcde")
    assert [name for name, why in sources.items() if not why] == ["a", "b", "e"]


def test_a_page_that_never_ends_is_not_waited_for_once_enough_others_are_read() -> None:
    web = Web({"a": "hangs"})
    sources, _ = read(web, "abc")
    assert list(sources.items()) == [("a", "timed out"), ("b", ""), ("c", "")]
    assert web.cancelled == ["a"]


def test_at_the_deadline_the_read_pages_are_returned_and_the_others_are_named() -> None:
    web = Web({"a": "hangs", "c": "hangs", "d": "hangs"})
    sources, _ = read(web, "abcd", wanted=3, until=4 * LATE_AFTER)
    assert sources == {"a": "timed out", "b": "", "c": "timed out", "d": "timed out"}
    assert sorted(web.cancelled) == ["a", "c", "d"]


def test_without_reserves_a_late_page_is_waited_for_until_the_deadline() -> None:
    sources, _ = read(Web({"a": "hangs"}), "ab", until=4 * LATE_AFTER)
    assert sources == {"a": "timed out", "b": ""}


def test_two_hits_with_one_text_are_one_source_and_a_reserve_is_read() -> None:
    web = Web({"b": "is a"})
    sources, reports = read(web, "abc")
    assert sources == {"a": "", "c": ""}
    assert [count for count, _ in reports] == [1, 2]


def test_the_number_of_concurrent_reads_is_limited() -> None:
    web = Web()
    sources, _ = read(web, "abcdefgh", wanted=8, at_once=3)
    assert len(sources) == 8
    assert web.max_open == 3


def test_without_hits_there_are_no_sources() -> None:
    assert read(Web(), "") == ({}, [])


def test_a_cancelled_call_cancels_its_reads() -> None:
    web = Web({"a": "hangs", "b": "hangs"})

    async def run() -> None:
        async def on_read(count: int, hit: Hit) -> None:
            raise AssertionError

        now = asyncio.get_running_loop().time()
        plan = make_plan(2, 10, LONG, now, now + LONG)
        task = asyncio.ensure_future(read_best(hits("a", "b"), plan, web.read, on_read))
        while len(web.begun) < 2:
            await asyncio.wait([task], timeout=0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert sorted(web.cancelled) == ["a", "b"]


@pytest.mark.parametrize(
    ("state", "count"),
    [
        (ReadState(NOW, 0, 0, 9, (), 0), 4),  # five with the spares, but at most four at once
        (ReadState(NOW, 0, 0, 2, (), 0), 2),
        (ReadState(NOW, 1, 4, 9, (100.0,) * 3, 3), 1),
        (ReadState(NOW, 1, 5, 9, (100.0,) * 2, 2), 0),
        (ReadState(NOW, 1, 5, 9, (100.0,), 1), 1),
        (ReadState(NOW, 1, 5, 9, (96.0, 100.0), 2), 1),
        (ReadState(NOW, 3, 5, 9, (), 0, enough_at=NOW), 0),
        (ReadState(NOW, 0, 8, 9, (90.0,) * 8, 8), 0),
        (ReadState(NOW, 0, 6, 9, (90.0,) * 6, 6), 2),
    ],
)
def test_one_page_is_begun_for_each_missing_one(state: ReadState, count: int) -> None:
    assert pages_to_begin(PLAN, state) == count


@st.composite
def states(draw: st.DrawFn) -> ReadState:
    running = tuple(draw(st.lists(st.floats(90, 100), max_size=9)))
    read = draw(st.integers(0, 5))
    better = draw(st.integers(0, len(running)))
    now = draw(st.floats(100, 140))
    enough_at = draw(st.floats(95, 100)) if read >= PLAN.wanted else None
    return ReadState(now, read, len(running) + read, draw(st.integers(0, 9)), running, better, enough_at)


STATES = states()


@given(STATES)
def test_an_unfinished_plan_begins_a_page_or_waits_for_a_later_check(state: ReadState) -> None:
    if not is_finished(PLAN, state):
        assert state.running or pages_to_begin(PLAN, state)
        assert next_check(PLAN, state) > state.now


@pytest.mark.parametrize(("better", "end"), [(0, 105.0), (1, 110.0)])
def test_other_pages_are_awaited_in_proportion_to_the_time_of_the_wanted_ones(better: int, end: float) -> None:
    state = ReadState(NOW, 3, 5, 9, (90.0,), better, enough_at=100.0)
    assert grace_end(PLAN, state) == end
    assert not is_finished(PLAN, state)
    assert is_finished(PLAN, replace(state, now=end))
    assert is_finished(PLAN, replace(state, running=()))


def test_pages_are_awaited_a_moment_even_if_the_wanted_ones_took_none() -> None:
    state = ReadState(90.0, 3, 5, 9, (90.0,), 0, enough_at=90.0)
    assert grace_end(PLAN, state) == 90.0 + MIN_GRACE
