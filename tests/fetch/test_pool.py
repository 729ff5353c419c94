"""Connections are kept for the same owner and origin, within bounds of number and time. No test opens a socket."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpcore  # noqa: TID251 - the connections of the pool
import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.host_limits import MAX_PER_HOST
from keyhole.fetch.pool import MAX_CONNECTIONS, MAX_IDLE, SPARE_CONNECTIONS, ConnectionPool, PooledConnection
from keyhole.fetch.urls import parse_target
from keyhole.runtime.owner import owned_by

SITE = parse_target("https://site.example/page")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
OF_ONE_OWNER = MAX_CONNECTIONS - SPARE_CONNECTIONS


class Stream(httpcore.AsyncNetworkStream):
    """A stream that answers every request with the same bytes, and records when it is closed."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self.received: asyncio.Queue[bytes] = asyncio.Queue()
        self.closed = asyncio.Event()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - the port's
        return await self.received.get()

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the port's
        if buffer:
            self.received.put_nowait(self._answer)

    async def aclose(self) -> None:
        self.closed.set()
        await asyncio.sleep(0)  # as a socket does

    def get_extra_info(self, info: str) -> Any:
        return None


class Dialer:
    """Records the connections that a pool opens. Hosts in `down` cannot be connected to."""

    def __init__(self, answer: bytes = OK, down: tuple[str, ...] = ()) -> None:
        self.streams: list[Stream] = []
        self._answer = answer
        self._down = down

    async def __call__(self, scheme: str, host: str, port: int) -> httpcore.AsyncNetworkStream:
        if host in self._down:
            raise KeyholeError(Code.CONNECT_FAILURE, "down")
        self.streams.append(Stream(self._answer))
        return self.streams[-1]

    @property
    def open(self) -> int:
        """The number of connections that are not closed."""
        return sum(not stream.closed.is_set() for stream in self.streams)


async def take(pool: ConnectionPool, url: str = SITE.url) -> PooledConnection:
    """Take a connection as a GET request does."""
    target = parse_target(url)
    return await pool.take_kept(target) or await pool.open(target)


async def visit(pool: ConnectionPool, url: str = SITE.url, owner: str = "") -> PooledConnection:
    """Send a request, read the response and give the connection back."""
    with owned_by(owner):
        connection = await take(pool, url)
    connection.begin()
    response = await connection.handle_async_request(httpcore.Request("GET", url, headers={"Host": "site"}))
    await response.aread()
    await response.aclose()
    await pool.give_back(connection)
    return connection


def run(work: Callable[[ConnectionPool, Dialer], Awaitable[None]], dialer: Dialer | None = None, **named: Any) -> None:
    async def main() -> None:
        made = dialer or Dialer()
        pool = ConnectionPool(made, **named)
        await work(pool, made)
        await pool.aclose()
        assert made.open == 0

    asyncio.run(main())


def test_a_connection_serves_the_next_request_of_its_owner_to_its_origin() -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        assert await visit(pool, owner="a") is await visit(pool, "https://site.example/other", owner="a")
        assert len(dialer.streams) == 1

    run(work)


@pytest.mark.parametrize(
    ("url", "owner"),
    [
        (SITE.url, "b"),
        (SITE.url, ""),
        ("http://site.example/page", "a"),
        ("https://site.example:8443/page", "a"),
        ("https://www.site.example/page", "a"),
    ],
)
def test_a_connection_never_serves_another_owner_scheme_host_or_port(url: str, owner: str) -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        assert await visit(pool, owner="a") is not await visit(pool, url, owner)

    run(work)


def test_a_connection_in_use_is_not_given_to_another_request() -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        one, two = await take(pool), await take(pool)
        assert one is not two
        await pool.give_back(one)
        await pool.give_back(two)

    run(work)


def test_a_connection_may_expire_while_the_pool_closes_another() -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        await visit(pool, owner="a")
        expiring = await visit(pool, owner="b")
        first, second = dialer.streams

        async def close_slowly() -> None:
            await second.closed.wait()
            first.closed.set()

        first.aclose = close_slowly  # type: ignore[method-assign]
        asyncio.get_running_loop().call_soon(pool._close_later, expiring)

    run(work)


def test_an_idle_connection_is_closed_after_its_time() -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        await visit(pool)
        await asyncio.wait_for(dialer.streams[0].closed.wait(), 5)
        assert await pool.take_kept(SITE) is None

    run(work, idle_seconds=0.0)


def test_the_connection_that_was_used_longest_ago_is_closed_if_too_many_are_idle() -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        for number in range(MAX_IDLE + 2):
            await visit(pool, f"https://{number}.example/")
        assert [stream.closed.is_set() for stream in dialer.streams] == [True, True, *([False] * MAX_IDLE)]

    run(work)


