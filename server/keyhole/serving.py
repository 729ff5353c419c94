"""The server on its transports: stdio, and streamable HTTP on loopback. No tools here."""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache, partial

import anyio
from mcp.server.stdio import stdio_server

from keyhole.cli import build
from keyhole.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.retrieve import Retrieval
from keyhole.tools import build_server

LOOPBACK = "127.0.0.1"


def serve_stdio(config: Config) -> int:
    """Serve one client until it closes our stdin. stdout carries the protocol and nothing else: the SDK moves
    file descriptor 1 to stderr while it serves, so even a library that prints does no harm."""

    async def run() -> None:
        async with _product(config) as product:
            server = build_server(product)
            async with stdio_server() as (read, write):
                await server.run(read, write, server.create_initialization_options())

    anyio.run(run)
    return 0


def serve_http(config: Config, port: int) -> int:
    """Serve many clients on loopback until stopped. Host and Origin are checked by the SDK."""
    import uvicorn

    async def run(listener: socket.socket) -> None:
        async with _product(config) as product:
            app = build_server(product).streamable_http_app(host=LOOPBACK)
            settings = uvicorn.Config(app, log_level=config.log_level.lower(), lifespan="on")
            await uvicorn.Server(settings).serve(sockets=[listener])

    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
        except OSError as error:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"port {port} cannot be used: {error.strerror}") from error
        print(f"keyhole: serving MCP at http://{LOOPBACK}:{listener.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
        anyio.run(run, listener)
    return 0


@asynccontextmanager
async def _product(config: Config) -> AsyncIterator[Callable[[], Retrieval]]:
    """A maker of the one Retrieval of this process; closed at the end if it was made."""
    product = cache(partial(build, config))
    try:
        yield product
    finally:
        if product.cache_info().currsize:
            await product().fetcher.aclose()
