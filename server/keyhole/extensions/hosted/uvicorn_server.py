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

import uvicorn

from keyhole.extensions.hosted.connections import TimeoutProtocol, raise_file_limit
from keyhole.extensions.hosted.drain import DrainState
from keyhole.serve.http.asgi import App

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


class _Server(uvicorn.Server):
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
        "access_log": False,  # telemetry/access_log.py writes it
        "server_header": False,
        "proxy_headers": False,  # only telemetry/metrics.py uses the client's address, and checks the headers itself
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "timeout_graceful_shutdown": CLOSE_SECONDS,
        "limit_concurrency": MAX_CONNECTIONS,
        "backlog": BACKLOG,
    }
    raise_file_limit()
    server = _Server(uvicorn.Config(app, **settings))
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
