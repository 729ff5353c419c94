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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import Any, Final

import uvicorn

from keyhole.serve.http.asgi import App
from keyhole.serve.http.connections import PatientProtocol, allow_many
from keyhole.serve.http.drain import Draining

log = logging.getLogger(__name__)

KEEP_ALIVE: Final = 75
"""Seconds that an idle connection is kept. Longer than reverse proxies keep theirs (nginx and AWS: 60), or one would
send a request into a connection that is being closed."""
MAX_CONNECTIONS: Final = 4_000
"""At once; beyond, requests get 503. An idle one takes 6 KB, one with a stream 65 (benchmarks/server/http_server.py), so
all of them 260 MB at most."""
BACKLOG: Final = 1_024
"""Connections that wait to be accepted: the clients of a whole replica that ended may come within a second."""
CLOSING: Final = 2
"""Seconds for connections to close once calls are over or out of time."""
LAST: Final = 10.0
"""Seconds after the time for draining, when the process ends whatever still runs: a thread cannot be stopped."""
SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are ours: uvicorn's would end streams at once, and the process by the signal."""
        yield


async def serve(app: App, listener: socket.socket, draining: Draining, seconds: float) -> None:
    """Serve until a signal; then drain for at most `seconds`, and return."""
    settings: dict[str, Any] = {
        "lifespan": "on",
        "http": PatientProtocol,
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
    allow_many()
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
