"""Open the stores that the settings choose, for each tenant."""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.runtime.extensions import open_port
from keyhole.store.base import LOCAL, Clock, Limits, Store
from keyhole.store.calls.base import CallLog
from keyhole.store.home import SECRET_BYTES, home_folder, open_home
from keyhole.store.private_files import make_private_folder
from keyhole.store.spool import DAMAGED, spool_folder
from keyhole.store.stores import Stores

if TYPE_CHECKING:
    from keyhole.store.calls.sqlite import SqliteCallLog
    from keyhole.store.sqlite.store import MemoryStore

Adopt = Callable[[str, Store, bytes, str], int]
"""`(folder, store, secret, id)`: moves the outputs of a spool folder into a store, or only the output `id` unless it is
"". Returns the number of moved outputs."""
AdoptCalls = Callable[[str, CallLog], int]
"""Moves the records of calls of a folder into a log, and returns their number."""

log = logging.getLogger(__name__)

DAY: Final = 86_400.0
TENANT_MEMORY_BYTES: Final = 8 * 1024**2
"""Memory of each authenticated tenant while the disk fails, or without a disk. With 64 open tenants
(retrieval/tenants.py) the total is at most half a gigabyte."""
NAME_CHARS: Final = 12
"""Characters of a tenant's hash that are shown if its name is unknown, as many as in the log."""
TENANTS_FOLDER: Final = "tenants"
"""The folder in the home folder that contains one folder for each tenant."""


def open_stores(
    config: Config, *, long_running: bool = False, adopt: Adopt | None = None, adopt_calls: AdoptCalls | None = None
) -> Stores:
    """Return the stores that KEYHOLE_STORE chooses. `long_running`: True to use memory while the disk fails.

    `adopt`, `adopt_calls`: move outputs and the records of their calls from the spool folder into the local store and
    its log of calls; without them they stay there.
    """
    if config.store.startswith("postgres"):
        check_packages(config)
        stores: Stores = open_port("postgresql", config)
        return stores
    if config.store == "memory":
        return MemoryStores(ttl=config.ttl_days * DAY)
    return LocalStores(config, long_running=long_running, adopt=adopt, adopt_calls=adopt_calls)


def check_packages(config: Config) -> None:
    """Raise KeyholeError (invalid_argument) if packages of the store that KEYHOLE_STORE chooses are not installed."""
    if config.store.startswith("postgres"):
        from keyhole.runtime.installation import check_extra

        check_extra("hosted", user="a store in PostgreSQL")


def open_memory_store(tenant: str, clock: Clock) -> MemoryStore:
    """Return a memory store with the tenant's size limit."""
    from keyhole.store.sqlite.store import MEMORY_LIMITS, MemoryStore

    return MemoryStore(
        clock, MEMORY_LIMITS if tenant == LOCAL else replace(MEMORY_LIMITS, max_bytes=TENANT_MEMORY_BYTES)
    )


