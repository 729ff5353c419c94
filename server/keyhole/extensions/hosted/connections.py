"""Limit connections: how long a client may stall, and how many files the process may open.

uvicorn only limits the time between requests. It limits neither the wait for the first request nor the wait for the
rest of a request's head, so a few thousand idle connections would use up the process's open files.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

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
