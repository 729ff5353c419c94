"""Serve one case on loopback: send its bytes, and end the connection as it says."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from benchmarks.fetch.faults.cases import Case, End, Reply
from benchmarks.fetch.faults.pages import head

READ_TIME: Final = 0.01
"""Seconds between the bytes and a reset, which would discard bytes that the client has not read yet."""
RECORD: Final = 500
"""Bytes of the page in one TLS record. A cut record is unreadable, so a page needs several."""
NOT_FOUND: Final = Reply(head("404 Not Found", Content_Length="0"))


@asynccontextmanager
async def serve(case: Case, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve a case until the block ends; yield the port. `context`: the certificate of a case with TLS."""
    connections = _Connections(case, context)
    server = await asyncio.start_server(connections.answer, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        connections.close()


class _Connections:
    """The connections of a case, and how often each path was requested."""

    def __init__(self, case: Case, context: ssl.SSLContext | None) -> None:
        self._case = case
        self._context = context
        self._requests: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        """End the connections that are still open."""
        for task in self._tasks:
            task.cancel()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection, until a reply ends it or the client leaves."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, ssl.SSLError, asyncio.CancelledError):
                if self._context is None or self._case.tls_cut is None:
                    await self._answer_plain(reader, writer)
                else:
                    await self._answer_tls(reader, writer, self._context, self._case.tls_cut)
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _answer_plain(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"" if self._requests else self._case.early)
        end = End.KEEP
        while end is End.KEEP:
            reply = self._reply(await reader.readuntil(b"\r\n\r\n"))
            writer.write(reply.data)
            await writer.drain()
            if reply.late:
                await asyncio.sleep(READ_TIME)
                writer.write(reply.late)
            end = reply.end
        await _end(reader, writer, end)

    async def _answer_tls(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, context: ssl.SSLContext, cut: int
    ) -> None:
        """Answer over TLS until `cut` bytes of the server's side are sent."""
        received, to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(received, to_send, server_side=True)
        is_open, left, request = False, cut, b""
        while left > 0:
            try:
                if not is_open:
                    tls.do_handshake()
                    is_open = True
                request += tls.read(65_536)
                if request.endswith(b"\r\n\r\n"):
                    data = self._reply(request).data
                    for at in range(0, len(data), RECORD):
                        tls.write(data[at : at + RECORD])
                    request = b""
            except ssl.SSLWantReadError:
                pass
            data = to_send.read()[:left]
            left -= len(data)
            writer.write(data)
            await writer.drain()
            if left > 0 and not data:
                if not (piece := await reader.read(65_536)):
                    return
                received.write(piece)
        await _end(reader, writer, self._case.tls_end)

    def _reply(self, request: bytes) -> Reply:
        path = request.split(b" ", 2)[1].decode()
        replies = self._case.replies.get(path, (NOT_FOUND,))
        reply = replies[min(self._requests[path], len(replies) - 1)]
        self._requests[path] += 1
        return reply


async def _end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, end: End) -> None:
    """End a connection: close it, reset it, or wait for the client to leave."""
    if end is End.STALL:
        await reader.read()
    elif end is End.RST:
        await asyncio.sleep(READ_TIME)
        linger = struct.pack("ii", 1, 0)  # closing discards what was not sent and resets the connection
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    else:
        writer.write_eof()
        await asyncio.sleep(READ_TIME)
