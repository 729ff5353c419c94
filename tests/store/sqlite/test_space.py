"""Tests of the size of the SQLite store: used bytes, eviction, and shrinking the file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.errors import Code
from keyhole.store.base import Store
from keyhole.store.sqlite.rows import MAX_TOMBSTONES
from keyhole.store.sqlite.space import SPARE_PAGES, EvictionCandidate, choose_evictions
from tests.support.fakes import Clock, artifact
from tests.support.store_contract import DAY, TTL, code_of
from tests.support.stores import Open, failure, noise

BARE = 160_000
"""Maximum bytes of an empty file with the search words of a few artifacts."""
PAGE = 130_000
"""Maximum bytes of an artifact of a hundred thousand characters."""
CHARS = 100_000


def put_pages(
    store: Store, clock: Clock, count: int, *, step: float = DAY, start: int = 0, indexed: bool = False
) -> None:
    """Put `count` pages of CHARS characters named `page{start}` and so on, `step` seconds apart.

    `indexed`: True for pages that a search finds. Dropping one takes a tenth of a second, because noise has many words.
    """
    for n in range(start, start + count):
        page = artifact(f"page{n}", noise(CHARS, n), url=f"https://example.org/{n}", fetched_at=clock.now)
        store.put(page, f"word w{n}" if indexed else "")
        clock.advance(step)


def stored_ids(store: Store) -> set[str]:
    return {row.id for row in store.list(1_000)}


def test_the_least_recently_read_are_evicted_first_and_leave_their_url(open_store: Open, clock: Clock) -> None:
    store = open_store(max_bytes=BARE + 4 * PAGE)
    put_pages(store, clock, 4, indexed=True)
    store.part("page0", 5, 9)
    clock.advance(DAY)
    put_pages(store, clock, 2, start=4, indexed=True)
    assert {"page0", "page3", "page4", "page5"} >= stored_ids(store) >= {"page0", "page4", "page5"}
    error = failure(lambda: store.get("page1"))
    assert error.code is Code.EXPIRED_ARTIFACT
    assert error.facts == {"url": "https://example.org/1"}
    assert {found.id for found in store.search(("word",), 10)} == stored_ids(store)
    assert store.search(("w1",), 10) == ()
    assert store.stats().stored_bytes <= store.stats().max_bytes


def test_stored_bytes_are_the_used_pages_of_the_file(open_store: Open, folder: Path) -> None:
    store = open_store(max_bytes=10**7)
    before = store.stats().stored_bytes
    store.put(artifact("a", "the same words " * 100_000), "x")
    store.put(artifact("b", "the same words " * 100_000, url="https://b.example/"), "x")
    assert store.stats().text_bytes == 3_000_000
    assert store.stats().stored_bytes - before < 20_000, "compressed, and once"
    store.put(artifact("c", noise(CHARS)), "x")
    assert CHARS < store.stats().stored_bytes - before < PAGE + 40_000
    store.keep_vectors({b"key": bytes(500_000)})
    store.remember(n.to_bytes(16, "big") for n in range(10_000))
    assert store.stats().stored_bytes - before > CHARS + 800_000
    assert store.stats().stored_bytes <= (folder / "artifacts.db").stat().st_size


def test_stored_bytes_are_correct_after_a_kill(open_store: Open, folder: Path) -> None:
    store = open_store()
    store.put(artifact("a", noise(CHARS)), "x")
    with closing(sqlite3.connect(folder / "artifacts.db")) as file:
        pages, free = (next(file.execute(f"PRAGMA {name}"))[0] for name in ("page_count", "freelist_count"))
    assert open_store().stats().stored_bytes == (pages - free) * 4_096


def test_vectors_and_url_keys_leave_space_for_artifacts(open_store: Open, clock: Clock) -> None:
    store = open_store(max_bytes=4_000_000)
    put_pages(store, clock, 5)
    for batch in range(20):
        store.keep_vectors({bytes([batch, n]): bytes(4_096) for n in range(50)})
        store.remember(bytes([batch]) + n.to_bytes(15, "big") for n in range(1_000))
    put_pages(store, clock, 1, start=5)
    assert len(stored_ids(store)) == 6
    assert store.stats().stored_bytes < 3_000_000
    assert store.remembers(bytes([19]) + bytes(15))
    assert set(store.vectors([bytes([19, n]) for n in range(50)])) == {bytes([19, n]) for n in range(50)}


def test_a_pinned_artifact_is_not_evicted(open_store: Open, clock: Clock) -> None:
    store = open_store(max_bytes=BARE + 4 * PAGE)
    put_pages(store, clock, 3)
    store.pin("page0", True)
    put_pages(store, clock, 3, start=3)
    assert {"page0", "page4", "page5"} <= stored_ids(store) <= {"page0", "page3", "page4", "page5"}
    assert store.stats().stored_bytes <= store.stats().max_bytes


def test_pinned_artifacts_take_at_most_half_of_the_store(open_store: Open, clock: Clock) -> None:
    store = open_store(max_bytes=BARE + 4 * PAGE)
    put_pages(store, clock, 3)
    assert store.pin("page0", True)
    assert store.pin("page1", True)
    error = failure(lambda: store.pin("page2", True))
    assert (error.code, "unpin another one" in error.message) == (Code.INVALID_ARGUMENT, True)
    assert store.pin("page1", True)
    assert store.pin("page1", False)
    assert store.pin("page2", True)


def test_a_text_larger_than_the_whole_store_is_rejected(open_store: Open, clock: Clock) -> None:
    store = open_store(max_bytes=BARE + 2 * PAGE)
    put_pages(store, clock, 2)
    huge = artifact("huge", noise(BARE + 3 * PAGE))
    assert failure(lambda: store.put(huge, "x")).code is Code.STORE_UNAVAILABLE
    assert stored_ids(store) == {"page0", "page1"}, "no other artifact is evicted"


def test_the_last_put_is_never_evicted(open_store: Open, clock: Clock) -> None:
    store = open_store(max_bytes=BARE)
    put_pages(store, clock, 3)
    assert stored_ids(store) == {"page2"}


def test_a_store_whose_limit_was_lowered_shrinks_when_it_collects(open_store: Open, clock: Clock) -> None:
    put_pages(open_store(), clock, 5)
    assert open_store(max_bytes=BARE + 2 * PAGE).collect() in (2, 3)
    assert {"page3", "page4"} <= stored_ids(open_store()) <= {"page2", "page3", "page4"}


def test_a_clock_that_was_set_back_does_not_evict_new_artifacts_first(open_store: Open, clock: Clock) -> None:
    store = open_store(max_bytes=BARE + 3 * PAGE)
    put_pages(store, clock, 3)
    clock.advance(-400 * DAY)
    put_pages(store, clock, 2, start=3)
    assert {"page3", "page4"} <= stored_ids(store)
    assert "page0" not in stored_ids(store)
    clock.advance(2 * DAY)
    assert store.get("page4").text == noise(CHARS, 4)
    assert store.collect() == 0


def test_collect_drops_artifacts_that_expired_out_of_order(open_store: Open, clock: Clock) -> None:
    store = open_store()
    clock.advance(50 * DAY)
    put_pages(store, clock, 1, step=0)
    clock.advance(-50 * DAY)
    put_pages(store, clock, 2, step=0, start=1)
    clock.advance(TTL + 1)
    assert store.collect() == 2
    assert stored_ids(store) == {"page0"}


def test_artifacts_read_within_the_last_minutes_are_evicted_last(open_store: Open, clock: Clock) -> None:
    store = open_store(max_bytes=BARE + 3 * PAGE)
    put_pages(store, clock, 3, step=10)
    clock.advance(150)
    store.get("page0")
    put_pages(store, clock, 2, step=1, start=3)
    assert "page0" in stored_ids(store)
    assert "page1" not in stored_ids(store)


def test_the_file_shrinks_after_artifacts_are_dropped(open_store: Open, folder: Path, clock: Clock) -> None:
    store = open_store()
    put_pages(store, clock, 100, step=1)
    assert (folder / "artifacts.db").stat().st_size > 100 * CHARS
    clock.advance(TTL + DAY)
    put_pages(store, clock, 1, start=100)
    assert len(stored_ids(store)) == 1
    assert store.collect() in range(60, 71)
    assert (folder / "artifacts.db").stat().st_size < SPARE_PAGES * 4_096 + BARE + 3 * PAGE
    assert store.verify().checked == 1


def test_puts_shrink_the_file_gradually(open_store: Open, folder: Path, clock: Clock) -> None:
    store = open_store()
    put_pages(store, clock, 80, step=1)
    size = (folder / "artifacts.db").stat().st_size
    small = open_store(max_bytes=BARE + 10 * PAGE)
    put_pages(small, clock, 12, start=80)
    assert len(stored_ids(small)) <= 11
    assert (folder / "artifacts.db").stat().st_size < size


def test_the_oldest_tombstones_are_dropped(open_store: Open, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_TOMBSTONES >= 1_000
    monkeypatch.setattr("keyhole.store.sqlite.rows.MAX_TOMBSTONES", 3)
    store = open_store()
    for n in range(5):
        store.put(artifact(f"id{n}"), "x")
        clock.advance(1)
    clock.advance(TTL + 1)
    assert store.collect() == 5
    codes = [code_of(store, f"id{n}") for n in range(5)]
    assert codes == [Code.UNKNOWN_ARTIFACT] * 2 + [Code.EXPIRED_ARTIFACT] * 3
    assert store.stats().tombstones == 3


# Evictions

ROWS = [EvictionCandidate(key, 10, float(key)) for key in (1, 2, 3, 4)]


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
    back = [EvictionCandidate(1, 10, 900.0), EvictionCandidate(2, 10, 5.0), EvictionCandidate(3, 10, 6.0)]
    assert choose_evictions(back, 5, expired_before=0.0) == [1]
    assert choose_evictions(back, 0, expired_before=5.5) == [2]


@given(st.lists(st.tuples(st.integers(1, 50), st.floats(0, 9))), st.integers(-9, 400), st.floats(0, 9))
def test_no_more_is_evicted_than_necessary(rows: list[tuple[int, float]], excess: int, before: float) -> None:
    candidates = [EvictionCandidate(key, size, access) for key, (size, access) in enumerate(rows, start=1)]
    evicted = choose_evictions(candidates, excess, before)
    unexpired = [each for each in candidates if each.key in evicted and each.last_access >= before]
    freed = sum(each.size for each in candidates if each.key in evicted)
    assert all(each.key in evicted for each in candidates if each.last_access < before)
    assert not unexpired or freed - unexpired[-1].size < excess
    assert freed >= excess or len(evicted) == len(candidates)
