"""Pages read at once: reserves stand in for those that fail or are late; better pages are waited for, not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.passages.near_duplicates import sketch
from keyhole.records import Hit, Source
from keyhole.retrieval.read_pages import (
    ReadPlan,
    ReadState,
    is_finished,
    make_plan,
    next_check,
    pages_to_begin,
    read_best,
    unread_source,
)
from tests.support.fakes import artifact

PLAN = ReadPlan(wanted=3, at_once=4, begun=100.0, late_after=4.0, patience=110.0, until=130.0)
NOW = 101.0
SOON = 0.02
"""Seconds after which a page is late in these tests; those that hang never come."""
WHOLE = 5.0
"""Seconds that no test takes."""


def hits(*names: str) -> list[Hit]:
    return [Hit(f"https://{name}.example/", name, "", "fake") for name in names]


class Web:
    """Pages by name: read at once, failing, hanging, or hanging until another one was begun."""

    def __init__(self, fates: Mapping[str, str] | None = None) -> None:
        self.fates = dict(fates or {})
        self.begun: list[str] = []
        self.cancelled: list[str] = []
        self.events: dict[str, asyncio.Event] = {}
        self.most = 0
        self._open = 0

    async def read(self, hit: Hit) -> Source:
        self.begun.append(hit.title)
        self.events.setdefault(hit.title, asyncio.Event()).set()
        self._open += 1
        self.most = max(self.most, self._open)
        try:
            return await self._answer(hit)
        except asyncio.CancelledError:
            self.cancelled.append(hit.title)
            raise
        finally:
            self._open -= 1

    async def _answer(self, hit: Hit) -> Source:
        fate = self.fates.get(hit.title, "")
        await asyncio.sleep(0)  # so that those that were begun together are there together
        if fate == "fails":
            return unread_source(hit, "not_found")
        if fate == "hangs":
            await asyncio.Event().wait()
        if fate.startswith("after "):
            await self.events.setdefault(fate.removeprefix("after "), asyncio.Event()).wait()
        id = fate.removeprefix("is ") if fate.startswith("is ") else hit.title
        return Source(
            hit.url, hit.title, artifact=artifact(id), stored=True, sketch=sketch(f"all there is of {id} here")
        )


def read(
    web: Web, names: str, wanted: int = 2, *, at_once: int = 10, patience: float = WHOLE, until: float = WHOLE
) -> tuple[dict[str, str], list[tuple[int, str]]]:
    told: list[tuple[int, str]] = []

    async def on_read(count: int, hit: Hit) -> None:
        told.append((count, hit.title))

    async def run() -> list[Source]:
        now = asyncio.get_running_loop().time()
        schedule = ReadPlan(wanted, at_once, now, SOON, now + patience, now + until)
        async with asyncio.timeout(2 * WHOLE):
            return await read_best(hits(*names), schedule, web.read, on_read)

    sources = asyncio.run(run())
    return {source.title: source.not_read for source in sources}, told


def test_as_many_as_are_wanted_are_read_with_two_spares_and_no_more() -> None:
    web = Web()
    sources, told = read(web, "abcdefg")
    assert sources == {"a": "", "b": "", "c": "", "d": ""}
    assert web.begun == ["a", "b", "c", "d"]
    assert [count for count, _ in told] == [1, 2, 3, 4]


def test_nobody_waits_for_a_spare_where_the_wanted_pages_are_there() -> None:
    web = Web({"c": "hangs", "d": "hangs"})
    sources, _ = read(web, "abcdefg")
    assert sources == {"a": "", "b": ""}  # nor are the spares told as pages that were not read in time
    assert web.begun == ["a", "b", "c", "d"]


def test_for_each_page_that_fails_the_next_one_is_read() -> None:
    web = Web(dict.fromkeys("acd", "fails"))
    sources, _ = read(web, "abcdef")
    assert {name for name, why in sources.items() if not why} == {"b", "e"}
    assert "f" not in web.begun


def test_beside_a_late_page_a_reserve_is_read_and_the_late_one_is_still_taken() -> None:
    web = Web({"a": "after e", "c": "fails", "d": "fails"})
    sources, _ = read(web, "abcde")
    assert [name for name, why in sources.items() if not why] == ["a", "b", "e"]


def test_a_page_that_never_comes_is_not_waited_for_longer_than_patience_lasts() -> None:
    web = Web({"a": "hangs"})
    sources, _ = read(web, "abc", patience=5 * SOON)
    assert list(sources.items()) == [("a", "timed out"), ("b", ""), ("c", "")]
    assert web.cancelled == ["a"]


def test_at_the_deadline_what_is_there_is_given_and_the_rest_is_named() -> None:
    web = Web({"a": "hangs", "c": "hangs", "d": "hangs"})
    sources, _ = read(web, "abcd", wanted=3, until=4 * SOON)
    assert sources == {"a": "timed out", "b": "", "c": "timed out", "d": "timed out"}
    assert sorted(web.cancelled) == ["a", "c", "d"]


def test_without_reserves_a_late_page_has_until_the_deadline() -> None:
    sources, _ = read(Web({"a": "hangs"}), "ab", patience=SOON, until=4 * SOON)
    assert sources == {"a": "timed out", "b": ""}


def test_two_hits_that_lead_to_one_text_are_one_source_and_a_reserve_is_read() -> None:
    web = Web({"b": "is a"})
    sources, told = read(web, "abc")
    assert sources == {"a": "", "c": ""}
    assert [count for count, _ in told] == [1, 2]


def test_no_more_than_the_setting_says_are_read_at_once() -> None:
    web = Web()
    sources, _ = read(web, "abcdefgh", wanted=8, at_once=3)
    assert len(sources) == 8
    assert web.most == 3


def test_no_hits_are_no_sources() -> None:
    assert read(Web(), "") == ({}, [])


def test_a_call_that_is_cancelled_leaves_no_page_being_read() -> None:
    web = Web({"a": "hangs", "b": "hangs"})

    async def run() -> None:
        async def on_read(count: int, hit: Hit) -> None:
            raise AssertionError

        now = asyncio.get_running_loop().time()
        schedule = make_plan(2, 10, WHOLE, now, now + WHOLE)
        task = asyncio.ensure_future(read_best(hits("a", "b"), schedule, web.read, on_read))
        while len(web.begun) < 2:
            await asyncio.wait([task], timeout=0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert sorted(web.cancelled) == ["a", "b"]


@pytest.mark.parametrize(
    ("standing", "count"),
    [
        (ReadState(NOW, 0, 0, 9, (), 0), 4),  # five with the spares, of which four at once
        (ReadState(NOW, 0, 0, 2, (), 0), 2),
        (ReadState(NOW, 1, 4, 9, (100.0,) * 3, 3), 1),
        (ReadState(NOW, 1, 5, 9, (100.0,) * 2, 2), 0),
        (ReadState(NOW, 1, 5, 9, (100.0,), 1), 1),
        (ReadState(NOW, 1, 5, 9, (96.0, 100.0), 2), 1),
        (ReadState(NOW, 3, 5, 9, (), 0), 0),
        (ReadState(NOW, 0, 8, 9, (90.0,) * 8, 8), 0),
        (ReadState(NOW, 0, 6, 9, (90.0,) * 6, 6), 2),
    ],
)
def test_one_is_begun_for_each_that_is_missing(standing: ReadState, count: int) -> None:
    assert pages_to_begin(PLAN, standing) == count


@st.composite
def standings(draw: st.DrawFn) -> ReadState:
    running = tuple(draw(st.lists(st.floats(90, 100), max_size=9)))
    read = draw(st.integers(0, 5))
    better = draw(st.integers(0, len(running)))
    return ReadState(draw(st.floats(100, 140)), read, len(running) + read, draw(st.integers(0, 9)), running, better)


STANDINGS = standings()


@given(STANDINGS)
def test_whoever_is_not_finished_begins_something_or_waits_for_a_later_moment(standing: ReadState) -> None:
    if not is_finished(PLAN, standing):
        assert standing.running or pages_to_begin(PLAN, standing)
        assert next_check(PLAN, standing) > standing.now