def test_an_idle_connection_of_any_owner_makes_room_for_a_new_one_to_its_host() -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        for owner in range(MAX_PER_HOST + 3):
            await visit(pool, owner=str(owner))
            assert dialer.open <= MAX_PER_HOST
        await visit(pool, "https://other.example/")
        assert dialer.open == MAX_PER_HOST + 1

    run(work)


def test_no_more_connections_are_opened_in_advance_than_a_host_may_have() -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        first = await take(pool)
        await asyncio.gather(*(pool.warm(SITE) for _ in range(2 * MAX_PER_HOST)))
        assert len(dialer.streams) == MAX_PER_HOST
        await pool.give_back(first)
        for connection in [await take(pool) for _ in range(MAX_PER_HOST)]:
            await pool.give_back(connection)
        assert len(dialer.streams) == MAX_PER_HOST

    run(work)


def test_a_new_connection_waits_while_all_are_in_use_and_takes_the_place_of_the_next_that_is_given_back() -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        busy = [await take(pool, f"https://{number}.example/") for number in range(OF_ONE_OWNER)]
        waiting = asyncio.create_task(take(pool))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not waiting.done()
        await pool.give_back(busy.pop())
        busy.append(await asyncio.wait_for(waiting, 5))
        assert dialer.open == OF_ONE_OWNER
        for connection in busy:
            await pool.give_back(connection)

    run(work)


def test_the_connections_of_a_busy_owner_do_not_keep_another_one_waiting() -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        with owned_by("busy"):
            calls = [asyncio.create_task(take(pool, f"https://{n}.example/")) for n in range(MAX_CONNECTIONS)]
            await asyncio.sleep(0)
        await asyncio.wait_for(visit(pool, owner="other"), 5)
        for call in calls:
            await pool.give_back(await asyncio.wait_for(call, 5))

    run(work)


def test_the_next_place_goes_to_the_owner_that_has_the_fewest_connections() -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        async def take_for(owner: str) -> PooledConnection:
            with owned_by(owner):
                return await take(pool, f"https://{owner}.example/")

        with owned_by("greedy"):
            busy = [await take(pool, f"https://{number}.example/") for number in range(OF_ONE_OWNER)]
        busy += [await take_for(f"other-{number}") for number in range(SPARE_CONNECTIONS)]
        greedy = [asyncio.create_task(take_for("greedy")) for _ in range(8)]
        await asyncio.sleep(0)
        polite = asyncio.create_task(take_for("polite"))
        await asyncio.sleep(0)
        await pool.give_back(busy.pop())
        busy.append(await asyncio.wait_for(polite, 5))
        assert not any(task.done() for task in greedy)
        for connection in busy:
            await pool.give_back(connection)
        for connection in await asyncio.gather(*greedy):
            await pool.give_back(connection)

    run(work)


def test_an_idle_connection_is_closed_for_a_new_one_when_all_places_are_taken() -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        await visit(pool)
        busy = [await take(pool, f"https://{number}.example/") for number in range(OF_ONE_OWNER)]
        assert dialer.streams[0].closed.is_set()
        for connection in busy:
            await pool.give_back(connection)

    run(work)


def test_calls_that_begin_together_each_close_an_idle_connection_when_all_places_are_taken() -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        await visit(pool, "https://idle-1.example/")
        await visit(pool, "https://idle-2.example/")
        busy = [await take(pool, f"https://{number}.example/") for number in range(OF_ONE_OWNER - 2)]
        calls = (take(pool, f"https://new-{number}.example/") for number in range(2))
        busy += await asyncio.wait_for(asyncio.gather(*calls), 5)
        for connection in busy:
            await pool.give_back(connection)

    run(work)


def test_a_failed_connection_frees_its_place() -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        for _ in range(MAX_CONNECTIONS + 1):
            with pytest.raises(KeyholeError):
                await asyncio.wait_for(take(pool, "https://down.example/"), 5)

    run(work, Dialer(down=("down.example",)))


@pytest.mark.parametrize("extra", [b"x", OK], ids=["a byte", "a response"])
def test_a_connection_with_bytes_after_the_response_is_closed(extra: bytes) -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        await visit(pool)
        assert dialer.open == 0

    run(work, Dialer(OK + extra))


@pytest.mark.parametrize("sent", [b"", b"x", OK], ids=["end", "a byte", "a response"])
def test_a_connection_on_which_the_server_sent_something_while_it_was_idle_is_not_used(sent: bytes) -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        await visit(pool)
        dialer.streams[0].received.put_nowait(sent)
        await visit(pool)
        assert [stream.closed.is_set() for stream in dialer.streams] == [True, False]

    run(work)


def test_a_connection_whose_response_was_not_read_to_its_end_is_closed() -> None:
    async def work(pool: ConnectionPool, dialer: Dialer) -> None:
        connection = await take(pool)
        connection.begin()
        response = await connection.handle_async_request(httpcore.Request("GET", SITE.url, headers={"Host": "site"}))
        await response.aclose()
        await pool.give_back(connection)
        assert dialer.open == 0

    run(work, Dialer(OK.replace(b": 2", b": 200")))
