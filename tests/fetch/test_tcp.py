"""TCP connections: to addresses and names, refused ones, and ones that are given up."""

from __future__ import annotations

import asyncio
import gc
import socket

import httpcore  # noqa: TID251 - the port that is tested
import pytest

from keyhole.fetch.backend import TcpBackend
from tests.support.loopback import response, serve, unused_port

MOST_STEPS = 30
"""Steps of the event loop within which a connection on loopback is open."""


def test_an_address_and_a_name_are_connected_to() -> None:
    async def ask(host: str, port: int) -> bytes:
        stream = await TcpBackend().connect_tcp(host, port)
        await stream.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = await stream.read(12)
        await stream.aclose()
        return answer

    with serve({"/": response(b"page")}) as site:
        port = int(site.endpoint.rpartition(":")[2])
        for host in ("127.0.0.1", "localhost"):
            assert asyncio.run(ask(host, port)) == b"HTTP/1.1 200"


def test_a_refused_connection_is_a_connect_error() -> None:
    with pytest.raises(httpcore.ConnectError):
        asyncio.run(TcpBackend().connect_tcp("127.0.0.1", unused_port()))


def test_no_socket_stays_open_whenever_the_caller_is_cancelled() -> None:
    async def cancel_after(steps: int, port: int) -> None:
        connecting = asyncio.ensure_future(TcpBackend().connect_tcp("127.0.0.1", port))
        for _ in range(steps):
            await asyncio.sleep(0)
        connecting.cancel()
        (result,) = await asyncio.gather(connecting, return_exceptions=True)
        if not isinstance(result, BaseException):
            await result.aclose()

    with socket.create_server(("127.0.0.1", 0)) as server:
        for steps in range(MOST_STEPS):
            asyncio.run(cancel_after(steps, server.getsockname()[1]))
        gc.collect()  # an open socket would be reported as a failure of this test
