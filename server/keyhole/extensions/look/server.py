"""Serve the pages on loopback for the person at this machine, until the process is interrupted."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable
from typing import Final

import uvicorn

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.look.access import AccessMiddleware, Keys, Terminal, add_headers, link_to
from keyhole.extensions.look.app import build_pages
from keyhole.extensions.look.page import Look

HOST: Final = "127.0.0.1"
CLOSE_SECONDS: Final = 1
"""Seconds for connections to close at the end."""
MAX_CONNECTIONS: Final = 100
"""Concurrent connections; a browser opens at most six."""


class _StoppableServer(uvicorn.Server):
    """A server that calls `prepare` when it stops. After SIGTERM, no later code of the process runs."""

    def __init__(self, settings: uvicorn.Config, prepare: Callable[[], None]) -> None:
        super().__init__(settings)
        self._prepare = prepare

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._prepare()
        await super().shutdown(sockets)


def serve(look: Look, port: int, terminal: Terminal) -> None:
    """Serve until SIGINT or SIGTERM. Port 0 is any free port. `terminal` begins once connections are accepted.

    Raises KeyholeError (invalid_argument) if the port cannot be used.
    """
    with open_socket(port) as listener:
        port = listener.getsockname()[1]
        keys = Keys(secrets.token_urlsafe)
        pages = build_pages()
        pages.state.stopping = asyncio.Event()

        def end_streams() -> None:
            pages.state.stopping.set()
            pages.state.stopping = asyncio.Event()

        def stop() -> None:
            end_streams()
            terminal.finish()

        app = add_headers(AccessMiddleware(pages, look, keys, port, terminal, end_streams))
        terminal.begin(link_to(port, keys.token), link_to(port, keys.once))
        settings = uvicorn.Config(
            app, ws="none", log_config=None, access_log=False, server_header=False, proxy_headers=False,
            timeout_graceful_shutdown=CLOSE_SECONDS, limit_concurrency=MAX_CONNECTIONS,
        )  # fmt: skip
        _StoppableServer(settings, stop).run(sockets=[listener])


def open_socket(port: int) -> socket.socket:
    """Return a socket that listens on loopback. Raises KeyholeError: invalid_argument."""
    if not 0 <= port < 65_536:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"port {port} cannot be used: a port is from 0 to 65,535")
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"port {port} cannot be used: {error.strerror}") from error
