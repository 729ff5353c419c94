"""Tests of the PostgreSQL schema: one server creates or migrates the tables; other versions are left unchanged."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.postgresql.database import NO_TENANT, PostgresConnection, PostgresDatabase, parse_url
from keyhole.extensions.postgresql.schema import FIRST_VERSION, STEPS, prepare, read_secret
from keyhole.extensions.postgresql.store import PostgresStore
from keyhole.store.base import Limits
from keyhole.store.home import SECRET_BYTES
from tests.support.fakes import Clock, artifact
from tests.support.postgresql import USER, Cluster
from tests.support.store_contract import TTL

Open = Callable[[str], PostgresDatabase]


@pytest.fixture
def opened() -> Iterator[Open]:
    databases: list[PostgresDatabase] = []

    def open_database(url: str) -> PostgresDatabase:
        databases.append(PostgresDatabase(url, 2, prepare))
        return databases[-1]

    yield open_database
    for database in databases:
        database.close()


def secret(database: PostgresDatabase) -> bytes:
    with database.transaction(NO_TENANT) as connection:
        return read_secret(connection)


def test_servers_starting_together_agree_on_one_secret(postgresql: Cluster, opened: Open) -> None:
    url = postgresql.database()
    secrets: list[bytes] = []
    servers = [threading.Thread(target=lambda: secrets.append(secret(opened(url)))) for _ in range(6)]
    for server in servers:
        server.start()
    for server in servers:
        server.join()
    assert len(secrets) == 6
    assert len(set(secrets)) == 1
    assert len(secrets[0]) == SECRET_BYTES
    assert secret(opened(postgresql.database())) != secrets[0]


def test_nothing_connects_before_the_first_use(postgresql: Cluster, opened: Open) -> None:
    url = postgresql.database()
    PostgresStore(opened(url), uuid4(), Clock(), Limits(TTL, 10**9)).close()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT to_regnamespace('keyhole')").fetchone() == (None,)


def test_a_closed_store_reopens_at_its_next_use(postgresql: Cluster, opened: Open) -> None:
    store = PostgresStore(opened(postgresql.database()), uuid4(), Clock(), Limits(TTL, 10**9))
    store.put(artifact(), "x")
    store.close()
    store.close()
    assert store.get(artifact().id) == artifact()


@pytest.mark.parametrize("version", [FIRST_VERSION - 1, FIRST_VERSION + len(STEPS) + 1])
def test_tables_of_another_version_are_rejected_unchanged(version: int, postgresql: Cluster, opened: Open) -> None:
    url = postgresql.database()
    secret(opened(url))
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE keyhole.installation SET version = %s", [version])
    store = PostgresStore(opened(url), uuid4(), Clock(), Limits(TTL, 10**9))
    for call in (lambda: store.put(artifact(), "x"), store.stats):
        with pytest.raises(KeyholeError) as caught:
            call()
        assert caught.value.code is Code.STORE_UNAVAILABLE
        assert f"version of Keyhole: its format is {version}, not" in caught.value.message
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT version FROM keyhole.installation").fetchone()
        assert found == (version,)
        assert connection.execute("SELECT count(*) FROM keyhole.artifacts").fetchone() == (0,)


def test_a_step_migrates_the_tables_once_and_keeps_every_artifact(
    postgresql: Cluster, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, tenant = postgresql.database(), uuid4()
    PostgresStore(opened(url), tenant, Clock(), Limits(TTL, 10**9)).put(artifact(), "x")
    with monkeypatch.context() as newer:
        step = "ALTER TABLE keyhole.artifacts ADD COLUMN mood text NOT NULL DEFAULT 'calm'"
        newer.setattr("keyhole.extensions.postgresql.schema.STEPS", (*STEPS, step))
        for id in ("b", "c"):
            store = PostgresStore(opened(url), tenant, Clock(), Limits(TTL, 10**9))
            store.put(artifact(id), "x")
        assert {row.id for row in store.list(9)} == {artifact().id, "b", "c"}
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT column_default FROM information_schema.columns WHERE column_name = 'mood'")
        assert rows.fetchall() == [("'calm'::text",)]
    version = FIRST_VERSION + len(STEPS)
    formats = f"its format is {version + 1}, not {version}"
    with pytest.raises(KeyholeError, match=f"written by a newer version of Keyhole: {formats}"):
        PostgresStore(opened(url), tenant, Clock(), Limits(TTL, 10**9)).list(1)


def test_an_interrupted_setup_changes_nothing_and_is_repeated(
    postgresql: Cluster, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgresql.database()
    with monkeypatch.context() as patched:
        patched.setattr("keyhole.extensions.postgresql.schema._GUARDED_TABLES", ("totals", "no_such_table"))
        with pytest.raises(KeyholeError) as caught:
            secret(opened(url))
    assert caught.value.code is Code.STORE_UNAVAILABLE
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT to_regnamespace('keyhole')").fetchone() == (None,)
    assert len(secret(opened(url))) == SECRET_BYTES


def test_a_schema_created_by_the_operator_is_sufficient(postgresql: Cluster, opened: Open) -> None:
    name = postgresql.database().rpartition("/")[2]
    with postgresql.administrator(name) as administrator:
        administrator.execute(f"ALTER DATABASE {name} OWNER TO postgres")
        administrator.execute(f"CREATE SCHEMA keyhole AUTHORIZATION {USER}")
    store = PostgresStore(opened(postgresql.url(name)), uuid4(), Clock(), Limits(TTL, 10**9))
    store.put(artifact(), "x")
    assert store.get(artifact().id) == artifact()


def test_every_table_of_tenant_data_has_row_level_security(postgresql: Cluster, opened: Open) -> None:
    url = postgresql.database()
    secret(opened(url))
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT relname FROM pg_class c WHERE relnamespace = 'keyhole'::regnamespace AND relkind = 'r' AND NOT "
            "(relrowsecurity AND relforcerowsecurity AND EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid))"
        ).fetchall()
    assert sorted(name for (name,) in rows) == ["installation", "tenants", "words"]


def test_a_server_suspended_during_the_setup_does_not_block_others(postgresql: Cluster) -> None:
    seen = []

    class Watched(PostgresConnection):
        @contextmanager
        def transaction(self, savepoint_name: str | None = None, force_rollback: bool = False) -> Iterator[Any]:
            with super().transaction(savepoint_name, force_rollback) as transaction:
                yield transaction
                seen.append(self.execute("SHOW idle_in_transaction_session_timeout").fetchone())

    with Watched.connect(**parse_url(postgresql.database())) as connection:
        prepare(connection)
    assert seen == [{"idle_in_transaction_session_timeout": "10s"}]


def test_no_transaction_is_left_open_after_any_error(postgresql: Cluster, opened: Open) -> None:
    url = postgresql.database()
    database = opened(url)
    with suppress(RuntimeError), database.transaction(NO_TENANT):
        raise RuntimeError
    for statement in ("SELECT 1 / 0", "SELECT pg_sleep(9)", "COMMIT; BEGIN"):
        with suppress(KeyholeError), database.transaction(NO_TENANT, seconds=0.05) as connection:
            connection.execute(statement)
    with pytest.raises(KeyholeError), database.transaction(NO_TENANT, settings="SELECT 1 / 0"):
        pass
    with psycopg.connect(url) as watching:
        sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"
        assert watching.execute(sql).fetchone() == (0,)
