"""Tests of the PostgreSQL store beyond the contract: tenants, concurrency, damage and size."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.postgresql import sweep
from keyhole.extensions.postgresql.artifacts import CHUNK_CHARS
from keyhole.extensions.postgresql.database import PostgresDatabase
from keyhole.extensions.postgresql.schema import prepare
from keyhole.extensions.postgresql.store import PostgresStore
from keyhole.extensions.postgresql.sweep import choose_evictions
from keyhole.extensions.postgresql.tenant_tables import read_totals
from keyhole.records import Artifact
from keyhole.store.base import Limits
from tests.support.fakes import Clock, artifact
from tests.support.postgresql import Cluster
from tests.support.store_contract import DAY, TTL, code_of
from tests.support.stores import noise

Open = Callable[..., PostgresStore]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def database_url(postgresql: Cluster) -> str:
    return postgresql.database()


@pytest.fixture
def database(database_url: str) -> Iterator[PostgresDatabase]:
    database = PostgresDatabase(database_url, 8, prepare)
    yield database
    database.close()


@pytest.fixture
def open_store(database: PostgresDatabase, clock: Clock) -> Open:
    """Return a function that opens a tenant's store; by default that of a new tenant."""

    def open_store(tenant: UUID | None = None, max_bytes: int = 10**9) -> PostgresStore:
        return PostgresStore(database, tenant or uuid4(), clock, Limits(TTL, max_bytes))

    return open_store


def failure(call: Callable[[], object]) -> KeyholeError:
    with pytest.raises(KeyholeError) as caught:
        call()
    return caught.value


def at_once(calls: Sequence[Callable[[], object]]) -> list[BaseException]:
    """Run calls in threads that start together; return the exceptions raised."""
    gate = threading.Barrier(len(calls))

    def run(call: Callable[[], object]) -> None:
        gate.wait()
        call()

    with ThreadPoolExecutor(len(calls)) as threads:
        running = [threads.submit(run, call) for call in calls]
        return [error for error in (each.exception() for each in running) if error is not None]


def recount(database: PostgresDatabase, tenant: UUID) -> tuple[int, int, int]:
    """Count a tenant's artifacts, contents and bytes, compare them with its totals, and return them."""
    with database.transaction(tenant) as connection:
        row = connection.execute(
            "SELECT (SELECT count(*) FROM keyhole.artifacts) AS a, (SELECT count(*) FROM keyhole.contents) AS c, "
            "((SELECT coalesce(sum(size), 0) FROM keyhole.artifacts) + "
            "(SELECT coalesce(sum(size), 0) FROM keyhole.contents))::bigint AS b"
        ).fetchone()
        totals = read_totals(connection, tenant)
    assert row is not None
    assert (totals.artifacts, totals.contents, totals.stored_bytes) == (row["a"], row["c"], row["b"])
    return row["a"], row["c"], row["b"]


# Tenants.


def test_data_of_one_tenant_is_invisible_to_another(open_store: Open) -> None:
    one, two = open_store(), open_store()
    one.put(artifact(), "fish")
    one.remember([b"key"])
    one.keep_vectors({b"key": b"vector"})
    assert code_of(two, artifact().id) is Code.UNKNOWN_ARTIFACT
    assert failure(lambda: two.part(artifact().id, 0, 1)).args == failure(lambda: two.part("b" * 16, 0, 1)).args
    assert not two.renew(artifact().id, 1.0)
    assert not two.pin(artifact().id, True)
    assert not two.remove(artifact().id)
    assert (two.search(("fish",), 10), two.list(10)) == ((), ())
    assert two.contains_words(("fish",)) == (False,)
    assert two.recent(artifact().url, 0) is None
    assert not two.remembers(b"key")
    assert two.vectors([b"key"]) == {}
    assert (two.stats().artifacts, two.verify().checked) == (0, 0)
    assert one.get(artifact().id) == artifact()


def test_tombstones_belong_to_one_tenant(open_store: Open, clock: Clock) -> None:
    one, two = open_store(), open_store()
    one.put(artifact(), "x")
    clock.advance(TTL + 1)
    one.collect()
    assert code_of(one, artifact().id) is Code.EXPIRED_ARTIFACT
    assert code_of(two, artifact().id) is Code.UNKNOWN_ARTIFACT


