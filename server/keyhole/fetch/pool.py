"""Open connections, and keep them for further requests to the same site.

A kept connection serves only the owner that opened it (a tenant or a session), for the same scheme, host and port. It
stays connected to the address that was checked when it was opened.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Final

import httpcore

from keyhole.fetch.host_limits import MAX_PER_HOST
from keyhole.fetch.urls import Target
from keyhole.runtime.fair_slots import FairSlots
from keyhole.runtime.owner import current_owner

# Byte cap: a connection may deliver only so many bytes for one response, with headers and chunk framing.
#
# exchange.py limits the body. Headers and framing need a separate limit, because a hostile server could otherwise keep
# the parser reading until the deadline: with endless interim responses, or with chunks of one byte that have 90 KB of
# chunk extensions each.

MAX_HEAD: Final = 400_000
"""Bytes until the end of the final response's headers. One response may have 100 KB of headers (httpcore's limit), and
the last read may include up to 64 KB of body; the rest is for interim responses (RFC 9110, section 15.2)."""
READ_STEPS: Final = 10
"""Steps of the event loop after which a read has returned all bytes that had arrived before it: one for the socket
and one for each buffer between. A step takes microseconds."""


class ByteCapStream(httpcore.AsyncNetworkStream):
    """A stream that raises httpcore.RemoteProtocolError once a response has more bytes than allowed.

    It raises httpcore.ReadError if the server closes the connection without answering.
    """

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._left = MAX_HEAD
        self.is_silent = True
        """True until the first byte of the response."""

    def begin_response(self) -> None:
        """Reset the cap to the bytes of a head."""
        self._left = MAX_HEAD
        self.is_silent = True

    def raise_cap(self, size: int) -> None:
        """Allow `size` more bytes, for the body after the headers."""
        self._left += size

    async def is_quiet(self) -> bool:
        """Return False if the server has sent bytes that nobody requested, or has closed the connection."""
        # Bytes may wait in the socket, in buffers of asyncio and in those of TLS. Only a read finds all of them.
        reading = asyncio.ensure_future(self._stream.read(1))
        try:
            for _ in range(READ_STEPS):
                await asyncio.sleep(0)
        finally:
            reading.cancel()
        (result,) = await asyncio.gather(reading, return_exceptions=True)
        return isinstance(result, asyncio.CancelledError)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = await self._stream.read(max_bytes, timeout)
        if not data and self.is_silent:
            # As after a reset, a GET request may be sent again. httpcore would report an invalid response instead.
            raise httpcore.ReadError("closed without a response")
        self.is_silent = False
        self._left -= len(data)
        if self._left < 0:
            raise httpcore.RemoteProtocolError("more headers and framing than content")
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


# Connection pool: each connection stays open for further requests of its owner to the same site.

MAX_CONNECTIONS: Final = 64
"""Maximum of open connections of one server. A search fetches 10 pages at once, and several clients may share a server.
A few sites that never finish must not block the other requests."""
SPARE_CONNECTIONS: Final = 16
"""Connections reserved for owners that have no connection, so that a call need not wait for the slow sites of a busy
owner. One tenant may run eight searches at once, which fetch more pages than there are connections."""
MAX_IDLE: Final = 32
"""Connections kept open without a request; the least recently used connection is closed first. Half of all, so that
new requests rarely wait until an idle connection has been closed."""
IDLE_SECONDS: Final = 15.0
"""Seconds for which a connection is kept without a request: an agent often fetches the next page of a site within this
time. Many servers close idle connections after 5 to 75 seconds."""

PoolKey = tuple[str, str, str, int]
"""The owner, scheme, host and port that a connection serves."""
Dial = Callable[[str, str, int], Awaitable[httpcore.AsyncNetworkStream]]
"""Opens a connection for a scheme, host and port. Raises KeyholeError."""


class PooledConnection(httpcore.AsyncHTTP11Connection):
    """An HTTP/1.1 connection, which may serve several requests of one owner, one after the other."""

    def __init__(self, key: PoolKey, stream: httpcore.AsyncNetworkStream) -> None:
        _, scheme, host, port = key
        self.key = key
        self.host = host
        self.capped = ByteCapStream(stream)
        self.is_used = False
        self.expiry: asyncio.TimerHandle | None = None
        """Closes the connection unless a request uses it before. None while it is in use."""
        super().__init__(httpcore.Origin(scheme.encode(), host.encode(), port), self.capped)

    def begin(self) -> None:
        """Prepare for the next request."""
        self.is_used = True
        self.capped.begin_response()

    @property
    def can_be_kept(self) -> bool:
        """True if the last response was read to its end, and no other byte was received with it."""
        return not self.is_used or (self.is_idle() and not self._h11_state.trailing_data[0])


class ConnectionPool:
    """The open connections of one server, at most `MAX_CONNECTIONS`. Every connection taken must be given back."""

    def __init__(self, dial: Dial, idle_seconds: float = IDLE_SECONDS) -> None:
        self._dial = dial
        self._idle_seconds = idle_seconds
        self._places = FairSlots(MAX_CONNECTIONS, SPARE_CONNECTIONS)
        self._open: Counter[str] = Counter()
        """Connections by host, including those being opened."""
        self._idle: list[PooledConnection] = []
        """Kept connections, least recently used first."""
        self._closing: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def take_kept(self, target: Target) -> PooledConnection | None:
        """Return a kept connection of the current owner to a target's origin, or None."""
        key = _key(target)
        while connection := next((each for each in reversed(self._idle) if each.key == key), None):
            self._forget(connection)
            is_quiet = False
            try:
                # Whatever the server has sent since the last response would be read as the next one.
                is_quiet = await connection.capped.is_quiet()
            finally:
                if not is_quiet:
                    await self._close(connection)
            if is_quiet:
                return connection
        return None

    async def open(self, target: Target) -> PooledConnection:
        """Return a new connection to a target's origin.

        Waits while all connections are in use; the next free place goes to the owner that has the fewest connections.
        """
        key = _key(target)
        await self._make_room(target.host)
        await self._places.acquire(key[0])
        self._open[target.host] += 1
        connection = None
        try:
            connection = PooledConnection(key, await self._dial(*target.origin))
        finally:
            if connection is None:
                self._free_place(key)
        return connection

    async def warm(self, target: Target) -> None:
        """Open a connection for a request that will follow, unless its host has as many as it may have."""
        if self._open[target.host] < MAX_PER_HOST:
            await self.give_back(await self.open(target))

    async def give_back(self, connection: PooledConnection) -> None:
        """Keep a connection for the next request, or close it if it cannot be kept or others wait for its place."""
        if self._is_closed or self._places.is_exhausted or not connection.can_be_kept:
            await self._close(connection)
            return
        loop = asyncio.get_running_loop()
        connection.expiry = loop.call_later(self._idle_seconds, self._close_later, connection)
        self._idle.append(connection)
        if len(self._idle) > MAX_IDLE:
            await self._close_idle(self._idle[0])

    async def aclose(self) -> None:
        """Close all kept connections, and each connection in use when it is given back."""
        self._is_closed = True
        while self._idle:  # others may expire meanwhile
            await self._close_idle(self._idle[0])
        await asyncio.gather(*self._closing, return_exceptions=True)

    async def _make_room(self, host: str) -> None:
        """Close idle connections, of any owner, that stand in the way of a new connection to a host."""
        while self._open[host] >= MAX_PER_HOST and (to_host := [each for each in self._idle if each.host == host]):
            await self._close_idle(to_host[0])
        while not self._places.has_free() and self._idle:
            await self._close_idle(self._idle[0])

    def _close_later(self, connection: PooledConnection) -> None:
        """Close an idle connection in a task of its own."""
        self._forget(connection)
        task = asyncio.get_running_loop().create_task(self._close(connection))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _close_idle(self, connection: PooledConnection) -> None:
        self._forget(connection)
        await self._close(connection)

    def _forget(self, connection: PooledConnection) -> None:
        """Remove a connection from the kept connections."""
        self._idle.remove(connection)
        if connection.expiry is not None:
            connection.expiry.cancel()
            connection.expiry = None

    async def _close(self, connection: PooledConnection) -> None:
        self._free_place(connection.key)  # first: closing may be cancelled, but has then begun
        await connection.aclose()

    def _free_place(self, key: PoolKey) -> None:
        owner, _, host, _ = key
        self._places.release(owner)
        self._open[host] -= 1
        if not self._open[host]:
            del self._open[host]


def _key(target: Target) -> PoolKey:
    return (current_owner(), *target.origin)
