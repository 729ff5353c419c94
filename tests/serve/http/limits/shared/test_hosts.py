"""Connections and waits of hosts over two servers: real fetchers, a real site and a real PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from threading import Condition
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.client import HttpFetcher
from keyhole.fetch.host_limits import PER_HOST, Manners
from keyhole.serve.http.limits.shared.hosts import SharedHosts
from keyhole.serve.http.limits.shared.leases import Leases
from keyhole.serve.http.limits.shared.link import Link
from tests.support.loopback import PATIENCE, Call, Site, Talk, response, serve, unused_port
from tests.support.postgresql import Database
from tests.support.waiting import until

SLOW = "429 Too Many Requests"


def servers(
    url: str, work: Callable[[HttpFetcher, HttpFetcher], Awaitable[Any]], site: Site, answer: float = 5.0
) -> Any:
    """Do something with the fetchers of two servers, to which the site is a stranger."""

    async def main() -> Any:
        config = Config(allow_private=frozenset({site.endpoint}), robots="off")
        one, two = (HttpFetcher(config, "Keyhole/1", manners=manners(url, answer), own=frozenset()) for _ in range(2))
        async with one, two:
            return await work(one, two)

    return asyncio.run(main())


def manners(url: str, answer: float = 5.0) -> Manners:
    """Of one server, with connections of its own to the database."""
    return Manners(others=SharedHosts(Leases(Link(url, answer))))


class Crowd:
    """A site at which every request waits for so many others, or for the end; how many there were at once, at most."""

    def __init__(self, wanted: int) -> None:
        self.most = self._here = 0
        self._wanted = wanted
        self._changed = Condition()

    def __call__(self, _: Site) -> Talk:
        def talk(call: Call) -> None:
            with self._changed:
                self._here += 1
                self.most = max(self.most, self._here)
                self._changed.notify_all()
                self._changed.wait_for(lambda: self.most >= self._wanted, PATIENCE)
                self._here -= 1
            call.send(response(b"page"))

        return talk


def test_all_servers_together_have_as_many_connections_to_a_host_as_one(database: Database) -> None:
    crowd = Crowd(PER_HOST)
    with serve(crowd) as site:

        async def work(one: HttpFetcher, two: HttpFetcher) -> None:
            pages = await asyncio.gather(*((one, two)[n % 2].fetch(site.url(f"/{n}")) for n in range(4 * PER_HOST)))
            assert {page.body for page in pages} == {b"page"}

        servers(database.url, work, site)
    assert crowd.most == PER_HOST


def test_two_servers_without_a_database_each_go_by_their_own_count() -> None:
    crowd = Crowd(2 * PER_HOST)
    with serve(crowd) as site:

        async def work(one: HttpFetcher, two: HttpFetcher) -> None:
            await asyncio.gather(*((one, two)[n % 2].fetch(site.url(f"/{n}")) for n in range(4 * PER_HOST)))

        servers(f"postgresql://keyhole@127.0.0.1:{unused_port()}/postgres", work, site, 0.25)
    assert crowd.most == 2 * PER_HOST


def test_a_wait_that_a_host_asked_one_server_for_holds_for_all(database: Database) -> None:
    with serve({"/": response(status=SLOW, Retry_After="60"), "/other": response(b"page")}) as site:

        async def work(one: HttpFetcher, two: HttpFetcher) -> None:
            for fetcher, url in ((one, site.url()), (two, site.url("/other")), (two, site.url("/other"))):
                with pytest.raises(KeyholeError) as caught:
                    await fetcher.fetch(url)
                assert caught.value.code is Code.RATE_LIMITED
            assert 50 < int(caught.value.facts["retry_after"]) <= 60

        servers(database.url, work, site)
    assert len(site.calls) == 1


def test_a_longer_wait_is_not_shortened_by_a_later_answer(database: Database) -> None:
    async def main() -> None:
        hosts = SharedHosts(Leases(Link(database.url, 5.0)))
        await hosts.leave_alone("a.example", 60)
        await hosts.leave_alone("a.example", 5)
        assert 50 < await hosts.left("a.example") <= 60
        assert await hosts.left("b.example") <= 0
        await hosts.aclose()

    asyncio.run(main())


def test_who_gets_no_connection_before_the_deadline_is_told_so(database: Database) -> None:
    async def main() -> None:
        one, two = manners(database.url), manners(database.url)
        leave = asyncio.Event()
        await one.check("a.example")  # the tables are there

        async def hold() -> None:
            async with one.slot("a.example", asyncio.get_running_loop().time() + 60):
                await leave.wait()

        held = [asyncio.create_task(hold()) for _ in range(PER_HOST)]

        async def taken() -> bool:
            held = await asyncio.to_thread(database.ask, "SELECT cardinality(holders) FROM keyhole_leases")
            return held == [(PER_HOST,)]

        await until(taken)
        for server in (one, two):
            with pytest.raises(KeyholeError) as caught:
                async with server.slot("a.example", asyncio.get_running_loop().time() + 0.1):
                    raise AssertionError("all connections are taken")
            assert caught.value.code is Code.TIMEOUT
            assert "came free" in caught.value.message
        async with two.slot("b.example", asyncio.get_running_loop().time() + 60):
            leave.set()
        await asyncio.gather(*held)
        async with two.slot("a.example", asyncio.get_running_loop().time() + 5):
            pass
        await one.aclose()
        await two.aclose()
        assert database.ask("SELECT sum(cardinality(holders)) FROM keyhole_leases") == [(0,)]

    asyncio.run(main())