def test_equal_texts_are_shared_within_a_tenant_only(open_store: Open, database: PostgresDatabase) -> None:
    tenants = uuid4(), uuid4()
    for tenant in tenants:
        store = open_store(tenant)
        for name in ("one", "two"):
            store.put(artifact(name, url=f"https://example.org/{name}"), "x")
        assert (store.stats().artifacts, store.stats().contents) == (2, 1)
        assert recount(database, tenant)[:2] == (2, 1)
    first = open_store(tenants[0])
    assert first.remove("one")
    assert first.get("two").text == artifact().text
    assert first.remove("two")
    assert recount(database, tenants[0]) == (0, 0, 0)
    assert open_store(tenants[1]).get("one").text == artifact().text


def test_a_statement_without_the_tenant_sees_no_other_tenants_rows(
    open_store: Open, database: PostgresDatabase
) -> None:
    one = open_store()
    one.put(artifact(text="x" * 200_000), "x")
    one.remember([b"key"])
    one.keep_vectors({b"key": b"vector"})
    one.remove(artifact().id)
    one.put(artifact(text="y" * 200_000), "x")
    with database.transaction(uuid4()) as connection:
        for table in ("artifacts", "contents", "chunks", "totals", "dropped", "known_urls", "vectors"):
            row = connection.execute(f"SELECT count(*) AS rows FROM keyhole.{table}").fetchone()  # noqa: S608
            assert row == {"rows": 0}, table


def test_no_tenant_can_write_rows_of_another(database: PostgresDatabase) -> None:
    def forge() -> None:
        with database.transaction(uuid4()) as connection:
            connection.execute("INSERT INTO keyhole.known_urls VALUES (%s, 'key', 1)", [uuid4()])

    assert "InsufficientPrivilege" in failure(forge).message


# Concurrent servers.


def test_concurrent_puts_of_one_artifact_store_it_once(open_store: Open, database: PostgresDatabase) -> None:
    tenant = uuid4()
    assert at_once([lambda: open_store(tenant).put(artifact(), "fish water")] * 8) == []
    assert recount(database, tenant)[:2] == (1, 1)
    assert open_store(tenant).search(("fish",), 10) == (artifact(),)


def test_totals_stay_correct_under_concurrency(open_store: Open, database: PostgresDatabase) -> None:
    tenant = uuid4()

    def work(worker: int) -> None:
        store = open_store(tenant, max_bytes=30_000)
        for number in range(12):
            # Three texts under many ids, so that texts are often shared, deleted and stored again.
            store.put(artifact(f"w{worker}n{number}", text=f"text {number % 3}\n" * 50), f"word{number} fish")
            if number % 3 == 0:
                store.remove(f"w{(worker + 1) % 6}n{number}")
            if number % 4 == 0:
                store.put(artifact(f"w{(worker + 2) % 6}n{number}", text=f"text {number % 3}\n" * 50), "fish")

    assert at_once([lambda worker=worker: work(worker) for worker in range(6)]) == []  # type: ignore[misc]
    artifacts, contents, size = recount(database, tenant)
    assert 0 < artifacts <= 72
    assert 0 < contents <= 3
    open_store(tenant, max_bytes=30_000).collect()
    assert recount(database, tenant)[2] <= 30_000 < size + 30_000


def test_concurrently_stored_urls_and_vectors_are_complete(open_store: Open) -> None:
    tenant = uuid4()
    keys = [number.to_bytes(8, "big") for number in range(60)]

    def work(worker: int) -> None:
        store = open_store(tenant)
        for start in range(0, 60, 10):
            some = keys[start : start + 10][:: 1 if worker % 2 else -1]
            store.remember(some)
            store.keep_vectors({key: key for key in some})

    assert at_once([lambda worker=worker: work(worker) for worker in range(6)]) == []  # type: ignore[misc]
    assert all(open_store(tenant).remembers(key) for key in keys)
    assert open_store(tenant).vectors(keys) == {key: key for key in keys}


# Size and expiry.


