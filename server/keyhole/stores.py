"""Which stores the settings name, opened for whom. The only place that chooses between them; keeps nothing itself."""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import time
from threading import Lock
from typing import Final

from keyhole.config import Config
from keyhole.store.base import LOCAL, Store, Stores
from keyhole.store.home import SECRET_BYTES, home_folder, open_home

log = logging.getLogger(__name__)

TENANTS: Final = "tenants"
"""The folder in the home folder with one folder for each tenant."""


def open_stores(config: Config) -> Stores:
    """The stores that KEYHOLE_STORE names."""
    return LocalStores(config)


class LocalStores:
    """A file for each tenant, in a folder of its own. A folder that cannot be used is told on stderr: calls still
    answer, and ids last as long as the process."""

    def __init__(self, config: Config) -> None:
        self._config = config
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
        return self.of(LOCAL)[0].warning()

    def close(self) -> None:
        with self._lock:
            for store, _ in self._open.values():
                store.close()
            self._open.clear()

    def _opened(self, tenant: str) -> tuple[Store, bytes]:
        from keyhole.store.sqlite import SqliteStore

        folder, secret = self._folder, self._secret
        if tenant != LOCAL:
            secret = tenant_secret(self._secret, tenant)
            folder = self._folder / TENANTS / folder_name(tenant)
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        ttl = self._config.ttl_days * 86_400
        return SqliteStore(folder, time.time, ttl, self._config.store_max_bytes), secret

    def _installation_secret(self) -> bytes:
        try:
            return open_home(self._folder)
        except OSError as error:
            log.warning("nothing can be stored in %s: %s", self._folder, error.strerror)
            return os.urandom(SECRET_BYTES)


def folder_name(tenant: str) -> str:
    """A tenant's folder: no name of a tenant, whatever is in it, is ever part of a path."""
    return hashlib.sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def tenant_secret(secret: bytes, tenant: str) -> bytes:
    """The secret of a tenant's ids, made of the installation's."""
    return hmac.digest(secret, b"tenant:" + tenant.encode("utf-8", "surrogatepass"), "sha256")
