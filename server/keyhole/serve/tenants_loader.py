"""Load the tenants of a server once, in a thread, when they are first needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module

from keyhole.config.config import Config
from keyhole.extract.workers.worker_pool import WorkerPool
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.tenants import Tenants

BuildTenants = Callable[[Config, WorkerPool], Tenants]
"""Builds the tenants around a worker pool."""


class TenantsLoader:
    """Loader of the process's only `Tenants`: loads it in a thread, at `start` or when it is first needed."""

    def __init__(self, config: Config, build: BuildTenants, spare_workers: int) -> None:
        self._config = config
        self._build = build
        self._pool = WorkerPool(config, spare=spare_workers)
        self._loading: asyncio.Task[Tenants] | None = None

    def start(self) -> None:
        """Start loading, unless it has started."""
        if self._loading is None:
            self._loading = asyncio.get_running_loop().create_task(asyncio.to_thread(self._load))

    def warm(self) -> None:
        """Start a worker, whose parsers load at the same time.

        A server of one client waits for the first fetch instead: a worker takes 24 MB, and many clients never fetch.
        """
        self._pool.warm()

    async def get(self) -> Tenants:
        """Return the tenants once they are loaded."""
        self.start()
        assert self._loading  # noqa: S101 - for the type checker; start() set it
        # Shielded: cancelling one call must not cancel the loading for all others.
        return await asyncio.shield(self._loading)

    async def get_retrieval(self, tenant: str) -> Retrieval:
        """Return a tenant's Retrieval once it is loaded."""
        tenants = await self.get()
        if retrieval := tenants.get_recent(tenant):
            return retrieval
        return await asyncio.to_thread(tenants.of, tenant)

    def store_sizes(self) -> tuple[int, int]:
        """Return the number of artifacts and of bytes in the open stores; (0, 0) before they are loaded."""
        is_loaded = self._loading is not None and self._loading.done() and not self._loading.exception()
        return self._loading.result().sizes() if self._loading and is_loaded else (0, 0)

    async def close(self) -> None:
        """Close the worker pool and the tenants."""
        if self._loading is not None:
            await self._pool.aclose()  # first: awaiting the tenants raises if loading failed
            await (await self._loading).aclose()

    def _load(self) -> Tenants:
        tenants = self._build(self._config, self._pool)
        # Nearly every call needs these (stemmers, token weights); load them before the first call waits for them.
        for module in ("keyhole.passages.selection", "keyhole.render.tokens"):
            import_module(module)
        return tenants


@asynccontextmanager
async def open_tenants(config: Config, build: BuildTenants, *, spare_workers: int = 0) -> AsyncIterator[TenantsLoader]:
    """Yield the loader of a server's tenants; close them when the block ends."""
    loader = TenantsLoader(config, build, spare_workers)
    try:
        yield loader
    finally:
        await loader.close()