def test_the_least_recently_read_are_evicted_beyond_the_limit(
    open_store: Open, clock: Clock, database: PostgresDatabase
) -> None:
    tenant = uuid4()
    store = open_store(tenant, max_bytes=6_000)
    for name in ("one", "two", "three", "four", "five", "six", "seven"):
        clock.advance(4_000)
        store.put(artifact(name, text=f"{name}\n" * 9), "x")
        store.get("one")
    assert code_of(store, "two") is Code.EXPIRED_ARTIFACT
    assert store.get("one").text == "one\n" * 9
    assert store.get("seven").text == "seven\n" * 9
    assert recount(database, tenant)[2] <= 6_000
    assert store.stats().tombstones == 7 - store.stats().artifacts > 0


def test_a_pinned_artifact_is_not_evicted_and_pins_take_at_most_half_of_the_store(
    open_store: Open, clock: Clock
) -> None:
    store = open_store(max_bytes=5 * 110_000)
    for n in range(8):
        store.put(artifact(f"page{n}", noise(100_000, n), fetched_at=clock.now), "x")
        clock.advance(DAY)
        if n < 2:
            assert store.pin(f"page{n}", True)
    ids = {row.id for row in store.list(10)}
    assert {"page0", "page1", "page7"} <= ids
    assert "page2" not in ids
    error = failure(lambda: store.pin("page7", True))
    assert (error.code, "unpin another one" in error.message) == (Code.INVALID_ARGUMENT, True)


def test_a_text_larger_than_the_store_drops_nothing(open_store: Open) -> None:
    store = open_store(max_bytes=5_000)
    store.put(artifact(), "x")
    words = " ".join(f"word{number}" for number in range(2_000))
    assert failure(lambda: store.put(artifact("big"), words)).code is Code.STORE_UNAVAILABLE
    assert store.get(artifact().id) == artifact()


def test_one_collect_drops_several_batches(open_store: Open, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "BATCH_SIZE", 2)
    store = open_store()
    for number in range(5):
        store.put(artifact(f"old{number}"), "x")
    clock.advance(TTL + 1)
    assert store.collect() == 5
    assert store.stats().tombstones == 5
    assert store.stats().stored_bytes == 0


def test_an_inactive_tenant_is_swept_by_the_calls_of_others(
    open_store: Open, clock: Clock, database: PostgresDatabase
) -> None:
    gone, here = uuid4(), uuid4()
    open_store(gone).put(artifact(), "x")
    clock.advance(TTL + sweep.SWEEP_EVERY + 2)
    for number in range(300):  # the database also has tenants of other tests
        open_store(here).put(artifact(f"id{number}"), "x")
        if recount(database, gone)[0] == 0:
            break
    assert recount(database, gone) == (0, 0, 0)
    assert code_of(open_store(gone), artifact().id) is Code.EXPIRED_ARTIFACT


def test_the_newest_tombstones_are_kept(open_store: Open, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "MAX_TOMBSTONES", 2)
    store = open_store()
    for number in range(4):
        store.put(artifact(f"id{number}"), "x")
        clock.advance(TTL + 1)
        store.collect()
    assert [code_of(store, f"id{number}") for number in range(4)] == [Code.UNKNOWN_ARTIFACT] * 2 + [
        Code.EXPIRED_ARTIFACT
    ] * 2


def test_expired_artifacts_are_evicted_first_then_the_least_recently_read() -> None:
    rows = [{"key": key, "size": 10, "last_access": float(key)} for key in range(6)]
    assert choose_evictions(rows, 0, 0.0) == []
    assert choose_evictions(rows, -5, 2.0) == [0, 1]
    assert choose_evictions(rows, 11, 0.0) == [0, 1]
    assert choose_evictions(rows, 25, 1.0) == [0, 1, 2]
    assert choose_evictions([], 1, 1.0) == []


# Parts and damage.

LONG = "Zeile 中 😀 \x00 \ud800\n" * 20_000


@pytest.mark.parametrize("start", [0, 1, CHUNK_CHARS - 3, CHUNK_CHARS, 3 * CHUNK_CHARS - 1, len(LONG) - 5, 10**9, -7])
@pytest.mark.parametrize("length", [0, 1, 8_000, CHUNK_CHARS + 2, 10**9, -4])
def test_a_part_is_the_same_range_of_the_text(long_store: PostgresStore, start: int, length: int) -> None:
    found = long_store.part("long", start, start + length)
    begin = min(max(0, start), len(LONG))
    assert (found.start, found.total) == (begin, len(LONG))
    assert found.artifact.text == LONG[begin : max(begin, start + length)]


