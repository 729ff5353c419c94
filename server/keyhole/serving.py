"""The server on its transports: stdio, and streamable HTTP on loopback. No tools here."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module

import anyio
from mcp.server.stdio import stdio_server

from keyhole.cli import build
from keyhole.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.halves import Mended
from keyhole.retrieve import Retrieval
from keyhole.tenants import Tenants
from keyhole.tools import build_server
from keyhole.worker.pool import WorkerPool

log = logging.getLogger(__name__)


def serve_stdio(config: Config) -> int:
    """Serve one client until it closes our stdin. stdout carries the protocol and nothing else: the SDK moves
    file descriptor 1 to stderr while it serves, so even a library that prints does no harm."""

    async def run() -> None:
        async with _product(config) as product:
            server = build_server(product.get, product.start)
            async with stdio_server() as (read, write):
                await server.run(Mended(read), write, server.create_initialization_options())

    # As for SIGTERM, the system's own default: Python's would wait for the thread that reads stdin, which nothing
    # but the client can wake. What is kept is kept in transactions, and workers end when their server is gone.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(run)
    except* BrokenPipeError:
        log.info("the client went away in the middle of an answer")
    return 0


def serve_http(config: Config, host: str, port: int) -> int:
    """Serve many clients on loopback until stopped. Host and Origin are checked by the SDK."""
    import uvicorn

    from keyhole.hosting.app import application

    async def run(listener: socket.socket) -> None:
        async with _product(config) as product:
            app = application(config, build_server(product.get, product.start), host=host)
            settings = uvicorn.Config(app, log_level=config.log_level.lower(), lifespan="on")
            await uvicorn.Server(settings).serve(sockets=[listener])

    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"port {port} cannot be used: {error.strerror}") from error
        print(f"keyhole: serving MCP at http://{host}:{listener.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
        anyio.run(run, listener)
    return 0


class _Maker:
    """Makes the one Retrieval of this process in a thread, once: ahead of the first call where a client listed
    the tools and paused, as clients do, or else for that call."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._pool = WorkerPool(config)
        self._making: asyncio.Task[Tenants] | None = None

    def start(self) -> None:
        """Begin, unless that was done."""
        if self._making is None:
            self._pool.warm()  # its parsers load while the rest does
            self._making = asyncio.get_running_loop().create_task(asyncio.to_thread(self._make))

    async def get(self, tenant: str) -> Retrieval:
        """A tenant's Retrieval, when it is made."""
        self.start()
        assert self._making  # noqa: S101 - for the type checker; start() made it
        # Shielded: one cancelled call must not take the product from all others.
        return (await asyncio.shield(self._making)).of(tenant)

    async def close(self) -> None:
        """Close what was made."""
        if self._making is not None:
            await self._pool.aclose()  # also where nothing could be made around it
            await (await self._making).aclose()

    def _make(self) -> Tenants:
        product = build(self._config, self._pool)
        # What nearly every call needs, loaded while nobody waits: stemmers and the database's driver.
        for module in ("keyhole.passages", "sqlite_utils"):
            import_module(module)
        return product


@asynccontextmanager
async def _product(config: Config) -> AsyncIterator[_Maker]:
    maker = _Maker(config)
    try:
        yield maker
    finally:
        await maker.close()
