"""A connection has a bounded number of open requests, in a real server of the SDK."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage

from keyhole.serve.stdio import bounded_streams
from tests.support.loopback import PATIENCE

MOST = 3
CLIENT = types.Implementation(name="test", version="1")
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT.model_dump(exclude_none=True)}


class Connection:
    """A client of a server whose calls end when `may_end` is set."""

    def __init__(self) -> None:
        self.to_server, self.read = anyio.create_memory_object_stream[Any](1_000)
        self.write, self.from_server = anyio.create_memory_object_stream[Any](0)
        self.running = self.started = 0
        self.may_end = asyncio.Event()

    async def call_tool(self, _ctx: object, _params: object) -> types.CallToolResult:
        self.started += 1
        self.running += 1
        try:
            await self.may_end.wait()
        finally:
            self.running -= 1
        return types.CallToolResult(content=[])

    def request(self, id: int, method: str = "tools/call", **params: Any) -> None:
        self.to_server.send_nowait(
            SessionMessage(types.JSONRPCRequest(jsonrpc="2.0", id=id, method=method, params=params or {"name": "one"}))
        )

    def notify(self, method: str, **params: Any) -> None:
        self.to_server.send_nowait(
            SessionMessage(types.JSONRPCNotification(jsonrpc="2.0", method=method, params=params or None))
        )

    async def answers(self, count: int) -> list[int]:
        with anyio.fail_after(PATIENCE):
            return [(await self.from_server.receive()).message.id for _ in range(count)]


@asynccontextmanager
async def connected() -> AsyncIterator[Connection]:
    connection = Connection()
    server: Server[Any] = Server("test", on_call_tool=connection.call_tool)
    async with anyio.create_task_group() as group:
        streams = bounded_streams(connection.read, connection.write, MOST)
        group.start_soon(server.run, *streams, server.create_initialization_options())
        connection.request(0, "initialize", **INITIALIZE)
        assert await connection.answers(1) == [0]
        connection.notify("notifications/initialized")
        yield connection
        group.cancel_scope.cancel()
    for stream in (connection.to_server, connection.read, connection.write, connection.from_server):
        stream.close()


async def settled(connection: Connection, started: int) -> None:
    """Let everything run that can; check how many calls have started."""
    for _ in range(500):
        await asyncio.sleep(0)
    assert connection.started == started


def test_no_more_than_the_bound_run_and_all_are_answered() -> None:
    async def run() -> None:
        async with connected() as connection:
            for id in range(1, 11):
                connection.request(id)
            await settled(connection, MOST)
            connection.may_end.set()
            assert sorted(await connection.answers(10)) == list(range(1, 11))

    asyncio.run(run())


def test_answers_that_the_client_does_not_read_keep_their_places() -> None:
    async def run() -> None:
        async with connected() as connection:
            connection.may_end.set()
            for id in range(1, 11):
                connection.request(id)
            await settled(connection, MOST)
            assert len(await connection.answers(1)) == 1
            await settled(connection, MOST + 1)

    asyncio.run(run())


def test_a_cancelled_call_gives_its_place_to_the_next() -> None:
    async def run() -> None:
        async with connected() as connection:
            for id in range(1, MOST + 1):
                connection.request(id)
            await settled(connection, MOST)
            connection.notify("notifications/cancelled", requestId=2)
            connection.request(4)
            connection.request(5)
            await settled(connection, MOST + 1)
            assert connection.running == MOST

    asyncio.run(run())


def test_requests_with_equal_ids_take_a_place_each() -> None:
    async def run() -> None:
        async with connected() as connection:
            for _ in range(10):
                connection.request(1)
            await settled(connection, MOST)
            connection.may_end.set()
            assert await connection.answers(10) == [1] * 10

    asyncio.run(run())
