"""The contract of stores, tested with a real PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from keyhole.extensions.postgresql import store as postgres
from keyhole.extensions.postgresql.database import PostgresDatabase
from keyhole.extensions.postgresql.schema import prepare
from keyhole.extensions.postgresql.store import PostgresStore
from keyhole.store.base import Limits, Store
from tests.support.fakes import Clock
from tests.support.postgresql import Cluster
from tests.support.store_contract import TTL, StoreContract


@pytest.fixture(scope="session")
def database_url(postgresql: Cluster) -> str:
    return postgresql.database()


@pytest.fixture
def database(database_url: str) -> Iterator[PostgresDatabase]:
    database = PostgresDatabase(database_url, 4, prepare)
    yield database
    database.close()


class TestPostgresStore(StoreContract):
    """Each test is a separate tenant in one database, as in production."""

    @pytest.fixture(autouse=True)
    def shared(self, database: PostgresDatabase) -> None:
        self.database = database

    def open_store(self, folder: Path, clock: Clock, limits: Limits) -> Store:
        return PostgresStore(self.database, uuid4(), clock, limits)


def test_pruning_deletes_no_more_than_necessary_under_the_worst_plan(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "MAX_VECTORS", 3)
    worst = "".join(f"-c%20enable_{name}%3Doff%20" for name in ("hashjoin", "mergejoin", "hashagg", "material", "sort"))
    database = PostgresDatabase(f"{database_url}?options={worst}", 2, prepare)
    try:
        store = PostgresStore(database, uuid4(), Clock(), Limits(TTL, 10**9))
        for number in range(6):
            store.keep_vectors({bytes([number]): b"x"})
        assert set(store.vectors([bytes([number]) for number in range(6)])) == {b"\x03", b"\x04", b"\x05"}
    finally:
        database.close()
