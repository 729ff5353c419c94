"""A connection through the operator's proxy. It is asked for checked literal addresses only; no names, no URLs here.

CONNECT is used for http as for https, because a proxy must replace the Host header of any other request by the
host of its target (RFC 9112, section 3.2.2), which here is an address. What goes through the tunnel is the same
as without a proxy, so Host header, SNI and certificate name stay those of the URL.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Final

import httpcore

from keyhole.errors import Code, KeyholeError

MAX_HEAD: Final = 16_384
"""Bytes of the proxy's answer to CONNECT. Real ones take a few hundred; a wrong address may answer with anything."""

_OPENED: Final = re.compile(rb"HTTP/1\.[01] 2[0-9]{2}[ \r]")  # RFC 9110, section 9.3.6: any 2xx opens the tunnel
_STATUS: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})[ \r]")

Dial = Callable[[str, int], Awaitable[httpcore.AsyncNetworkStream]]
"""Opens a connection to a host and port without any check."""


async def connect_through(proxy: str, address: str, port: int, dial: Dial) -> httpcore.AsyncNetworkStream:
    """A stream to `address:port` through `proxy` (`http://host:port`). Raises KeyholeError: connect_failure."""
    host, _, proxy_port = proxy.removeprefix("http://").rpartition(":")
    try:
        stream = await dial(host.strip("[]"), int(proxy_port))
    except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
        raise KeyholeError(Code.CONNECT_FAILURE, "the proxy of KEYHOLE_PROXY cannot be reached") from error
    opened = False
    try:
        await _open(stream, f"[{address}]:{port}" if ":" in address else f"{address}:{port}")
        opened = True
    except httpcore.NetworkError as error:
        raise KeyholeError(Code.CONNECT_FAILURE, "the proxy of KEYHOLE_PROXY broke off") from error
    finally:
        if not opened:
            await stream.aclose()
    return stream


async def _open(stream: httpcore.AsyncNetworkStream, authority: str) -> None:
    await stream.write(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode("ascii"))
    head = b""
    while b"\r\n\r\n" not in head:
        piece = await stream.read(4_096)
        head += piece
        if not piece or len(head) > MAX_HEAD:
            raise KeyholeError(Code.CONNECT_FAILURE, "the proxy of KEYHOLE_PROXY did not answer as a proxy does")
    if not _OPENED.match(head):
        status = _STATUS.match(head)
        said = f"HTTP {int(status[1])}" if status else "what is not HTTP"
        raise KeyholeError(Code.CONNECT_FAILURE, f"the proxy of KEYHOLE_PROXY answered {said} for {authority}")
    # We speak first in HTTP and in TLS: what comes before that is not of the site, and must not be taken for it.
    if not head.endswith(b"\r\n\r\n"):
        raise KeyholeError(Code.CONNECT_FAILURE, "the proxy of KEYHOLE_PROXY spoke before the site could")