@pytest.fixture
def long_store(open_store: Open) -> PostgresStore:
    store = open_store()
    store.put(artifact("long", text=LONG), "x")
    return store


DAMAGES = {
    "another chunk": "UPDATE keyhole.chunks SET data = set_byte(data, length(data) / 2, 255 - get_byte(data, "
    "length(data) / 2)) WHERE tenant = %s AND first = 65536",
    "no bytes": "UPDATE keyhole.chunks SET data = '' WHERE tenant = %s AND first = 65536",
    "no chunk": "DELETE FROM keyhole.chunks WHERE tenant = %s AND first = 65536",
    "a wild size": "UPDATE keyhole.chunks SET data = decode('28b52ffda0ffffffff000000', 'hex') WHERE tenant = %s "
    "AND first = 65536",
}


@pytest.fixture(params=DAMAGES)
def damaged(
    request: pytest.FixtureRequest, open_store: Open, database: PostgresDatabase
) -> tuple[PostgresStore, Artifact]:
    """Return a store with a damaged text among others, and its artifact before the damage."""
    tenant = uuid4()
    store, original = open_store(tenant), artifact("hurt", text="".join(f"line {n}\n" for n in range(20_000)))
    store.put(original, "fish")
    store.put(replace(original, id="twin", url="https://example.org/twin"), "fish")
    store.put(artifact("well", url="https://example.org/well"), "fish")
    with database.transaction(tenant) as connection:
        assert connection.execute(DAMAGES[request.param], [tenant]).rowcount == 1
    return store, original


def test_a_damaged_text_is_marked_until_it_is_put_again(damaged: tuple[PostgresStore, Artifact], clock: Clock) -> None:
    store, original = damaged
    assert store.part("hurt", 0, 100).artifact.text == original.text[:100]  # this chunk is undamaged
    for _ in range(2):
        error = failure(lambda: store.get("hurt"))
        assert (error.code, error.facts) == (Code.DAMAGED_ARTIFACT, {"url": original.url})
    assert failure(lambda: store.part("hurt", 0, 100)).code is Code.DAMAGED_ARTIFACT
    assert code_of(store, "twin") is Code.DAMAGED_ARTIFACT
    assert [row.id for row in store.list(10)] == ["well"]
    assert [found.id for found in store.search(("fish",), 10)] == ["well"]
    assert store.stats().damaged == 2
    assert not store.renew("hurt", clock.now)
    store.put(original, "fish")
    assert store.get("hurt") == original
    assert store.get("twin").text == original.text
    assert (store.stats().damaged, store.verify().damaged) == (0, ())


def test_a_part_of_a_damaged_chunk_is_rejected(damaged: tuple[PostgresStore, Artifact]) -> None:
    store, _ = damaged
    assert failure(lambda: store.part("hurt", CHUNK_CHARS + 5, CHUNK_CHARS + 50)).code is Code.DAMAGED_ARTIFACT
    assert code_of(store, "hurt") is Code.DAMAGED_ARTIFACT


def test_damaged_artifacts_are_not_searched_or_recent(damaged: tuple[PostgresStore, Artifact]) -> None:
    store, original = damaged
    assert [found.id for found in store.search(("fish",), 10)] == ["well"]
    assert store.recent(original.requested_url, 0) is None


def test_verify_finds_damaged_artifacts(damaged: tuple[PostgresStore, Artifact]) -> None:
    store, _ = damaged
    found = store.verify()
    assert (found.checked, found.damaged) == (3, ("hurt", "twin"))
    assert store.verify().damaged == ()
    assert store.get("well").text == artifact().text


def test_another_text_under_an_existing_id_is_ignored(open_store: Open, database: PostgresDatabase) -> None:
    tenant = uuid4()
    store = open_store(tenant)
    store.put(artifact(text="first"), "x")
    store.put(artifact(text="second"), "x")
    assert store.get(artifact().id).text == "first"
    assert recount(database, tenant)[:2] == (1, 1)
