"""Connections that never become a request do not stay."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from keyhole.serve.http.asgi import Receive, Scope, Send
from keyhole.serve.http.connections import MAX_OPEN, PatientProtocol, allow_many

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


class Hasty(PatientProtocol):
    """As in earnest, but for the time."""

    head_seconds = 0.05


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers when the body is whole."""
    if scope["type"] == "http":
        while scope["path"] != "/refused" and (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[str, int]]:
    config = uvicorn.Config(app, http=Hasty, ws="none", lifespan="off", log_level="critical")
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


def heard(*pieces: bytes, wait_between: bool = False) -> bytes:
    """All that the server says until it closes the connection."""

    async def run() -> bytes:
        async with serving() as (host, port):
            reader, writer = await asyncio.open_connection(host, port)
            said = b""
            for piece in pieces:
                writer.write(piece)
                if wait_between:
                    said += await reader.readuntil(b"\r\n\r\n")
            said += await asyncio.wait_for(reader.read(), 10)
            writer.close()
            return said

    return asyncio.run(run())


@pytest.mark.parametrize("pieces", [(), (b"G",), (b"GET / HTTP/1.1\r\n", b"Host: a\r\n")])
def test_a_head_that_does_not_come_ends_the_connection(pieces: tuple[bytes, ...]) -> None:
    assert heard(*pieces) == b""


def test_a_head_that_drips_ends_the_connection_after_an_answer_too() -> None:
    said = heard(GET, b"GET / HTT", wait_between=False)
    assert said.count(b"200 OK") == 1


def test_every_request_of_a_kept_connection_is_answered() -> None:
    assert heard(GET, GET, GET[:3] + b"\x00", wait_between=False).count(b"200 OK") == 2


def test_the_body_of_a_request_that_is_answered_is_not_waited_for_without_end() -> None:
    async def run() -> bytes:
        async with serving() as (host, port):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(b"POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
            said = await reader.readuntil(b"\r\n\r\n")
            writer.write(b"a drop")
            said += await asyncio.wait_for(reader.read(), 10)
            writer.close()
            return said

    assert b"200 OK" in asyncio.run(run())


def test_a_body_may_take_longer_than_a_head() -> None:
    async def run() -> bytes:
        async with serving() as (host, port):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(reader.read(1), 4 * Hasty.head_seconds)
            writer.write(b"b")
            said = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            writer.close()
            return said

    assert b"200 OK" in asyncio.run(run())


def test_as_many_files_may_be_open_as_the_system_lets(monkeypatch: pytest.MonkeyPatch) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    asked: list[Any] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1_024, 4_096))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits))
    allow_many()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1_024, resource.RLIM_INFINITY))
    allow_many()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (4_096, 4_096))
    allow_many()
    assert asked == [(4_096, 4_096), (MAX_OPEN, resource.RLIM_INFINITY)]
    monkeypatch.undo()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before
