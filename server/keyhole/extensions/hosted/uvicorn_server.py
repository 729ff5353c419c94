"""Run uvicorn with Keyhole's limits, and drain it before it stops.

The first SIGTERM or SIGINT starts draining; the second ends the process at once. That loses nothing: writes to the
store are transactions, and workers end with their server.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from keyhole.extensions.hosted.probes import DrainState
from keyhole.serve.http.asgi import App

# Limit connections: how long a client may stall, and how many files the process may open.

HEAD_SECONDS: Final = 20.0
"""Seconds for the complete head of a request, and for the rest of a body after its answer: the same as for a body
(bodies.py)."""

STALL_SECONDS: Final = 30.0
"""Seconds for which a client may read nothing of an answer that is larger than the system's buffers."""

MAX_OPEN_FILES: Final = 65_536
"""Limit of open files and connections: far more than are served at once, so that idle connections do not keep other
clients out."""


class TimeoutProtocol(H11Protocol):
    """HTTP/1.1 protocol that closes connections whose client stalls.

    It uses h11, which rejects malformed requests that faster parsers accept.
    """

    head_seconds = HEAD_SECONDS
    _awaited_part = ""
    _has_served = False
    _head_timer: asyncio.TimerHandle | None = None
    _stall_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._update_head_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update_head_timer()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._has_served = True
        self._update_head_timer()

    def pause_writing(self) -> None:
        """Start the stall timer: the client does not read its answer."""
        super().pause_writing()
        self._stall_timer = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the stall timer."""
        super().resume_writing()
        self._cancel_stall_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_head_timer()
        self._cancel_stall_timer()
        super().connection_lost(exc)

    def _update_head_timer(self) -> None:
        """Start the head timer when the server begins to wait for a part of a request; more bytes do not restart it."""
        awaited_part = self._missing_part()
        if awaited_part != self._awaited_part:
            self._cancel_head_timer()
            self._awaited_part = awaited_part
            if awaited_part:
                self._head_timer = self.loop.call_later(self.head_seconds, self._close)

    def _missing_part(self) -> str:
        """Return the part that the client must send in time: "head", "rest" of an answered request's body, or ""."""
        if self.conn.their_state is h11.IDLE:
            # Only the first head, or a later head that has begun: uvicorn_server.py limits the time between requests.
            return "" if self._has_served and not self.conn.trailing_data[0] else "head"
        is_answered = self.conn.our_state in {h11.DONE, h11.MUST_CLOSE}
        return "rest" if is_answered and self.conn.their_state is h11.SEND_BODY else ""

    def _cancel_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _cancel_stall_timer(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _close(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


def raise_file_limit() -> None:
    """Raise the process's limit of open files to `MAX_OPEN_FILES`; many systems start with 1,024."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # macOS has a lower limit of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


# Run uvicorn with Keyhole's limits, and drain it before it stops.

log = logging.getLogger(__name__)

KEEP_ALIVE_SECONDS: Final = 75
"""Seconds until an idle connection is closed. Reverse proxies close theirs earlier (nginx and AWS: 60). Otherwise, a
proxy could send a request on a connection that is being closed."""
MAX_CONNECTIONS: Final = 4_000
"""Maximum concurrent connections; beyond, requests get 503. An idle connection takes 6 KB, one with a stream 65 KB
(benchmarks/server/http_server.py), so all take 260 MB at most."""
BACKLOG: Final = 1_024
"""Maximum connections that wait to be accepted: all clients of a stopped replica may reconnect within a second."""
CLOSE_SECONDS: Final = 2
"""Seconds for connections to close after draining."""
FORCE_EXIT_SECONDS: Final = 10.0
"""Seconds after draining and closing until the process exits, even if threads, which cannot be stopped, still run."""
STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class _DrainingServer(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install no handlers: uvicorn's would close streams at once and end the process by the signal."""
        yield


async def serve(app: App, listener: socket.socket, drain_state: DrainState, drain_seconds: float) -> None:
    """Serve until SIGTERM or SIGINT, then drain for at most `drain_seconds` and return."""
    settings: dict[str, Any] = {
        "lifespan": "on",
        "http": TimeoutProtocol,
        "ws": "none",
        "log_config": None,
        "access_log": False,  # telemetry.py writes it
        "server_header": False,
        "proxy_headers": False,  # only telemetry.py uses the client's address, and checks the headers itself
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "timeout_graceful_shutdown": CLOSE_SECONDS,
        "limit_concurrency": MAX_CONNECTIONS,
        "backlog": BACKLOG,
    }
    raise_file_limit()
    server = _DrainingServer(uvicorn.Config(app, **settings))
    _drain_on_signal(drain_state, drain_seconds)
    stop = asyncio.create_task(_stop_when_drained(server, drain_state, drain_seconds))
    try:
        await server.serve(sockets=[listener])
    finally:
        stop.cancel()


async def _stop_when_drained(server: uvicorn.Server, drain_state: DrainState, seconds: float) -> None:
    await drain_state.started.wait()
    log.info("stopping: %d requests are active", drain_state.active_requests)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await drain_state.idle.wait()
    if drain_state.active_requests:
        log.warning("stopped with %d requests unanswered after %g s", drain_state.active_requests, seconds)
    server.should_exit = True


def _drain_on_signal(drain_state: DrainState, seconds: float) -> None:
    """Install handlers for `STOP_SIGNALS`; the first signal restores the default handlers."""
    loop = asyncio.get_running_loop()

    def stop(*_: object) -> None:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        timer = Timer(seconds + CLOSE_SECONDS + FORCE_EXIT_SECONDS, os._exit, (0,))
        timer.daemon = True
        timer.start()
        loop.call_soon_threadsafe(drain_state.start)

    for number in STOP_SIGNALS:
        signal.signal(number, stop)
