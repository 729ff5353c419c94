"""Bounds how many bytes one connection may deliver, framing and all. No HTTP here: bytes are counted, not read.

A body has its own bound. What stands around it has none: a server can send interim responses for ever, or a page in
chunks of one byte under 90 KB of extensions each, and a parser would read on until the deadline.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from typing import Any, Final

import httpcore

from keyhole.fetch.streams import PassingStream

MAX_HEAD: Final = 400_000
"""Bytes until the final response's headers are over. One response may have 100 KB of them (httpcore's bound) and the
last piece read brings up to 64 KB of body; the rest is for interim responses (RFC 9110, section 15.2)."""


class Meter(PassingStream):
    """A stream that breaks once it has delivered more than it may: `MAX_HEAD` bytes until `allow` is called."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, left: int = MAX_HEAD) -> None:
        super().__init__(stream)
        self._left = left

    def allow(self, more: int) -> None:
        """The headers are over: a body of some size follows."""
        self._left += more

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = await self._stream.read(max_bytes, timeout)
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
            # httpcore closes the connection after an error, but not when a handshake without end is cancelled.
            if secured is None:
                await self._stream.aclose()
        return Meter(secured, self._left)


class MeteredBackend(httpcore.AsyncNetworkBackend):
    """A network backend whose connections are metered; how they are made is the other's affair."""

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
        return Meter(await self._backend.connect_tcp(host, port, timeout, local_address, socket_options))

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.AsyncNetworkStream:
        return await self._backend.connect_unix_socket(path, timeout, socket_options)

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)
