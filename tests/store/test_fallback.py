"""Tests of the fallback to memory: it works while the disk fails, and everything moves to the disk afterwards."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.store.base import Limits, Store
from keyhole.store.fallback import (
    ARTIFACTS_PER_MOVE,
    FIRST_PAUSE,
    KEPT_IN_MEMORY,
    LONGEST_PAUSE,
    MAX_PENDING_KEYS,
    Backoff,
    FallbackStore,
)
from keyhole.store.filters import ALL
from keyhole.store.forget_mark import ForgetMark
from keyhole.store.sqlite.store import MEMORY_LIMITS, MemoryStore, SqliteStore
from tests.support.fakes import BrokenStore, Clock, artifact
from tests.support.store_contract import DAY, TTL, StoreContract, code_of
from tests.support.stores import noise

GB = 1024**3
CALLS = frozenset(name for name in vars(BrokenStore) if not name.startswith("_")) - {"warning", "close"}
WRITES = frozenset({"put", "renew", "remember", "keep_vectors", "remove", "collect"})
NO_CALLS = frozenset[str]()


class Disk(MemoryStore):
    """A store that fails the calls named in `fails` and puts of the ids in `too_large`; `calls` lists all calls."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, replace(MEMORY_LIMITS, ttl=TTL))
        self.fails: frozenset[str] = frozenset()
        self.too_large: set[str] = set()
        self.calls: list[str] = []

    def __getattribute__(self, name: str) -> object:
        found = super().__getattribute__(name)
        # Calls by the store's own methods are not counted.
        if name not in CALLS or sys._getframe(1).f_globals["__name__"] == SqliteStore.__module__:
            return found

        def call(*arguments: object, **options: object) -> object:
            self.calls.append(name)
            if name in self.fails or (name == "put" and getattr(arguments[0], "id", "") in self.too_large):
                raise KeyholeError(Code.STORE_UNAVAILABLE, "the disk failed")
            assert callable(found)
            return found(*arguments, **options)

        return call


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def disk(clock: Clock) -> Disk:
    return Disk(clock)


@pytest.fixture
def store(disk: Disk, clock: Clock) -> FallbackStore:
    return FallbackStore(disk, MemoryStore(clock), clock, Limits(TTL, GB))


def numbered(count: int) -> list[str]:
    return [f"id{n}" for n in range(count)]


