"""The store in memory keeps the contract, within a number of artifacts."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.store.base import Store
from keyhole.store.memory import MAX_ARTIFACTS, MemoryStore
from tests.support.fakes import Clock, artifact
from tests.support.store_contract import TTL, StoreContract, code_of


class TestMemoryStore(StoreContract):
    def open_store(self, folder: Path, clock: Clock) -> Store:
        return MemoryStore(clock, ttl=TTL)


def test_it_keeps_so_many_artifacts_and_drops_the_least_recently_read() -> None:
    store = MemoryStore(Clock(), max_artifacts=3)
    for name in ("one", "two", "three"):
        store.put(artifact(name), name)
    store.get("one")
    store.put(artifact("four"), "four")
    assert {row.id for row in store.list(10)} == {"one", "three", "four"}
    assert code_of(store, "two") is Code.EXPIRED_ARTIFACT


def test_by_default_an_artifact_is_kept_for_an_hour_after_it_was_read() -> None:
    clock = Clock()
    store = MemoryStore(clock)
    store.put(artifact(), "x")
    clock.advance(3_600)
    assert store.get(artifact().id) == artifact()
    clock.advance(3_600.5)
    assert code_of(store, artifact().id) is Code.EXPIRED_ARTIFACT


def test_what_it_remembers_of_dropped_artifacts_is_bounded_too() -> None:
    store = MemoryStore(Clock(), max_artifacts=2)
    for n in range(10):
        store.put(artifact(f"id{n}"), "x")
    assert code_of(store, "id7") is Code.EXPIRED_ARTIFACT
    assert code_of(store, "id0") is Code.UNKNOWN_ARTIFACT


def test_its_default_size_is_bounded() -> None:
    store = MemoryStore(Clock())
    for n in range(MAX_ARTIFACTS + 5):
        store.put(artifact(f"id{n}"), "x")
    assert len(store.list(1_000)) == MAX_ARTIFACTS


def test_its_texts_and_words_are_bounded_in_bytes_and_the_least_recently_read_go_first() -> None:
    store = MemoryStore(Clock(), max_bytes=10_000)
    for name in ("one", "two", "three"):
        store.put(artifact(name, "x" * 2_500), "a few words")
    store.get("one")
    store.put(artifact("four", "中" * 1_000), "a few words")
    assert {row.id for row in store.list(10)} == {"one", "three", "four"}
    assert store.stats().stored_bytes <= store.stats().max_bytes == 10_000
    for id in ("one", "three", "four"):
        store.remove(id)
    assert store.stats().stored_bytes == 0


def test_what_is_larger_than_all_of_it_is_refused_by_name_and_nothing_goes_for_it() -> None:
    store = MemoryStore(Clock(), max_bytes=10_000)
    store.put(artifact("one"), "x")
    with pytest.raises(KeyholeError) as caught:
        store.put(artifact("huge", "x" * 10_000), "x")
    assert caught.value.code is Code.STORE_UNAVAILABLE
    assert [row.id for row in store.list(10)] == ["one"]
