"""The server on its transports: stdio, and streamable HTTP. No tools here."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Final

import anyio
from mcp.server.stdio import stdio_server

from keyhole.config.config import Config
from keyhole.extract.workers.pool import WorkerPool
from keyhole.retrieval import instrumentation
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.tenants import Tenants
from keyhole.serve.parse_errors import Answered
from keyhole.serve.surrogates import Mended
from keyhole.serve.tools import build_server

log = logging.getLogger(__name__)

Build = Callable[[Config, WorkerPool], Tenants]
"""Builds the product around a worker pool."""

THREADS: Final = 24
"""Of a server over HTTP, for the work of its calls. The system's own number is the processors' and four: on a small
machine a handful, and short reads of the store would wait behind rankings, and all of them behind a slow commit."""


def serve_stdio(config: Config, build: Build) -> int:
    """Serve one client until it closes our stdin. stdout carries the protocol and nothing else: the SDK moves
    file descriptor 1 to stderr while it serves, so even a library that prints does no harm."""

    async def run() -> None:
        async with _product(config, build) as product:
            server = build_server(product.get, product.start)
            async with stdio_server() as (read, write):
                await server.run(Answered(Mended(read), write), write, server.create_initialization_options())

    # As for SIGTERM, the system's own default: Python's would wait for the thread that reads stdin, which nothing
    # but the client can wake. What is kept is kept in transactions, and workers end when their server is gone.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(run)
    except* BrokenPipeError:
        log.info("the client went away in the middle of an answer")
    return 0


def serve_http(config: Config, build: Build, host: str, port: int) -> int:
    """Serve many clients until stopped. Raises KeyholeError for settings that are not safe for this host."""
    from keyhole.serve.http.listener import listening

    async def run(listener: socket.socket) -> None:
        _take_threads()
        async with _product(config, build) as product:
            await _serve_on(listener, config, product)

    with listening(config, host, port) as listener:
        anyio.run(run, listener)
    return 0


def _take_threads() -> None:
    """Give this loop the threads of `THREADS`; it ends them with itself."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "call"))


async def _serve_on(listener: socket.socket, config: Config, product: _Maker) -> None:
    from keyhole.serve.http.app import PATH, Parts, application
    from keyhole.serve.http.drain import Draining
    from keyhole.serve.http.listener import url_of
    from keyhole.serve.http.probes import look_at
    from keyhole.serve.http.telemetry.access_log import CallLines
    from keyhole.serve.http.telemetry.metrics import counting
    from keyhole.serve.http.telemetry.tracing import Traced, start
    from keyhole.serve.http.uvicorn_server import serve

    # A thread of its own: where calls keep all others busy, the server is not unready for that.
    looking = ThreadPoolExecutor(1, "look")

    async def look() -> str:
        stores = (await product.tenants()).stores
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(looking, look_at, stores, config.store == "memory")

    product.start()  # a server is ready when its first call need not wait for this
    metrics, spans = counting(), start(os.environ)
    listeners: list[instrumentation.Observer] = [CallLines()]
    listeners += [metrics] if metrics else []
    listeners += [spans.observer] if spans else []
    parts = Parts(Draining(), look, product.sizes, metrics, outer=[Traced] if spans else [])
    try:
        with instrumentation.listening(*listeners):
            app = application(config, build_server(product.get), parts)
            _announce(url_of(listener, PATH), config)  # not before: a file of tokens that is wrong ends the server
            await serve(app, listener, parts.draining, config.drain_seconds)
    finally:
        looking.shutdown(wait=False, cancel_futures=True)
        if spans:
            await asyncio.to_thread(spans.end)


def _announce(url: str, config: Config) -> None:
    where = f"serving MCP at {url}"
    if config.log_format == "json":
        log.info(where)
    else:
        print(f"keyhole: {where}", file=sys.stderr, flush=True)


class _Maker:
    """Makes the one Retrieval of this process in a thread, once: ahead of the first call where a client listed
    the tools and paused, as clients do, or else for that call."""

    def __init__(self, config: Config, build: Build) -> None:
        self._config = config
        self._build = build
        self._pool = WorkerPool(config)
        self._making: asyncio.Task[Tenants] | None = None

    def start(self) -> None:
        """Begin, unless that was done."""
        if self._making is None:
            self._pool.warm()  # its parsers load while the rest does
            self._making = asyncio.get_running_loop().create_task(asyncio.to_thread(self._make))

    async def get(self, tenant: str) -> Retrieval:
        """A tenant's Retrieval, when it is made."""
        tenants = await self.tenants()
        if product := tenants.at_hand(tenant):
            return product
        return await asyncio.to_thread(tenants.of, tenant)

    async def tenants(self) -> Tenants:
        """What gives each tenant its own, when it is made."""
        self.start()
        assert self._making  # noqa: S101 - for the type checker; start() made it
        # Shielded: one cancelled call must not take the product from all others.
        return await asyncio.shield(self._making)

    def sizes(self) -> tuple[int, int]:
        """How many artifacts and bytes the stores hold that are open."""
        made = self._making is not None and self._making.done() and not self._making.exception()
        return self._making.result().sizes() if self._making and made else (0, 0)

    async def close(self) -> None:
        """Close what was made."""
        if self._making is not None:
            await self._pool.aclose()  # also where nothing could be made around it
            await (await self._making).aclose()

    def _make(self) -> Tenants:
        product = self._build(self._config, self._pool)
        # What nearly every call needs, loaded while nobody waits: stemmers, weights of tokens, the database's driver.
        for module in ("keyhole.passages", "keyhole.budget.tokens"):
            import_module(module)
        return product


@asynccontextmanager
async def _product(config: Config, build: Build) -> AsyncIterator[_Maker]:
    maker = _Maker(config, build)
    try:
        yield maker
    finally:
        await maker.close()
