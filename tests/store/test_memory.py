"""Tests of the store in memory: the contract and its limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.store.base import Limits, Store
from keyhole.store.forget_mark import ForgetMark
from keyhole.store.sqlite.store import MEMORY_LIMITS, TOUCH_AFTER, MemoryStore
from tests.support.fakes import Clock, artifact
from tests.support.store_contract import StoreContract, code_of
from tests.support.stores import noise


class TestMemoryStore(StoreContract):
    def open_store(self, folder: Path, clock: Clock, limits: Limits) -> Store:
        return MemoryStore(clock, limits)

    def test_only_the_newest_vectors_are_stored(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("keyhole.store.sqlite.store.MAX_VECTORS", 3, raising=False)
        monkeypatch.setattr("keyhole.store.sqlite.store.MAX_VECTORS", 3)
        super().test_only_the_newest_vectors_are_stored(store, monkeypatch)


def put(store: MemoryStore, *ids: str) -> None:
    """Put artifacts, of which five fit into a store of MAX_BYTES."""
    for id in ids:
        store.put(artifact(id, noise(100_000, seed=sum(id.encode())), url=f"https://{id}.example/"), id)


MAX_BYTES = 800_000


def test_the_least_recently_read_artifact_is_dropped_beyond_the_limit() -> None:
    clock = Clock()
    store = MemoryStore(clock, replace(MEMORY_LIMITS, max_bytes=MAX_BYTES))
    put(store, "one", "two", "three", "four", "five")
    assert len(store.list(10)) == 5
    clock.advance(TOUCH_AFTER + 1)
    store.get("one")
    put(store, "six")
    assert {row.id for row in store.list(10)} == {"one", "three", "four", "five", "six"}
    assert code_of(store, "two") is Code.EXPIRED_ARTIFACT
    assert store.stats().stored_bytes <= store.stats().max_bytes == MAX_BYTES


def test_a_pinned_artifact_is_not_dropped_and_pins_take_at_most_half_of_the_store() -> None:
    store = MemoryStore(Clock(), replace(MEMORY_LIMITS, max_bytes=MAX_BYTES))
    put(store, "one", "two", "three", "four")
    assert store.pin("one", True)
    assert store.pin("two", True)
    assert store.pin("three", True)
    with pytest.raises(KeyholeError) as caught:
        store.pin("four", True)
    assert caught.value.code is Code.INVALID_ARGUMENT
    put(store, "five", "six", "seven")
    assert {row.id for row in store.list(10)} == {"one", "two", "three", "six", "seven"}


def test_an_artifact_expires_an_hour_after_its_last_read_by_default() -> None:
    clock = Clock()
    store = MemoryStore(clock)
    store.put(artifact(), "x")
    clock.advance(3_600)
    assert store.get(artifact().id) == artifact()
    clock.advance(3_600.5)
    assert code_of(store, artifact().id) is Code.EXPIRED_ARTIFACT
    assert not store.has_artifacts()


def test_an_artifact_larger_than_the_store_is_rejected_and_drops_nothing() -> None:
    store = MemoryStore(Clock(), replace(MEMORY_LIMITS, max_bytes=10_000))
    store.put(artifact("one"), "x")
    with pytest.raises(KeyholeError, match="larger than the size limit of the memory store") as caught:
        store.put(artifact("huge", noise(20_000)), "x")
    assert caught.value.code is Code.STORE_UNAVAILABLE
    assert [row.id for row in store.list(10)] == ["one"]


def test_an_artifact_is_discarded_unless_it_was_fetched_again() -> None:
    store = MemoryStore(Clock())
    store.put(artifact(fetched_at=1.0), "x")
    ((oldest, _),) = store.oldest(5)
    store.put(artifact(fetched_at=2.0), "x")
    store.discard(oldest)
    assert store.has_artifacts()
    store.discard(artifact(fetched_at=2.0))
    assert not store.has_artifacts()


def test_the_mark_is_kept_for_this_process() -> None:
    store = MemoryStore(Clock())
    store.add_mark(ForgetMark(5.0, 3.0))
    store.add_mark(ForgetMark(4.0, 6.0))
    assert store.last_mark() == ForgetMark(5.0, 6.0)
