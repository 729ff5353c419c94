"""Connect to a checked address through the operator's proxy.

CONNECT is used for both http and https. For any other method, the proxy would replace the Host header with the checked
address (RFC 9112, section 3.2.2). Through a tunnel, Host header, SNI and certificate name stay those of the URL.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Final

import httpcore

from keyhole.errors import Code, KeyholeError

MAX_HEAD: Final = 16_384
"""Bytes read of the proxy's response to CONNECT. Proxies send a few hundred; other servers may send anything."""

_SUCCESS: Final = re.compile(rb"HTTP/1\.[01] 2[0-9]{2}[ \r]")  # RFC 9110, section 9.3.6: any 2xx opens the tunnel
_STATUS: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})[ \r]")

Dial = Callable[[str, int], Awaitable[httpcore.AsyncNetworkStream]]
"""Connects to a host and port without any check."""


async def connect_through_proxy(proxy: str, address: str, port: int, dial: Dial) -> httpcore.AsyncNetworkStream:
    """Return a stream to `address:port` through `proxy` (`http://host:port`).

    Raises KeyholeError: connect_failure.
    """
    host, _, proxy_port = proxy.removeprefix("http://").rpartition(":")
    try:
        stream = await dial(host.strip("[]"), int(proxy_port))
    except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
        raise KeyholeError(Code.CONNECT_FAILURE, "the proxy of KEYHOLE_PROXY cannot be reached") from error
    is_open = False
    try:
        await _send_connect(stream, f"[{address}]:{port}" if ":" in address else f"{address}:{port}")
        is_open = True
    except httpcore.NetworkError as error:
        raise KeyholeError(Code.CONNECT_FAILURE, "the proxy of KEYHOLE_PROXY closed the connection") from error
    finally:
        if not is_open:
            await stream.aclose()
    return stream


async def _send_connect(stream: httpcore.AsyncNetworkStream, authority: str) -> None:
    await stream.write(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode("ascii"))
    head = b""
    while b"\r\n\r\n" not in head:
        piece = await stream.read(4_096)
        head += piece
        if not piece or len(head) > MAX_HEAD:
            raise KeyholeError(Code.CONNECT_FAILURE, "the proxy of KEYHOLE_PROXY did not answer like a proxy")
    if not _SUCCESS.match(head):
        status = _STATUS.match(head)
        answer = f"HTTP {int(status[1])}" if status else "something other than HTTP"
        raise KeyholeError(Code.CONNECT_FAILURE, f"the proxy of KEYHOLE_PROXY answered {answer} for {authority}")
    # In HTTP and TLS the client sends first, so these bytes are the proxy's, not the site's response.
    if not head.endswith(b"\r\n\r\n"):
        raise KeyholeError(Code.CONNECT_FAILURE, "the proxy of KEYHOLE_PROXY sent data before the site could")
