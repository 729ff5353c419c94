"""A connection between a client and a server that a test can cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit


class Wire:
    """Forwards the connections of clients to one server."""

    def __init__(self, url: str) -> None:
        """`url`: that of the server."""
        self._address = urlsplit(url)
        self._writers: set[asyncio.StreamWriter] = set()
        self._received = b""
        self._has_received = asyncio.Condition()
        self.port = 0

    @property
    def url(self) -> str:
        """The URL of the server, through this wire."""
        return self._address._replace(netloc=f"127.0.0.1:{self.port}").geturl()

    def cut(self) -> None:
        """Break all connections that are open. New ones can be made."""
        for writer in self._writers:
            writer.transport.abort()

    def count(self, text: bytes) -> int:
        """Return how often the server has sent a text."""
        return self._received.count(text)

    async def wait_for(self, text: bytes, count: int) -> None:
        """Wait until the server has sent a text so often."""
        async with self._has_received:
            await self._has_received.wait_for(lambda: self.count(text) >= count)

    async def _note(self, data: bytes) -> None:
        async with self._has_received:
            self._received += data
            self._has_received.notify_all()

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one connection until one side closes it."""
        there, back = await asyncio.open_connection(self._address.hostname, self._address.port)
        ends = {writer, back}
        self._writers |= ends
        pumps = [
            asyncio.ensure_future(_pump(reader, back)),
            asyncio.ensure_future(_pump(there, writer, self._note)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.transport.abort()
            await asyncio.gather(*pumps, return_exceptions=True)
            self._writers -= ends


@asynccontextmanager
async def wire(url: str) -> AsyncIterator[Wire]:
    """Forward connections to a server until the block ends."""
    wire = Wire(url)
    async with await asyncio.start_server(wire.forward, "127.0.0.1", 0) as server:
        wire.port = server.sockets[0].getsockname()[1]
        try:
            yield wire
        finally:
            wire.cut()


async def _pump(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    note: Callable[[bytes], Awaitable[None]] | None = None,
) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
            if note:
                await note(data)
