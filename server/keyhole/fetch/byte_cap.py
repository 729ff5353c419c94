"""Limit how many bytes one connection may deliver, including headers and chunk framing.

exchange.py limits the body. Headers and framing need a separate limit, because a hostile server could otherwise keep
the parser reading until the deadline: with endless interim responses, or with chunks of one byte that have 90 KB of
chunk extensions each.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from typing import Any, Final

import httpcore

from keyhole.fetch.streams import WrappedStream

MAX_HEAD: Final = 400_000
"""Bytes until the end of the final response's headers. One response may have 100 KB of headers (httpcore's limit), and
the last read may include up to 64 KB of body; the rest is for interim responses (RFC 9110, section 15.2)."""


class ByteCapStream(WrappedStream):
    """A stream that raises httpcore.RemoteProtocolError once it has delivered more bytes than allowed.

    It raises httpcore.ReadError if the server closes the connection without answering.
    """

    def __init__(self, stream: httpcore.AsyncNetworkStream, left: int = MAX_HEAD) -> None:
        super().__init__(stream)
        self._left = left
        self._is_answered = False
        """True if any byte was read since the last write."""

    def raise_cap(self, size: int) -> None:
        """Allow `size` more bytes, for the body after the headers."""
        self._left += size

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._is_answered = False
        await self._stream.write(buffer, timeout)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = await self._stream.read(max_bytes, timeout)
        if not data and not self._is_answered:
            # As after a reset, a GET request may be sent again. httpcore would report an invalid response instead.
            raise httpcore.ReadError("closed without a response")
        self._is_answered = True
        self._left -= len(data)
        if self._left < 0:
            raise httpcore.RemoteProtocolError("more headers and framing than content")
        return data

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        secured = None
        try:
            secured = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        finally:
            # httpcore closes the connection after an error, but not after the cancellation of a stalled handshake.
            if secured is None:
                await self._stream.aclose()
        return ByteCapStream(secured, self._left)


class ByteCapBackend(httpcore.AsyncNetworkBackend):
    """A network backend that wraps the connections of another backend in ByteCapStream."""

    def __init__(self, backend: httpcore.AsyncNetworkBackend) -> None:
        self._backend = backend

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return ByteCapStream(await self._backend.connect_tcp(host, port, timeout, local_address, socket_options))

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.AsyncNetworkStream:
        return await self._backend.connect_unix_socket(path, timeout, socket_options)

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)
