"""The server on its transports: stdio, and streamable HTTP on loopback. No tools here."""

from __future__ import annotations

import socket

import anyio
from mcp.server.stdio import stdio_server

from keyhole.cli import build
from keyhole.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.tools import build_server

LOOPBACK = "127.0.0.1"


def serve_stdio(config: Config) -> int:
    """Serve one client until it closes our stdin. stdout carries the protocol and nothing else: the SDK moves
    file descriptor 1 to stderr while it serves, so even a library that prints does no harm."""

    async def run() -> None:
        retrieval = build(config)
        server = build_server(retrieval)
        try:
            async with stdio_server() as (read, write):
                await server.run(read, write, server.create_initialization_options())
        finally:
            await retrieval.fetcher.aclose()

    anyio.run(run)
    return 0


def serve_http(config: Config, port: int) -> int:
    """Serve many clients on loopback until stopped. Host and Origin are checked by the SDK."""
    import uvicorn

    retrieval = build(config)
    app = build_server(retrieval).streamable_http_app(host=LOOPBACK)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
        except OSError as error:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"port {port} cannot be used: {error.strerror}") from error
        settings = uvicorn.Config(app, log_level=config.log_level.lower(), lifespan="on")
        uvicorn.Server(settings).run(sockets=[listener])
    return 0
