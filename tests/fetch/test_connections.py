"""Requests share connections to real servers on loopback, and each response is read as if it were alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from threading import Condition, Event
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import ApiCall
from keyhole.fetch.client import HttpFetcher
from keyhole.fetch.host_limits import MAX_PER_HOST
from keyhole.records import Page
from keyhole.runtime.owner import owned_by
from tests.fetch.test_client import names
from tests.fetch.test_tls import NAME, tls  # noqa: F401 - a fixture
from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve

MANY = 100
PAGE = response(b"page", Content_Type="text/plain")
FILES = {"/robots.txt": response(b"User-agent: *\nDisallow: /private\n"), "/": PAGE, "/2": PAGE}


def run(site: Site, work: Callable[[HttpFetcher], Awaitable[Any]], **settings: Any) -> Any:
    """Run work with a fetcher that obeys robots.txt and the limits of hosts."""

    async def main() -> Any:
        config = Config(**{"allow_private": frozenset({site.endpoint}), **settings})
        async with HttpFetcher(config, "Test/1.0", unlimited=frozenset()) as fetcher:
            return await work(fetcher)

    return asyncio.run(main())


def fetch_all(site: Site, *paths: str, **settings: Any) -> list[Page]:
    """Fetch pages, one after the other."""

    async def work(fetcher: HttpFetcher) -> list[Page]:
        return [await fetcher.fetch(site.url(path)) for path in paths]

    pages: list[Page] = run(site, work, **settings)
    return pages


def test_robots_txt_and_the_pages_of_a_site_share_a_connection() -> None:
    with serve(FILES, requests=MANY) as site:
        assert [page.body for page in fetch_all(site, "/", "/2")] == [b"page", b"page"]
        assert [call.path for call in site.calls] == ["/robots.txt", "/", "/2"]
        assert site.connections == 1


def test_a_missing_robots_txt_and_a_redirect_leave_the_connection_open() -> None:
    moved = response(b"<p>Moved" * 100, status="302 Found", Location="/2")
    with serve({"/": moved, "/2": PAGE}, requests=MANY) as site:
        (page,) = fetch_all(site, "/")
        assert page.url == site.url("/2")
        assert len(site.calls) == 3
        assert site.connections == 1


def test_a_page_that_was_not_read_to_its_end_closes_its_connection() -> None:
    with serve({"/": response(b"x" * 5_000), "/2": PAGE}, requests=MANY) as site:
        first, second = fetch_all(site, "/", "/2", robots="off", max_bytes=1_000)
        assert (first.cut, second.body) == (True, b"page")
        assert site.connections == 2


def test_each_owner_has_connections_of_its_own() -> None:
    async def work(fetcher: HttpFetcher) -> None:
        for owner in ("a", "b", "a", "b"):
            with owned_by(owner):
                assert (await fetcher.fetch(site.url())).body == b"page"

    with serve(FILES, requests=MANY) as site:
        run(site, work, robots="off")
        assert site.connections == 2


def test_a_page_arrives_although_the_server_closed_the_kept_connection() -> None:
    with serve(FILES, requests=1) as site:  # the server announces nothing, and closes after every response
        assert [page.body for page in fetch_all(site, "/", "/2", robots="off")] == [b"page", b"page"]


def closes_without_answer(requests: list[str]) -> Callable[[Site], Responder]:
    """Return a server that answers the first request of each connection, and closes at the second without an answer."""

    def make(site: Site) -> Responder:
        seen: set[int] = set()

        def talk(call: Call) -> None:
            requests.append(call.method)
            if call.connection.fileno() in seen and len(requests) == 2:
                call.connection.close()
                return
            seen.add(call.connection.fileno())
            call.send(PAGE)

        return talk

    return make


def test_a_request_to_which_a_kept_connection_gave_no_answer_is_sent_once_more_over_a_new_one() -> None:
    requests: list[str] = []
    with serve(closes_without_answer(requests), requests=MANY) as site:
        assert [page.body for page in fetch_all(site, "/", "/2", robots="off")] == [b"page", b"page"]
    assert requests == ["GET", "GET", "GET"]


def test_a_broken_answer_over_a_kept_connection_is_an_error_and_is_not_requested_again() -> None:
    with serve({"/": PAGE, "/2": b"HTTP/1.1 200 OK\r\nContent-Le"}, requests=2) as site:
        with pytest.raises(KeyholeError) as caught:
            fetch_all(site, "/", "/2", robots="off")
        assert caught.value.code is Code.PROTOCOL_ERROR
        assert [call.path for call in site.calls] == ["/", "/2"]


def test_a_post_has_a_connection_of_its_own() -> None:
    async def work(fetcher: HttpFetcher) -> None:
        for body in (None, b"{}", b"{}"):
            assert (await fetcher.send(ApiCall(site.url(), body=body))).body == b"page"

    with serve(FILES, requests=MANY) as site:
        run(site, work)
        assert site.connections == 3


@pytest.mark.parametrize("secured", [False, True], ids=["http", "https"])
def test_a_second_response_that_was_not_requested_is_never_the_next_page(secured: bool, request: Any) -> None:
    sent = Event()

    def make(site: Site) -> Responder:
        def talk(call: Call) -> None:
            call.send(PAGE)
            if call.path == "/":
                call.send(response(b"forged"))  # over TLS, this is a record of its own
            sent.set()

        return talk

    context = request.getfixturevalue("tls") if secured else None
    with serve(make, tls=context, requests=MANY) as site:
        host = f"{NAME}:{site.port}" if secured else site.endpoint
        urls = [f"{'https' if secured else 'http'}://{host}{path}" for path in ("/", "/2")]

        async def work(fetcher: HttpFetcher) -> list[bytes]:
            first = await fetcher.fetch(urls[0])
            assert sent.wait(PATIENCE)
            return [first.body, (await fetcher.fetch(urls[1])).body]

        with names({NAME: ["127.0.0.1"]}):
            pages = run(site, work, robots="off", allow_private=frozenset({host}))
    assert pages == [b"page", b"page"]


def test_the_cap_of_bytes_is_for_each_response_rather_than_for_a_connection() -> None:
    body = b"x" * 1_000
    floods = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n" * 20_000
    with serve({"/": response(body), "/2": response(body), "/3": floods + PAGE}, requests=MANY) as site:
        pages = fetch_all(site, *(["/", "/2"] * 5), robots="off", max_bytes=1_000)
        assert [page.cut for page in pages] == [False] * 10
        assert site.connections == 1
        with pytest.raises(KeyholeError) as caught:
            fetch_all(site, "/", "/3", robots="off")
        assert caught.value.code is Code.PROTOCOL_ERROR


def test_the_connections_for_several_pages_are_opened_while_robots_txt_is_requested() -> None:
    def make(site: Site) -> Responder:
        opened = Condition()

        def talk(call: Call) -> None:
            if call.path == "/robots.txt":
                with opened:
                    assert opened.wait_for(lambda: site.connections == MAX_PER_HOST, PATIENCE)
            call.send(PAGE)

        return talk

    async def work(fetcher: HttpFetcher) -> list[Page]:
        return await asyncio.gather(*(fetcher.fetch(site.url(f"/{number}")) for number in range(MAX_PER_HOST)))

    with serve(make, requests=MANY) as site:
        assert len(run(site, work)) == MAX_PER_HOST
        # On a busy machine, the connection of robots.txt may be closed for a page that already waits for its place.
        assert MAX_PER_HOST <= site.connections <= MAX_PER_HOST + 1
