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
"""For the whole head of a request, and for the rest of a body that nobody reads: as long as for one (bodies.py)."""

STALLED: Final = 30.0
"""Seconds without a byte taken of an answer that is larger than what the system buffers."""

MAX_OPEN: Final = 65_536
"""Files and connections: far more than are served at once, so that idle ones keep nobody out."""


class PatientProtocol(H11Protocol):
    """HTTP/1.1 by h11, which refuses what faster parsers let through, and with an end to waiting for a client."""

    head_seconds = HEAD_SECONDS
    _waits_for = ""
    _served = False
    _timer: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._served = True
        self._watch()

    def pause_writing(self) -> None:
        """The client does not read what it asked for."""
        super().pause_writing()
        self._stalled = self.loop.call_later(STALLED, self.transport.abort)

    def resume_writing(self) -> None:
        """It reads again."""
        super().resume_writing()
        self._read()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        self._read()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Keep one clock running for each thing that is waited for: more bytes of it do not start it again."""
        waits_for = self._missing()
        if waits_for != self._waits_for:
            self._stop()
            self._waits_for = waits_for
            if waits_for:
                self._timer = self.loop.call_later(self.head_seconds, self._give_up)

    def _missing(self) -> str:
        """What only the client can bring: a head, or the rest of a body although its request is answered."""
        if self.conn.their_state is h11.IDLE:
            # Between requests a connection may be idle for as long as it is kept (running.py); a begun head may not.
            return "" if self._served and not self.conn.trailing_data[0] else "head"
        answered = self.conn.our_state in {h11.DONE, h11.MUST_CLOSE}
        return "rest" if answered and self.conn.their_state is h11.SEND_BODY else ""

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _read(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
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
