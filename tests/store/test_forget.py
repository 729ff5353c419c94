"""Forgetting in stores of several tenants, in files and in PostgreSQL, while other threads write."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from keyhole.config.config import Config
from keyhole.config.load import parse_config
from keyhole.errors import KeyholeError
from keyhole.extensions.postgresql.artifacts import hash_tenant
from keyhole.extensions.postgresql.database import PostgresDatabase
from keyhole.extensions.postgresql.schema import prepare
from keyhole.extensions.postgresql.tenant_tables import share_lock
from keyhole.store.base import Traces
from keyhole.store.filters import ALL, Scope
from keyhole.store.forget import Forgotten, find, forget, remove_texts
from keyhole.store.forget_mark import FORGOTTEN, ForgetMark
from keyhole.store.open import MemoryStores, open_stores
from keyhole.store.stores import Stores
from tests.store.calls.samples import call
from tests.support.fakes import artifact
from tests.support.postgresql import Cluster
from tests.support.waiting import wait_for

NOW = 2_000_000_000.0


@pytest.fixture
def shared(postgresql: Cluster) -> Config:
    return parse_config({"KEYHOLE_STORE": postgresql.database(), "KEYHOLE_STORE_CONNECTIONS": "4"})


@pytest.fixture(params=["files", "postgresql", "memory"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    if request.param == "memory":
        yield MemoryStores(lambda: NOW)
        return
    config = Config(home=tmp_path / "home") if request.param == "files" else request.getfixturevalue("shared")
    stores = open_stores(replace(config, ttl_days=100_000))
    yield stores
    stores.close()


def fill(stores: Stores, tenant: str) -> None:
    store, log = stores.for_tenant(tenant)[0], stores.calls_for(tenant)
    store.put(artifact(id=f"{tenant}-text", fetched_at=NOW - 9), "word", [b"url"])
    store.keep_vectors({b"key": b"vector"})
    log.add(call(f"{tenant}-call", started_at=NOW - 9))


def test_one_tenant_forgets_and_the_others_do_not(stores: Stores) -> None:
    kept = [(stores.for_tenant(name), stores.calls_for(name)) for name in ("one", "two")]  # memory lives as long
    fill(stores, "one")
    fill(stores, "two")
    assert forget(stores, "one", ALL, NOW) == Forgotten(1, 1, Traces(0, 1, 1), 0)
    found = [find(store, log, ALL) for (store, _), log in kept]
    assert [(set(each.texts), set(each.calls.ids)) for each in found] == [(set(), set()), ({"two-text"}, {"two-call"})]
    (one, _), (two, _) = (each for each, _ in kept)
    assert [store.remembers(b"url") for store in (one, two)] == [False, True]
    assert (one.last_mark(), two.last_mark()) == (ForgetMark(NOW, NOW), ForgetMark())


def test_nothing_that_began_before_is_written_afterwards_and_all_that_began_later_is(stores: Stores) -> None:
    store, log = stores.for_tenant("one")[0], stores.calls_for("one")
    forget(stores, "one", Scope(before=NOW - 5), NOW)
    with pytest.raises(KeyholeError, match=FORGOTTEN):
        store.put(artifact(fetched_at=NOW - 6), "word")
    store.put(artifact(id="later", fetched_at=NOW - 4), "word")
    if not isinstance(stores, MemoryStores):  # whose log is in the same process as the command
        log.add(call("earlier", started_at=NOW - 6))
    log.add(call("later", started_at=NOW - 4))
    found = find(store, log, ALL)
    assert (set(found.texts), set(found.calls.ids)) == ({"later"}, {"later"})


@pytest.mark.parametrize("scope", [Scope(sites=("none.example",)), Scope(clients=("none",), before=NOW)])
def test_a_condition_that_is_no_date_stops_no_writing(stores: Stores, scope: Scope) -> None:
    store = stores.for_tenant("one")[0]
    forget(stores, "one", scope, NOW)
    assert store.last_mark() == ForgetMark(0.0, NOW)
    store.put(artifact(fetched_at=NOW - 6), "word")


def test_many_texts_and_calls_are_removed_in_batches(stores: Stores) -> None:
    store, log = stores.for_tenant("one")[0], stores.calls_for("one")
    for number in range(60):
        store.put(artifact(id=f"{number}", text=f"text {number}", fetched_at=NOW - 9), "word")
    log.add(call("call", started_at=NOW - 9))
    assert len(remove_texts(store, ["0", "1", "none"])) == 2
    assert forget(stores, "one", ALL, NOW).texts == 58
    assert store.stats().artifacts == 0
    log.add(call("next", started_at=NOW + 1))
    assert [each.id for each in log.calls(9)] == ["next"]


def test_a_write_in_postgresql_that_did_not_see_the_mark_is_waited_for_and_removed(
    postgresql: Cluster, shared: Config
) -> None:
    stores, database, tenant = open_stores(shared), PostgresDatabase(shared.store, 4, prepare), hash_tenant("one")
    store = stores.for_tenant("one")[0]
    fill(stores, "one")
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    with ThreadPoolExecutor(1) as pool:
        with database.transaction(tenant, settings=share_lock(tenant)) as connection:
            connection.execute("UPDATE keyhole.artifacts SET id = 'late' WHERE tenant = %s", [tenant])
            done = pool.submit(forget, stores, "one", ALL, NOW)
            with closing(postgresql.administrator()) as administrator:
                wait_for(lambda: administrator.execute(waiting).fetchone() != (0,))
            assert not done.done()
        assert done.result().texts == 1
    assert store.match(ALL) == frozenset()
    stores.close()
    database.close()
