"""Which stores the settings name, opened for whom. The only place that chooses between them; keeps nothing itself."""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.store.base import LOCAL, Clock, Store, Stores
from keyhole.store.home import SECRET_BYTES, home_folder, open_home

if TYPE_CHECKING:
    from keyhole.store.memory import MemoryStore
    from keyhole.store.postgres.database import Database

log = logging.getLogger(__name__)

TENANT_MEMORY: Final = 8 * 1024**2
"""Bytes that one of many tenants may have in memory where that stands in for a disk: the 64 that are open at once
(tenants.py) then take half a gigabyte at most."""
TENANTS: Final = "tenants"
"""The folder in the home folder with one folder for each tenant."""


def open_stores(config: Config, *, lasting: bool = False) -> Stores:
    """The stores that KEYHOLE_STORE names. `lasting`: for a process that goes on, so that what a failing disk cannot
    take is worth keeping in memory; what a single command kept there would be gone with it."""
    if config.store.startswith("postgres"):
        return SharedStores(config)
    if config.store == "memory":
        return MemoryStores()
    return LocalStores(config, lasting=lasting)


def in_memory(tenant: str, clock: Clock) -> MemoryStore:
    """A tenant's share of the memory."""
    from keyhole.store.memory import MAX_BYTES, MemoryStore

    return MemoryStore(clock, max_bytes=MAX_BYTES if tenant == LOCAL else TENANT_MEMORY)


class LocalStores:
    """A file for each tenant, in a folder of its own. A folder that cannot be used is told on stderr: calls still
    answer, and ids last as long as the process."""

    def __init__(self, config: Config, *, lasting: bool = False, clock: Clock = time.time) -> None:
        self._config = config
        self._clock = clock
        self._lasting = lasting
        self._folder = home_folder(config.home)
        self._secret = b""
        self._open: dict[str, tuple[Store, bytes]] = {}
        self._lock = Lock()

    def of(self, tenant: str) -> tuple[Store, bytes]:
        with self._lock:
            if not self._secret:
                self._secret = self._installation_secret()
            if tenant not in self._open:
                self._open[tenant] = self._opened(tenant)
            return self._open[tenant]

    def warning(self) -> str:
        return next((told for store, _ in list(self._open.values()) if (told := store.warning())), "")

    def close(self) -> None:
        with self._lock:
            for store, _ in self._open.values():
                store.close()
            self._open.clear()

    def _opened(self, tenant: str) -> tuple[Store, bytes]:
        from keyhole.store.fallback import FallbackStore
        from keyhole.store.sqlite.store import SqliteStore

        folder, secret = self._folder, self._secret
        if tenant != LOCAL:
            secret = tenant_secret(self._secret, tenant)
            folder = self._folder / TENANTS / folder_name(tenant)
        ttl = self._config.ttl_days * 86_400
        disk = SqliteStore(folder, self._clock, ttl, self._config.store_max_bytes)
        prepare = partial(_make, folder)
        if self._lasting:
            memory = in_memory(tenant, self._clock)
            return FallbackStore(disk, memory, self._clock, self._config.store_max_bytes, prepare), secret
        with suppress(KeyholeError):  # each call says it again
            prepare()
        return disk, secret

    def _installation_secret(self) -> bytes:
        try:
            return open_home(self._folder)
        except OSError as error:
            log.warning("nothing can be stored in %s: %s", self._folder, error.strerror)
            return os.urandom(SECRET_BYTES)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise KeyholeError(Code.STORE_UNAVAILABLE, f"the artifact store failed: {error.strerror}") from error


class MemoryStores:
    """A bounded store for each tenant that lasts as long as someone holds it: the tenants of a server are bounded by
    those it keeps open (tenants.py). Ids last as long as the process."""

    def __init__(self, clock: Clock = time.time) -> None:
        self._clock = clock
        self._secret = os.urandom(SECRET_BYTES)
        self._held: WeakValueDictionary[str, MemoryStore] = WeakValueDictionary()
        self._lock = Lock()

    def of(self, tenant: str) -> tuple[Store, bytes]:
        with self._lock:
            store = self._held.setdefault(tenant, in_memory(tenant, self._clock))
        return store, tenant_secret(self._secret, tenant)

    def warning(self) -> str:
        return ""

    def close(self) -> None:
        pass


class SharedStores:
    """One PostgreSQL database for all tenants and all servers, and no memory in its place: another server would be
    asked to read what that one holds. Its secret is read before the first id is made: until the database has been
    reached once, there is no store for anyone, as ids would not be those of other servers."""

    def __init__(self, config: Config) -> None:
        from keyhole.store.postgres.sweep import Limits

        self._limits = Limits(config.ttl_days * 86_400, config.store_max_bytes)
        self._database = open_database(config)
        self._secret = b""

    def of(self, tenant: str) -> tuple[Store, bytes]:
        from keyhole.store.postgres.rows import tenant_number
        from keyhole.store.postgres.store import PostgresStore

        self._secret = self._secret or self._installation_secret()
        secret = self._secret if tenant == LOCAL else tenant_secret(self._secret, tenant)
        return PostgresStore(self._database, tenant_number(tenant), time.time, self._limits), secret

    def warning(self) -> str:
        return ""

    def close(self) -> None:
        self._database.close()

    def _installation_secret(self) -> bytes:
        from keyhole.store.postgres.database import NO_TENANT
        from keyhole.store.postgres.schema import secret_of

        with self._database.transaction(NO_TENANT) as connection:
            return secret_of(connection)


def open_database(config: Config) -> Database:
    """The database that KEYHOLE_STORE names; nothing connects yet. Raises KeyholeError (invalid_argument) when the
    address cannot be read or what is needed for it is not installed."""
    try:
        from keyhole.store.postgres.database import Database
        from keyhole.store.postgres.schema import prepare
    except ImportError as error:
        message = (
            "KEYHOLE_STORE names PostgreSQL, which needs the extra [hosted]: in a checkout, pip install '.[hosted]'"
        )
        raise KeyholeError(Code.INVALID_ARGUMENT, message) from error
    return Database(config.store, config.store_connections, prepare)


def folder_name(tenant: str) -> str:
    """A tenant's folder: no name of a tenant, whatever is in it, is ever part of a path."""
    return hashlib.sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def tenant_secret(secret: bytes, tenant: str) -> bytes:
    """The secret of a tenant's ids, made of the installation's."""
    return hmac.digest(secret, b"tenant:" + tenant.encode("utf-8", "surrogatepass"), "sha256")
