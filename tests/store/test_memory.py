"""Tests of the store in memory: the contract and its limits."""

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


def test_the_least_recently_read_artifact_is_dropped_beyond_the_maximum() -> None:
    store = MemoryStore(Clock(), max_artifacts=3)
    for name in ("one", "two", "three"):
        store.put(artifact(name), name)
    store.get("one")
    store.put(artifact("four"), "four")
    assert {row.id for row in store.list(10)} == {"one", "three", "four"}
    assert code_of(store, "two") is Code.EXPIRED_ARTIFACT


def test_a_pinned_artifact_is_not_dropped_and_pins_take_at_most_half_of_the_store() -> None:
    store = MemoryStore(Clock(), max_artifacts=3)
    store.put(artifact("one"), "x")
    store.put(artifact("two"), "x")
    assert store.pin("one", True)
    with pytest.raises(KeyholeError) as caught:
        store.pin("two", True)
    assert caught.value.code is Code.INVALID_ARGUMENT
    for name in ("three", "four", "five"):
        store.put(artifact(name), "x")
    assert {row.id for row in store.list(10)} == {"one", "four", "five"}


def test_an_artifact_expires_an_hour_after_its_last_read_by_default() -> None:
    clock = Clock()
    store = MemoryStore(clock)
    store.put(artifact(), "x")
    clock.advance(3_600)
    assert store.get(artifact().id) == artifact()
    clock.advance(3_600.5)
    assert code_of(store, artifact().id) is Code.EXPIRED_ARTIFACT


def test_tombstones_are_bounded() -> None:
    store = MemoryStore(Clock(), max_artifacts=2)
    for n in range(10):
        store.put(artifact(f"id{n}"), "x")
    assert code_of(store, "id7") is Code.EXPIRED_ARTIFACT
    assert code_of(store, "id0") is Code.UNKNOWN_ARTIFACT


def test_the_number_of_artifacts_is_bounded_by_default() -> None:
    store = MemoryStore(Clock())
    for n in range(MAX_ARTIFACTS + 5):
        store.put(artifact(f"id{n}"), "x")
    assert len(store.list(1_000)) == MAX_ARTIFACTS


def test_texts_and_words_are_bounded_in_bytes() -> None:
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


def test_an_artifact_larger_than_the_store_is_rejected_and_drops_nothing() -> None:
    store = MemoryStore(Clock(), max_bytes=10_000)
    store.put(artifact("one"), "x")
    with pytest.raises(KeyholeError) as caught:
        store.put(artifact("huge", "x" * 10_000), "x")
    assert caught.value.code is Code.STORE_UNAVAILABLE
    assert [row.id for row in store.list(10)] == ["one"]