class TestFallbackStore(StoreContract):
    def open_store(self, folder: Path, clock: Clock, limits: Limits) -> Store:
        return FallbackStore(SqliteStore(folder, clock, limits), MemoryStore(clock), clock, limits)

    def test_only_the_newest_vectors_are_stored(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("keyhole.store.fallback.MAX_VECTORS", 3, raising=False)
        monkeypatch.setattr("keyhole.store.sqlite.store.MAX_VECTORS", 3)
        super().test_only_the_newest_vectors_are_stored(store, monkeypatch)


class TestFallbackStoreWithAllInMemory(StoreContract):
    def open_store(self, folder: Path, clock: Clock, limits: Limits) -> Store:
        disk = Disk(clock)
        disk.fails = frozenset({"put", "remember"})
        return FallbackStore(disk, MemoryStore(clock, limits), clock, limits)

    def test_only_the_newest_vectors_are_stored(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("keyhole.store.fallback.MAX_VECTORS", 3, raising=False)
        monkeypatch.setattr("keyhole.store.sqlite.store.MAX_VECTORS", 3)
        super().test_only_the_newest_vectors_are_stored(store, monkeypatch)


# During an outage.


def test_artifacts_are_kept_in_memory_while_the_disk_fails(store: FallbackStore, disk: Disk) -> None:
    disk.fails = CALLS
    store.put(artifact(), "fish water")
    assert store.get(artifact().id) == artifact()
    assert store.part(artifact().id, 2, 6).artifact.text == artifact().text[2:6]
    assert store.recent(artifact().url, 0) == artifact()
    assert store.search(("fish",), 5) == (artifact(),)
    assert store.warning() == KEPT_IN_MEMORY
    assert store.stats().kind == "memory"


def test_a_working_disk_stores_everything(store: FallbackStore, disk: Disk) -> None:
    store.put(artifact(), "fish")
    store.remember([b"key"])
    assert store.warning() == ""
    assert disk.get(artifact().id) == artifact()
    assert disk.remembers(b"key")


def test_a_read_only_disk_is_still_read(store: FallbackStore, disk: Disk) -> None:
    store.put(artifact("before"), "fish")
    disk.fails = WRITES
    store.put(artifact("during"), "fish")
    assert store.get("before") == artifact("before")
    assert {each.id for each in store.search(("fish",), 5)} == {"before", "during"}
    assert {row.id for row in store.list(5)} == {"before", "during"}
    assert store.contains_words(("fish", "bird")) == (True, False)
    assert not store.renew("before", 1.0)
    assert store.renew("during", 1.0)


def test_the_warning_of_a_working_disk_is_returned(clock: Clock) -> None:
    class Replaced(MemoryStore):
        def warning(self) -> str:
            return "store_replaced"

    assert FallbackStore(Replaced(clock), MemoryStore(clock), clock, Limits(TTL, GB)).warning() == "store_replaced"


def test_the_newest_artifact_of_a_url_is_recent_on_disk_or_in_memory(
    store: FallbackStore, disk: Disk, clock: Clock
) -> None:
    old, new = artifact("old", fetched_at=clock.now - 9), artifact("new", fetched_at=clock.now)
    store.put(old, "x")
    disk.fails = WRITES
    store.put(new, "x")
    assert store.recent(artifact().url, 0) == new
    disk.fails = NO_CALLS
    disk.put(third := artifact("third", fetched_at=clock.now + 1), "x")
    assert store.recent(artifact().url, 0) == third


# Recovery.


def test_artifacts_move_from_memory_to_a_working_disk_in_batches(
    store: FallbackStore, disk: Disk, clock: Clock
) -> None:
    disk.fails = WRITES
    for id in numbered(10):
        store.put(artifact(id), "word")
    disk.fails = NO_CALLS
    clock.advance(LONGEST_PAUSE)
    sizes = []
    while store.warning():
        store.recent("https://other.example/", 0)
        sizes.append(len(disk.list(100)))
    assert sizes == [ARTIFACTS_PER_MOVE, 2 * ARTIFACTS_PER_MOVE, 10]
    assert {row.id for row in disk.list(100)} == set(numbered(10))
    assert disk.search(("kept",), 20), "the disk makes the words from the text"
    assert store.get("id3") == artifact("id3")


def test_a_pin_moves_to_the_disk_with_its_artifact(store: FallbackStore, disk: Disk, clock: Clock) -> None:
    disk.fails = CALLS
    for id in numbered(3):
        store.put(artifact(id), "x")
    assert store.pin("id0", True)
    assert store.pin("id1", True)
    disk.fails = NO_CALLS
    clock.advance(FIRST_PAUSE)
    store.put(artifact("id1"), "x")
    store.close()
    assert {row.id for row in disk.list(5) if row.pinned} == {"id0", "id1"}
    assert store.pin("id0", False)
    assert {row.id for row in disk.list(5) if row.pinned} == {"id1"}


def test_a_pin_is_lost_if_too_much_is_pinned_on_the_disk(
    disk: Disk, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    disk._limits = replace(MEMORY_LIMITS, max_bytes=3_000)
    store = FallbackStore(disk, MemoryStore(clock), clock, Limits(TTL, GB))
    disk.fails = CALLS
    store.put(artifact(), "x")
    store.pin(artifact().id, True)
    disk.fails = NO_CALLS
    store.close()
    assert [(row.id, row.pinned) for row in disk.list(5)] == [(artifact().id, False)]
    assert "no longer pinned" in caplog.text


def test_the_first_successful_write_ends_the_outage(store: FallbackStore, disk: Disk, clock: Clock) -> None:
    disk.fails = WRITES
    store.put(artifact("one"), "x")
    disk.fails = NO_CALLS
    clock.advance(FIRST_PAUSE)
    store.put(artifact("two"), "x")
    assert store.warning() == ""
    assert {row.id for row in disk.list(5)} == {"one", "two"}


def test_url_keys_are_known_while_pending_and_written_later(store: FallbackStore, disk: Disk, clock: Clock) -> None:
    disk.fails = WRITES
    store.remember([b"one", b"two"])
    assert store.remembers(b"one")
    assert not store.remembers(b"three")
    assert store.warning() == KEPT_IN_MEMORY
    disk.fails = NO_CALLS
    clock.advance(FIRST_PAUSE)
    store.recent("https://other.example/", 0)
    assert disk.remembers(b"two")
    assert store.warning() == ""


def test_pending_keys_are_bounded(store: FallbackStore, disk: Disk) -> None:
    disk.fails = WRITES
    store.remember(n.to_bytes(4, "big") for n in range(MAX_PENDING_KEYS + 1))
    assert not store.remembers((0).to_bytes(4, "big"))
    assert store.remembers((1).to_bytes(4, "big"))


def test_closing_the_store_moves_everything_to_the_disk(store: FallbackStore, disk: Disk) -> None:
    disk.fails = WRITES
    for id in numbered(9):
        store.put(artifact(id), "x")
    disk.fails = NO_CALLS
    store.close()
    assert len(disk.list(100)) == 9


def test_closing_ends_even_if_the_disk_still_fails(store: FallbackStore, disk: Disk) -> None:
    disk.fails = CALLS
    store.put(artifact(), "x")
    store.close()


def test_an_artifact_that_does_not_fit_does_not_delay_others(store: FallbackStore, disk: Disk, clock: Clock) -> None:
    disk.fails = WRITES
    disk.too_large = {"id0", "id1"}
    for id in numbered(12):
        store.put(artifact(id), "x")
    disk.fails = NO_CALLS
    for _ in range(40):
        clock.advance(LONGEST_PAUSE)
        store.recent("https://other.example/", 0)
    assert {row.id for row in disk.list(20)} == set(numbered(12)) - disk.too_large
    assert store.warning() == KEPT_IN_MEMORY
    disk.too_large = set()
    for _ in range(2):
        clock.advance(LONGEST_PAUSE)
        store.recent("https://other.example/", 0)
    assert store.warning() == ""


def test_a_text_larger_than_the_whole_store_is_not_a_disk_failure(tmp_path: Path, clock: Clock) -> None:
    store = FallbackStore(
        SqliteStore(tmp_path, clock, Limits(TTL, 3_000)), MemoryStore(clock), clock, Limits(TTL, 3_000)
    )
    for size in (2_900, 13_000):  # too large with its row, and too large by itself
        with pytest.raises(KeyholeError, match="larger than the size limit of the store, KEYHOLE_STORE_MAX_BYTES"):
            store.put(artifact(text=noise(size)), "x")
        assert (store.warning(), store.list(5)) == ("", ())


# Attempts on a failing disk.


def test_a_failing_disk_is_tried_after_growing_pauses(store: FallbackStore, disk: Disk, clock: Clock) -> None:
    disk.fails = WRITES
    tried = []
    for second in range(120):
        disk.calls.clear()
        store.put(artifact(f"id{second}"), "x")
        if disk.calls:
            tried.append(second)
        clock.advance(1)
    assert tried == [0, 1, 3, 7, 15, 31, 61, 91]


def test_an_artifact_on_disk_is_tried_by_every_call(store: FallbackStore, disk: Disk) -> None:
    store.put(artifact(), "x")
    disk.fails = CALLS
    for _ in range(3):
        assert code_of(store, artifact().id) is Code.STORE_UNAVAILABLE
    disk.fails = NO_CALLS
    assert store.get(artifact().id) == artifact()
    assert store.warning() == ""


def test_a_folder_that_becomes_available_later_is_created_then(tmp_path: Path, clock: Clock) -> None:
    folder = tmp_path / "mount" / "keyhole"
    (tmp_path / "mount").write_text("no folder yet")

    def prepare() -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise KeyholeError(Code.STORE_UNAVAILABLE, "no folder") from error

    disk = SqliteStore(folder, clock, Limits(TTL, GB))
    store = FallbackStore(disk, MemoryStore(clock), clock, Limits(TTL, GB), prepare)
    store.put(artifact(), "x")
    assert store.warning() == KEPT_IN_MEMORY
    (tmp_path / "mount").unlink()
    clock.advance(FIRST_PAUSE)
    assert store.get(artifact().id) == artifact()
    assert store.warning() == ""
    store.close()
    assert SqliteStore(folder, clock, Limits(TTL, GB)).get(artifact().id) == artifact()


# Errors.


def test_the_error_for_an_artifact_dropped_from_memory_has_its_url(
    store: FallbackStore, disk: Disk, clock: Clock
) -> None:
    disk.fails = WRITES
    store.put(artifact(), "x")
    clock.advance(3_601)
    for fails in (WRITES, CALLS):
        disk.fails = fails
        with pytest.raises(KeyholeError) as caught:
            store.get(artifact().id)
        assert caught.value.code is Code.EXPIRED_ARTIFACT
        assert caught.value.facts == {"url": artifact().url}


def test_an_id_is_unknown_only_if_the_disk_can_be_read(store: FallbackStore, disk: Disk) -> None:
    assert code_of(store, "nowhere") is Code.UNKNOWN_ARTIFACT
    disk.fails = WRITES
    assert code_of(store, "nowhere") is Code.UNKNOWN_ARTIFACT
    disk.fails = CALLS
    assert code_of(store, "nowhere") is Code.STORE_UNAVAILABLE


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.search(("fish",), 5),
        lambda store: store.contains_words(("fish",)),
        lambda store: store.list(5),
        lambda store: store.remembers(b"key"),
        lambda store: store.remove("id"),
        lambda store: store.collect(),
        lambda store: store.verify(),
    ],
)
def test_calls_that_need_the_disk_fail_with_it(
    store: FallbackStore, disk: Disk, call: Callable[[Store], object]
) -> None:
    disk.fails = CALLS
    with pytest.raises(KeyholeError) as caught:
        call(store)
    assert caught.value.code is Code.STORE_UNAVAILABLE


def test_vectors_are_not_kept_while_the_disk_fails(store: FallbackStore, disk: Disk) -> None:
    disk.fails = CALLS
    store.keep_vectors({b"one": b"1"})
    assert store.vectors([b"one"]) == {}


def test_failure_and_recovery_are_each_logged_once(
    store: FallbackStore, disk: Disk, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    disk.fails = WRITES
    for _ in range(3):
        store.put(artifact(), "x")
        clock.advance(LONGEST_PAUSE)
    disk.fails = NO_CALLS
    store.put(artifact(), "x")
    assert [record.message.split(";")[0] for record in caplog.records] == [
        "the disk failed",
        "the artifact store works again",
    ]


def test_calls_that_need_the_disk_do_not_lengthen_the_pause(store: FallbackStore, disk: Disk, clock: Clock) -> None:
    disk.fails = CALLS
    for _ in range(9):
        code_of(store, "nowhere")
    disk.fails = NO_CALLS
    disk.put(artifact(), "x")
    assert store.recent(artifact().url, 0) is None
    clock.advance(FIRST_PAUSE)
    assert store.recent(artifact().url, 0) == artifact()


def test_a_successful_write_ends_the_pause_of_reads(store: FallbackStore, disk: Disk) -> None:
    disk.fails = frozenset({"recent"})
    assert store.recent(artifact().url, 0) is None
    assert store.warning() == KEPT_IN_MEMORY
    disk.fails = NO_CALLS
    store.put(artifact(), "x")
    assert store.recent(artifact().url, 0) == artifact()


def test_a_disk_is_read_after_a_failed_collect(store: FallbackStore, disk: Disk) -> None:
    store.put(artifact(), "x")
    disk.fails = WRITES
    with pytest.raises(KeyholeError):
        store.collect()
    assert store.recent(artifact().url, 0) == artifact()


def test_what_was_forgotten_meanwhile_is_not_moved_to_the_disk(clock: Clock, tmp_path: Path) -> None:
    disk, memory = SqliteStore(tmp_path / "home", clock, Limits(TTL, 10**9)), MemoryStore(clock)
    store = FallbackStore(disk, memory, clock, Limits(TTL, 10**9))
    store.put(artifact(fetched_at=clock.now), "word", [b"key"])
    (tmp_path / "home").mkdir()
    clock.advance(DAY)
    SqliteStore(tmp_path / "home", clock, Limits(TTL, 10**9)).add_mark(ForgetMark(clock.now, clock.now))
    store.close()
    assert disk.match(ALL) == frozenset() and not memory.has_artifacts()


# Backoff


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
