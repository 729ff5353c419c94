"""Connections and pauses of hosts over two servers: real fetchers, a real site and a real PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from threading import Condition
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.client import HttpFetcher
from keyhole.fetch.host_limits import MAX_PER_HOST, HostLimits
from keyhole.serve.http.limits.shared.hosts import SharedHosts
from keyhole.serve.http.limits.shared.leases import Leases
from keyhole.serve.http.limits.shared.link import Link
from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve, unused_port
from tests.support.postgresql import Database
from tests.support.waiting import wait_for_async

SLOW = "429 Too Many Requests"


def servers(
    url: str, work: Callable[[HttpFetcher, HttpFetcher], Awaitable[Any]], site: Site, answer: float = 5.0
) -> Any:
    """Run work with the fetchers of two servers, for which the site is an ordinary host."""

    async def main() -> Any:
        config = Config(allow_private=frozenset({site.endpoint}), robots="off")
        one, two = (
            HttpFetcher(config, "Keyhole/1", host_limits=host_limits(url, answer), unlimited=frozenset())
            for _ in range(2)
        )
        async with one, two:
            return await work(one, two)

    return asyncio.run(main())


def host_limits(url: str, answer: float = 5.0) -> HostLimits:
    """Return the host limits of one server, with its own connections to the database."""
    return HostLimits(shared=SharedHosts(Leases(Link(url, answer))))


class Crowd:
    """A site whose requests wait until `wanted` are active, or for PATIENCE; it records the maximum at once."""

    def __init__(self, wanted: int) -> None:
        self.most = self._here = 0
        self._wanted = wanted
        self._changed = Condition()

    def __call__(self, _: Site) -> Responder:
        def talk(call: Call) -> None:
            with self._changed:
                self._here += 1
                self.most = max(self.most, self._here)
                self._changed.notify_all()
                self._changed.wait_for(lambda: self.most >= self._wanted, PATIENCE)
                self._here -= 1
            call.send(response(b"page"))

        return talk


def test_all_servers_together_open_as_many_connections_to_a_host_as_one(database: Database) -> None:
    crowd = Crowd(MAX_PER_HOST)
    with serve(crowd) as site:

        async def work(one: HttpFetcher, two: HttpFetcher) -> None:
            pages = await asyncio.gather(*((one, two)[n % 2].fetch(site.url(f"/{n}")) for n in range(4 * MAX_PER_HOST)))
            assert {page.body for page in pages} == {b"page"}

        servers(database.url, work, site)
    assert crowd.most == MAX_PER_HOST


def test_without_a_database_each_server_counts_its_own_connections() -> None:
    crowd = Crowd(2 * MAX_PER_HOST)
    with serve(crowd) as site:

        async def work(one: HttpFetcher, two: HttpFetcher) -> None:
            await asyncio.gather(*((one, two)[n % 2].fetch(site.url(f"/{n}")) for n in range(4 * MAX_PER_HOST)))

        servers(f"postgresql://keyhole@127.0.0.1:{unused_port()}/postgres", work, site, 0.25)
    assert crowd.most == 2 * MAX_PER_HOST


def test_a_pause_that_a_host_requests_from_one_server_applies_to_all(database: Database) -> None:
    with serve({"/": response(status=SLOW, Retry_After="60"), "/other": response(b"page")}) as site:

        async def work(one: HttpFetcher, two: HttpFetcher) -> None:
            for fetcher, url in ((one, site.url()), (two, site.url("/other")), (two, site.url("/other"))):
                with pytest.raises(KeyholeError) as caught:
                    await fetcher.fetch(url)
                assert caught.value.code is Code.RATE_LIMITED
            assert 50 < int(caught.value.facts["retry_after"]) <= 60

        servers(database.url, work, site)
    assert len(site.calls) == 1


def test_a_longer_pause_is_not_shortened_by_a_later_answer(database: Database) -> None:
    async def main() -> None:
        hosts = SharedHosts(Leases(Link(database.url, 5.0)))
        await hosts.record_wait("a.example", 60)
        await hosts.record_wait("a.example", 5)
        assert 50 < await hosts.wait_left("a.example") <= 60
        assert await hosts.wait_left("b.example") <= 0
        await hosts.aclose()

    asyncio.run(main())


def test_a_call_without_a_connection_before_its_deadline_fails_with_that_reason(database: Database) -> None:
    async def main() -> None:
        one, two = host_limits(database.url), host_limits(database.url)
        leave = asyncio.Event()
        await one.check_wait("a.example")  # creates the tables

        async def hold() -> None:
            async with one.slot("a.example", asyncio.get_running_loop().time() + 60):
                await leave.wait()

        held = [asyncio.create_task(hold()) for _ in range(MAX_PER_HOST)]

        async def taken() -> bool:
            held = await asyncio.to_thread(database.query, "SELECT cardinality(holders) FROM keyhole_leases")
            return held == [(MAX_PER_HOST,)]

        await wait_for_async(taken)
        for server in (one, two):
            with pytest.raises(KeyholeError) as caught:
                async with server.slot("a.example", asyncio.get_running_loop().time() + 0.1):
                    raise AssertionError("all connections are taken")
            assert caught.value.code is Code.TIMEOUT
            assert "were in use by other requests" in caught.value.message
        async with two.slot("b.example", asyncio.get_running_loop().time() + 60):
            leave.set()
        await asyncio.gather(*held)
        async with two.slot("a.example", asyncio.get_running_loop().time() + 5):
            pass
        await one.aclose()
        await two.aclose()
        assert database.query("SELECT sum(cardinality(holders)) FROM keyhole_leases") == [(0,)]

    asyncio.run(main())
