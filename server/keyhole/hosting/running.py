"""The process of the HTTP server: its sockets, its limits in time and number, and how it ends. No request is read here.

The first SIGTERM or SIGINT begins to drain, the second ends the process at once: what is kept is kept in transactions,
and workers end when their server is gone.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from keyhole.hosting.drain import Draining
from keyhole.hosting.layer import App

log = logging.getLogger(__name__)

KEEP_ALIVE: Final = 75
"""Seconds that an idle connection is kept. Longer than reverse proxies keep theirs (nginx and AWS: 60), or one would
send a request into a connection that is being closed."""
ARRIVAL: Final = 30.0
"""Seconds for a whole request to arrive, from its first byte or from the connection on: a megabyte at 35 KB/s. Without
it whoever opens connections and says nothing, or a byte a minute, holds them for ever."""
STALLED: Final = 30.0
"""Seconds without a byte taken of an answer that is larger than what the system buffers."""
MAX_CONNECTIONS: Final = 4_000
"""At once; beyond, requests get 503. An idle one takes 6 KB, one with a stream 65 (benchmarks/http_server.py), so
all of them 260 MB at most."""
BACKLOG: Final = 1_024
"""Connections that wait to be accepted: the clients of a whole replica that ended may come within a second."""
FILES: Final = MAX_CONNECTIONS + 2_000
"""Open files that the system should allow: a connection is one, and so is each fetch, database and pipe. Many systems
allow 1,024 by default, and more where a process asks."""
CLOSING: Final = 2
"""Seconds for connections to close once calls are over or out of time."""
LAST: Final = 10.0
"""Seconds after the time for draining, when the process ends whatever still runs: a thread cannot be stopped."""
SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class Protocol(H11Protocol):
    """uvicorn's HTTP/1.1, which waits no longer than `ARRIVAL` for a request, and `STALLED` for who does not read."""

    _late: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The first request is waited for."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """More of a request, or the rest."""
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._arrived()
        elif self._late is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for."""
        self._arrived()
        self._read()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read what it asked for."""
        super().pause_writing()
        self._stalled = self.loop.call_later(STALLED, self.transport.abort)

    def resume_writing(self) -> None:
        """It reads again."""
        super().resume_writing()
        self._read()

    def _wait(self) -> None:
        self._late = self.loop.call_later(ARRIVAL, self.transport.close)

    def _read(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _arrived(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are ours: uvicorn's would end streams at once, and the process by the signal."""
        yield


async def serve(app: App, listener: socket.socket, draining: Draining, seconds: float) -> None:
    """Serve until a signal; then drain for at most `seconds`, and return."""
    settings: dict[str, Any] = {
        "lifespan": "on",
        "http": Protocol,
        "ws": "none",
        "log_config": None,
        "access_log": False,  # see access.py
        "server_header": False,
        "proxy_headers": False,  # nothing depends on who is on the other side but metrics.py, which looks itself
        "timeout_keep_alive": KEEP_ALIVE,
        "timeout_graceful_shutdown": CLOSING,
        "limit_concurrency": MAX_CONNECTIONS,
        "backlog": BACKLOG,
    }
    _allow_files()
    server = _Server(uvicorn.Config(app, **settings))
    _on_signals(draining, seconds)
    ending = asyncio.create_task(_end(server, draining, seconds))
    try:
        await server.serve(sockets=[listener])
    finally:
        ending.cancel()


async def _end(server: uvicorn.Server, draining: Draining, seconds: float) -> None:
    await draining.begun.wait()
    log.info("stopping: %d requests are under way", draining.under_way)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await draining.idle.wait()
    if draining.under_way:
        log.warning("stopped with %d requests unanswered after %g s", draining.under_way, seconds)
    server.should_exit = True


def _on_signals(draining: Draining, seconds: float) -> None:
    loop = asyncio.get_running_loop()

    def stop(*_: object) -> None:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        timer = Timer(seconds + CLOSING + LAST, os._exit, (0,))
        timer.daemon = True
        timer.start()
        loop.call_soon_threadsafe(draining.begin)

    for number in SIGNALS:
        signal.signal(number, stop)


def _allow_files() -> None:
    """Ask the system for as many open files as connections may need."""
    if sys.platform != "win32":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
