"""Limit how many bytes a connection may deliver for one response, including headers and chunk framing.

exchange.py limits the body. Headers and framing need a separate limit, because a hostile server could otherwise keep
the parser reading until the deadline: with endless interim responses, or with chunks of one byte that have 90 KB of
chunk extensions each.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import httpcore

MAX_HEAD: Final = 400_000
"""Bytes until the end of the final response's headers. One response may have 100 KB of headers (httpcore's limit), and
the last read may include up to 64 KB of body; the rest is for interim responses (RFC 9110, section 15.2)."""
READ_STEPS: Final = 10
"""Steps of the event loop after which a read has returned whatever had arrived before it; one takes microseconds. It
needs one step for the socket and one for each buffer on the way."""


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
        """Allow the bytes of a head, whatever the previous response left of its cap."""
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
