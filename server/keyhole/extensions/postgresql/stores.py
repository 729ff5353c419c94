"""Open the stores of all tenants in one PostgreSQL database."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from keyhole.config.config import Config
from keyhole.extensions.postgresql.calls import PostgresCallLog
from keyhole.extensions.postgresql.database import NO_TENANT, Database
from keyhole.extensions.postgresql.rows import hash_tenant
from keyhole.extensions.postgresql.schema import prepare, read_secret
from keyhole.extensions.postgresql.store import PostgresStore
from keyhole.store.base import LOCAL, Store
from keyhole.store.calls.base import CallLog
from keyhole.store.open import NAME_CHARS, derive_tenant_secret, store_limits


class SharedStores:
    """Stores in one PostgreSQL database, shared by all tenants and all servers.

    They do not use memory while the database fails, because other servers could not read those artifacts. `for_tenant`
    fails until the secret was read from the database once, because ids must be equal on all servers.
    """

    def __init__(self, config: Config) -> None:
        self._limits = store_limits(config)
        self._database = Database(config.store, config.store_connections, prepare)
        self._secret = b""

    def for_tenant(self, tenant: str) -> tuple[Store, bytes]:
        self._secret = self._secret or self._read_secret()
        secret = self._secret if tenant == LOCAL else derive_tenant_secret(self._secret, tenant)
        return PostgresStore(self._database, hash_tenant(tenant), time.time, self._limits), secret

    def calls_for(self, tenant: str) -> CallLog:
        return PostgresCallLog(self._database, hash_tenant(tenant), time.time, self._limits)

    def all_tenants(self, names: Iterable[str]) -> Iterator[tuple[str, Store, CallLog]]:
        known = {hash_tenant(name): name for name in names}
        with self._database.transaction(NO_TENANT) as connection:
            rows = connection.execute("SELECT tenant FROM keyhole.tenants ORDER BY tenant").fetchall()
        for tenant in (row["tenant"] for row in rows):
            store = PostgresStore(self._database, tenant, time.time, self._limits)
            name = known.get(tenant, tenant.hex[:NAME_CHARS])
            yield name, store, PostgresCallLog(self._database, tenant, time.time, self._limits)

    def remove_files(self, tenant: str, *, everything: bool) -> int:  # noqa: ARG002 - there are no files
        return 0

    def warning(self) -> str:
        return ""

    def close(self) -> None:
        self._database.close()

    def _read_secret(self) -> bytes:
        with self._database.transaction(NO_TENANT) as connection:
            return read_secret(connection)
