"""Bound the open requests of one connection: those received that are neither answered nor cancelled.

A request is open until its answer is written, so a client that does not read its answers gets no more of them. While
`MAX_OPEN` requests are open, the connection's next request waits, and the messages after it are not read.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import mcp_types as types
from mcp.shared.message import ServerMessageMetadata, SessionMessage

from keyhole.serve.stdio_stream import Item, StdioMessages

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream

MAX_OPEN: Final = 9
"""Open requests of a connection: one more than a relay sends, so that its ping does not wait behind them."""


def bounded_streams(
    read: ReadStream[Item], write: WriteStream[SessionMessage], most: int = MAX_OPEN
) -> tuple[Requests, Answers]:
    """Return the messages of a connection and the stream for the answers, with at most `most` open requests."""
    free = asyncio.Semaphore(most)
    return Requests(read, write, free), Answers(write, free)


class Requests(StdioMessages):
    """The messages of a connection, whose requests take a place each."""

    def __init__(self, read: ReadStream[Item], write: WriteStream[SessionMessage], free: asyncio.Semaphore) -> None:
        super().__init__(read, write)
        self._free = free

    async def _process(self, item: Item) -> Item:
        item = await super()._process(item)
        if not isinstance(item, SessionMessage) or not isinstance(item.message, types.JSONRPCRequest):
            return item
        await self._free.acquire()
        return SessionMessage(item.message, ServerMessageMetadata(on_request_unanswered=self._give_back))

    async def _give_back(self) -> None:
        """Free the place of a cancelled request, which gets no answer."""
        self._free.release()


class Answers:
    """The stream to a connection's client, where an answer frees the place of its request."""

    def __init__(self, write: WriteStream[SessionMessage], free: asyncio.Semaphore) -> None:
        self._write = write
        self._free = free

    async def send(self, item: SessionMessage) -> None:
        """Send a message."""
        try:
            await self._write.send(item)
        finally:  # also if the call was cancelled while its answer waited for the client
            if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                self._free.release()

    async def aclose(self) -> None:
        """Close the underlying stream."""
        await self._write.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