class LocalStores:
    """SQLite stores, with a folder and a file for each tenant.

    If the home folder cannot be used, calls still work and ids are valid until the process ends.
    """

    def __init__(
        self,
        config: Config,
        *,
        long_running: bool = False,
        clock: Clock = time.time,
        adopt: Adopt | None = None,
        adopt_calls: AdoptCalls | None = None,
    ) -> None:
        self._limits = store_limits(config)
        self._adopt = adopt
        self._adopt_calls = adopt_calls
        self._clock = clock
        self._long_running = long_running
        self._folder = home_folder(config.home)
        self._secret = b""
        self._open: dict[str, tuple[Store, bytes]] = {}
        self._logs: dict[str, CallLog] = {}
        self._lock = Lock()

    def for_tenant(self, tenant: str) -> tuple[Store, bytes]:
        with self._lock:
            if not self._secret:
                self._secret = self._read_secret()
            if tenant not in self._open:
                self._open[tenant] = self._open_store(tenant)
            return self._open[tenant]

    def calls_for(self, tenant: str) -> CallLog:
        from keyhole.store.calls.sqlite import SqliteCallLog

        folder = self._folder_of(tenant)
        with suppress(KeyholeError):  # every use of the log reports it again
            _make_folder(folder)
        adopt = None
        if tenant == LOCAL and self._adopt_calls:
            adopt = partial(self._adopt_calls, spool_folder(self._folder))
        with self._lock:
            return self._logs.setdefault(tenant, SqliteCallLog(folder, self._clock, self._limits.ttl, adopt=adopt))

    def all_tenants(self, names: Iterable[str]) -> Iterator[tuple[str, Store, CallLog]]:
        from keyhole.store.calls.sqlite import SqliteCallLog
        from keyhole.store.sqlite.store import SqliteStore

        try:
            folders = sorted(path for path in (self._folder / TENANTS_FOLDER).glob("*") if path.is_dir())
        except OSError as error:
            raise KeyholeError(Code.STORE_UNAVAILABLE, f"the artifact store failed: {error.strerror}") from error
        known = {tenant_folder_name(name): name for name in names}
        for folder in folders:
            with (
                closing(SqliteStore(folder, self._clock, self._limits)) as store,
                closing(SqliteCallLog(folder, self._clock, self._limits.ttl)) as calls,
            ):
                yield known.get(folder.name, folder.name[:NAME_CHARS]), store, calls

    def remove_files(self, tenant: str, *, everything: bool) -> int:
        folder = self._folder_of(tenant)
        paths = list(folder.glob("*.db.damaged-*"))
        if tenant == LOCAL:
            paths += Path(spool_folder(self._folder)).glob("*" if everything else f"*{DAMAGED}")
        try:
            return sum(_remove_file(path) for path in paths)
        except OSError as error:
            raise KeyholeError(Code.STORE_UNAVAILABLE, f"a file cannot be removed: {error.strerror}") from error

    def warning(self) -> str:
        return next((warning for store, _ in list(self._open.values()) if (warning := store.warning())), "")

    def close(self) -> None:
        with self._lock:
            for store, _ in self._open.values():
                store.close()
            for log_of_calls in self._logs.values():
                log_of_calls.close()
            self._open.clear()
            self._logs.clear()

    def _open_store(self, tenant: str) -> tuple[Store, bytes]:
        from keyhole.store.fallback import FallbackStore
        from keyhole.store.sqlite.store import SqliteStore

        folder = self._folder_of(tenant)
        secret = self._secret if tenant == LOCAL else derive_tenant_secret(self._secret, tenant)

        def adopt(id: str) -> None:
            if tenant == LOCAL and self._adopt:
                self._adopt(spool_folder(self._folder), store, secret, id)

        disk = SqliteStore(folder, self._clock, self._limits, adopt)
        prepare = partial(_make_folder, folder)
        if self._long_running:
            memory = open_memory_store(tenant, self._clock)
            store: Store = FallbackStore(disk, memory, self._clock, self._limits, prepare)
            return store, secret
        store = disk
        with suppress(KeyholeError):  # every call reports it again
            prepare()
        return store, secret

    def _folder_of(self, tenant: str) -> Path:
        return self._folder if tenant == LOCAL else self._folder / TENANTS_FOLDER / tenant_folder_name(tenant)

    def _read_secret(self) -> bytes:
        try:
            return open_home(self._folder)
        except OSError as error:
            log.warning("cannot store anything in %s: %s", self._folder, error.strerror)
            return os.urandom(SECRET_BYTES)


def _remove_file(path: Path) -> bool:
    """Remove a file; return False if another process has just moved or removed it."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _make_folder(folder: Path) -> None:
    try:
        make_private_folder(folder)
    except OSError as error:
        raise KeyholeError(Code.STORE_UNAVAILABLE, f"the artifact store failed: {error.strerror}") from error


class MemoryStores:
    """Stores in memory, one for each tenant. Ids are valid until the process ends.

    A store exists as long as it is referenced; retrieval/tenants.py bounds the number of open tenants.
    """

    def __init__(self, clock: Clock = time.time, ttl: float = 30 * DAY) -> None:
        self._clock = clock
        self._ttl = ttl
        self._secret = os.urandom(SECRET_BYTES)
        self._stores: WeakValueDictionary[str, MemoryStore] = WeakValueDictionary()
        self._logs: WeakValueDictionary[str, SqliteCallLog] = WeakValueDictionary()
        self._lock = Lock()

    def for_tenant(self, tenant: str) -> tuple[Store, bytes]:
        with self._lock:
            store = self._stores.setdefault(tenant, open_memory_store(tenant, self._clock))
        return store, derive_tenant_secret(self._secret, tenant)

    def calls_for(self, tenant: str) -> CallLog:
        from keyhole.store.calls.sqlite import MEMORY_BYTES, MEMORY_CALLS, SqliteCallLog

        with self._lock:
            log_of_calls = SqliteCallLog(None, self._clock, self._ttl, MEMORY_CALLS, MEMORY_BYTES)
            return self._logs.setdefault(tenant, log_of_calls)

    def all_tenants(self, names: Iterable[str]) -> Iterator[tuple[str, Store, CallLog]]:
        names = frozenset(names)
        with self._lock:
            stores = [(tenant, store) for tenant, store in self._stores.items() if tenant != LOCAL]
        for tenant, store in stores:
            yield tenant if tenant in names else tenant_folder_name(tenant)[:NAME_CHARS], store, self.calls_for(tenant)

    def remove_files(self, tenant: str, *, everything: bool) -> int:  # noqa: ARG002 - there are no files
        return 0

    def warning(self) -> str:
        return ""

    def close(self) -> None:
        pass


def store_limits(config: Config) -> Limits:
    """Return the limits that the settings choose."""
    return Limits(config.ttl_days * DAY, config.store_max_bytes)


def tenant_folder_name(tenant: str) -> str:
    """Return the folder name of a tenant: a hash, so that a tenant's name is never part of a path."""
    return hashlib.sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def derive_tenant_secret(secret: bytes, tenant: str) -> bytes:
    """Derive the secret of a tenant's ids from the installation's secret."""
    return hmac.digest(secret, b"tenant:" + tenant.encode("utf-8", "surrogatepass"), "sha256")
