"""Connections that never become a request: how long one may stay, and how many there can be. Speaks no MCP.

uvicorn bounds the time between requests and nothing before the first, nor while a head drips in byte by byte; then
a few thousand idle connections of a stranger use up what the process may open.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS: Final = 20.0
"""For the whole head of a request, and for the first after a connection: as long as for a body (bodies.py)."""

MAX_OPEN: Final = 65_536
"""Files and connections: far more than are served at once, so that idle ones keep nobody out."""


class PatientProtocol(H11Protocol):
    """HTTP/1.1 by h11, which refuses what faster parsers let through, and with an end to waiting for a head."""

    head_seconds = HEAD_SECONDS
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Keep the clock running while a head is waited for: more bytes of it do not start it again."""
        if self.conn.their_state is not h11.IDLE:
            self._unwatch()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_seconds, self._give_up)

    def _unwatch(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        if not self.transport.is_closing() and self.conn.their_state is h11.IDLE:
            self.transport.close()


def allow_many() -> None:
    """Let this process open as many files and connections as it needs: many systems begin with 1,024."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN if most == resource.RLIM_INFINITY else min(most, MAX_OPEN)
    if now != resource.RLIM_INFINITY and now < wanted:
        with suppress(OSError, ValueError):  # macOS has a smaller bound of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
