"""Open TCP connections that are closed if the caller is cancelled while they are being opened.

`anyio.connect_tcp`, which httpcore uses, loses a connection that is complete when its caller is cancelled.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable
from typing import Any

import httpcore
from anyio.abc import SocketStream
from httpcore._backends.anyio import AnyIOStream


class TcpBackend(httpcore.AnyIOBackend):
    """Connects to IP addresses itself, and to names, such as that of a proxy, as httpcore does."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to `host:port`. Raises httpcore.ConnectError."""
        family = _family(host)
        if family is None:
            return await super().connect_tcp(host, port, timeout, local_address, socket_options)
        connection, stream = socket.socket(family, socket.SOCK_STREAM), None
        try:
            connection.setblocking(False)
            await asyncio.get_running_loop().sock_connect(connection, (host, port))
            stream = await SocketStream.from_socket(connection)
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        finally:
            if stream is None:
                connection.close()
        return AnyIOStream(stream)


def _family(host: str) -> socket.AddressFamily | None:
    """Return the family of an IP address, None for a name."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except OSError:
            continue
        return family
    return None
