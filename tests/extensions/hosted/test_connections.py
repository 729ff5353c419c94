"""Connections whose client stalls are closed."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from keyhole.extensions.hosted.uvicorn_server import MAX_OPEN_FILES, TimeoutProtocol, raise_file_limit
from keyhole.serve.http.asgi import Receive, Scope, Send

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


class ShortTimeoutProtocol(TimeoutProtocol):
    """The real protocol with a shorter timeout."""

    head_seconds = 0.05


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer once the body is complete; answer /refused at once."""
    if scope["type"] == "http":
        while scope["path"] != "/refused" and (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[str, int]]:
    config = uvicorn.Config(app, http=ShortTimeoutProtocol, ws="none", lifespan="off", log_level="critical")
    config.load()
    server = uvicorn.Server(config)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        task = asyncio.create_task(server._serve([listener]))
        listener.listen()
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            await task


def exchange(*pieces: bytes, wait_between: bool = False) -> bytes:
    """Return everything that the server sends until it closes the connection."""

    async def run() -> bytes:
        async with serving() as (host, port):
            reader, writer = await asyncio.open_connection(host, port)
            received = b""
            for piece in pieces:
                writer.write(piece)
                if wait_between:
                    received += await reader.readuntil(b"\r\n\r\n")
            received += await asyncio.wait_for(reader.read(), 10)
            writer.close()
            return received

    return asyncio.run(run())


@pytest.mark.parametrize("pieces", [(), (b"G",), (b"GET / HTTP/1.1\r\n", b"Host: a\r\n")])
def test_a_connection_without_a_request_is_closed(pieces: tuple[bytes, ...]) -> None:
    assert exchange(*pieces) == b""


def test_a_dripping_head_closes_the_connection_even_after_an_answer() -> None:
    received = exchange(GET, b"GET / HTT", wait_between=False)
    assert received.count(b"200 OK") == 1


def test_every_request_of_a_persistent_connection_is_answered() -> None:
    assert exchange(GET, GET, GET[:3] + b"\x00", wait_between=False).count(b"200 OK") == 2


def test_the_rest_of_an_answered_requests_body_times_out() -> None:
    async def run() -> bytes:
        async with serving() as (host, port):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(b"POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
            received = await reader.readuntil(b"\r\n\r\n")
            writer.write(b"a drop")
            received += await asyncio.wait_for(reader.read(), 10)
            writer.close()
            return received

    assert b"200 OK" in asyncio.run(run())


def test_a_body_can_take_longer_than_a_head() -> None:
    async def run() -> bytes:
        async with serving() as (host, port):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(reader.read(1), 4 * ShortTimeoutProtocol.head_seconds)
            writer.write(b"b")
            received = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            writer.close()
            return received

    assert b"200 OK" in asyncio.run(run())


def test_the_file_limit_is_raised_as_far_as_the_system_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    calls: list[Any] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1_024, 4_096))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: calls.append(limits))
    raise_file_limit()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1_024, resource.RLIM_INFINITY))
    raise_file_limit()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (4_096, 4_096))
    raise_file_limit()
    assert calls == [(4_096, 4_096), (MAX_OPEN_FILES, resource.RLIM_INFINITY)]
    monkeypatch.undo()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before
