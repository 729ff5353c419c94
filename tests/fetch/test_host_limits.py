"""Requested waits, connection limits, retries and permissions, against real servers on loopback without sleeps."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from email.utils import formatdate
from threading import Barrier, Lock
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import ApiCall, FetchOptions
from keyhole.fetch.client import HttpFetcher
from keyhole.fetch.host_limits import MAX_HOSTS, MAX_PER_HOST, MAX_WAIT, HostLimits, parse_retry_after
from keyhole.fetch.permission import Permission
from keyhole.records import Page
from keyhole.runtime.owner import owned_by
from tests.support.fakes import Clock
from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve, unused_port

NOW = 1_700_000_000.0
SLOW = "429 Too Many Requests"


class Times:
    """A clock that begins at the event loop's time and advances with each sleep, and the recorded sleeps."""

    def __init__(self) -> None:
        self.clock = Clock(asyncio.get_running_loop().time())
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.clock.advance(seconds)


def run(
    work: Callable[[HttpFetcher, Times], Awaitable[Any]], *sites: Site, robots: str = "off", **settings: Any
) -> Any:
    """Run `work` with a fetcher that may reach these servers and applies the host limits to them."""

    async def main() -> Any:
        times = Times()
        config = Config(allow_private=frozenset(site.endpoint for site in sites), robots=robots, **settings)
        host_limits = HostLimits(times.clock, times.sleep)
        async with HttpFetcher(config, "Keyhole/1", lambda: NOW, host_limits, unlimited=frozenset()) as fetcher:
            return await work(fetcher, times)

    return asyncio.run(main())


async def failure(awaitable: Awaitable[object]) -> KeyholeError:
    with pytest.raises(KeyholeError) as caught:
        await awaitable
    return caught.value


def in_turn(*answers: bytes) -> Callable[[Site], Responder]:
    """Return a server that gives the answers in order and repeats the last; an empty one resets the connection."""
    left = list(answers)

    def talk(call: Call) -> None:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if answer:
            call.send(answer)
        else:
            call.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return lambda _: talk


# Retry-After.


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120), (" 0 ", 0), ("9" * 14, MAX_WAIT), (formatdate(NOW + 90, usegmt=True), 90),
        (formatdate(NOW - 90, usegmt=True), 0), ("Wed, 21 Oct 2099 07:28:00 GMT", MAX_WAIT),
        ("", None), ("soon", None), ("-1", None), ("1.5", None), ("\u00b2", None), ("9" * 5_000, None),
        ("Wed, 99 Oct 2099 07:28:00 GMT", None), ("Wed, 21 Oct 99999999 07:28:00 GMT", None), (",", None),
    ],
)  # fmt: skip
def test_retry_after_is_parsed_as_seconds_or_as_a_date(value: str, seconds: int | None) -> None:
    assert parse_retry_after(value, NOW) == seconds


@pytest.mark.parametrize("status", ["429 Slow", "503 Later"])
@pytest.mark.parametrize("wait", ["5", formatdate(NOW + 5, usegmt=True)])
def test_after_a_wait_that_fits_the_deadline_the_page_is_requested_again(status: str, wait: str) -> None:
    with serve(in_turn(response(status=status, Retry_After=wait), response(b"page"))) as site:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            page = await fetcher.fetch(site.url(), FetchOptions(Permission(times.clock.now + 30)))
            assert page.body == b"page"
            assert times.slept == [5]
            assert len(site.calls) == 2

        run(work, site)


def test_a_second_retry_after_of_the_same_site_is_reported_at_once() -> None:
    with serve({"/": response(status=SLOW, Retry_After="5")}) as site:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            error = await failure(fetcher.fetch(site.url(), FetchOptions(Permission(times.clock.now + 30))))
            assert (error.code, error.facts["retry_after"], times.slept) == (Code.RATE_LIMITED, 5, [5])
            assert len(site.calls) == 2

        run(work, site)


def test_a_wait_beyond_the_deadline_is_reported_at_once_and_obeyed_by_later_calls() -> None:
    with serve({"/": response(status=SLOW, Retry_After="60"), "/other": response(b"page")}) as site:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            first = await failure(fetcher.fetch(site.url(), FetchOptions(Permission(times.clock.now + 30))))
            assert (first.code, first.facts["retry_after"]) == (Code.RATE_LIMITED, 60)
            times.clock.advance(20)
            second = await failure(fetcher.fetch(site.url("/other"), FetchOptions(Permission(times.clock.now + 100))))
            assert (second.code, second.facts["retry_after"]) == (Code.RATE_LIMITED, 40)
            assert "40 s" in second.message
            assert (len(site.calls), times.slept) == (1, [])
            times.clock.advance(40)
            assert (await fetcher.fetch(site.url("/other"))).body == b"page"

        run(work, site)


def test_a_rate_limit_without_a_wait_is_not_remembered() -> None:
    with serve(in_turn(response(status=SLOW), response(b"page"))) as site:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            assert (await failure(fetcher.fetch(site.url()))).code is Code.RATE_LIMITED
            assert (await fetcher.fetch(site.url())).body == b"page"

        run(work, site)


def test_the_waits_of_an_operators_endpoint_are_not_remembered() -> None:
    with serve(in_turn(response(status=SLOW, Retry_After="60"), response(b"page"))) as site:

        async def main() -> Page:
            async with HttpFetcher(Config(allow_private=frozenset({site.endpoint})), "Keyhole/1") as fetcher:
                assert (await failure(fetcher.fetch(site.url()))).code is Code.RATE_LIMITED
                return await fetcher.fetch(site.url())

        assert asyncio.run(main()).body == b"page"


def test_the_waits_of_a_limited_number_of_hosts_are_remembered() -> None:
    host_limits = HostLimits(Clock())
    for n in range(MAX_HOSTS + 1):
        host_limits.record_wait(f"host{n}.example", 60)
    host_limits.check_wait("host0.example")
    with pytest.raises(KeyholeError) as caught:
        host_limits.check_wait("host1.example")
    assert caught.value.code is Code.RATE_LIMITED


# Concurrent connections.


def test_a_limited_number_of_pages_of_one_host_are_fetched_at_once() -> None:
    together, lock, here, most = Barrier(MAX_PER_HOST), Lock(), [0], [0]

    def talk(call: Call) -> None:
        with lock:
            here[0] += 1
            most[0] = max(most[0], here[0])
        together.wait(timeout=PATIENCE)
        with lock:
            here[0] -= 1
        call.send(response(b"page"))

    with serve(lambda _: talk) as site:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            pages = await asyncio.gather(*(fetcher.fetch(site.url(f"/{n}")) for n in range(2 * MAX_PER_HOST)))
            assert len(pages) == 2 * MAX_PER_HOST
            assert most == [MAX_PER_HOST]

        run(work, site)


def test_a_call_cancelled_while_it_waits_for_a_slot_takes_no_slot() -> None:
    async def main() -> None:
        host_limits, leave = HostLimits(), asyncio.Event()

        async def visit() -> None:
            async with host_limits.slot("a.example"):
                await leave.wait()

        inside = [asyncio.create_task(visit()) for _ in range(MAX_PER_HOST)]
        await asyncio.sleep(0)
        waiting = asyncio.create_task(visit())
        await asyncio.sleep(0)
        waiting.cancel()
        leave.set()
        await asyncio.gather(*inside, visit())
        assert host_limits._slots == {}

    asyncio.run(main())


def test_a_call_of_another_owner_is_served_before_the_waiting_calls_of_a_busy_one() -> None:
    async def main() -> None:
        host_limits, served, leave = HostLimits(), [], asyncio.Semaphore(0)

        async def visit(owner: str) -> None:
            with owned_by(owner):
                async with host_limits.slot("a.example"):
                    served.append(owner)
                    await leave.acquire()

        calls = [asyncio.create_task(visit(owner)) for owner in ["busy"] * 3 * MAX_PER_HOST + ["other"]]
        await asyncio.sleep(0)
        for _ in calls:
            leave.release()
        await asyncio.gather(*calls)
        assert served.index("other") == MAX_PER_HOST

    asyncio.run(main())


def test_a_call_that_waits_until_its_deadline_takes_no_slot() -> None:
    async def main() -> None:
        host_limits, now = HostLimits(), asyncio.get_running_loop().time()
        async with AsyncExitStack() as stack:
            for _ in range(MAX_PER_HOST):
                await stack.enter_async_context(host_limits.slot("a.example"))
            error = await failure(stack.enter_async_context(host_limits.slot("a.example", now)))
            assert error.code is Code.TIMEOUT
        assert host_limits._slots == {}

    asyncio.run(main())


def test_calls_that_are_cancelled_together_all_end_as_cancelled() -> None:
    async def main() -> None:
        host_limits = HostLimits()

        async def visit() -> None:
            async with host_limits.slot("a.example"):
                await asyncio.Event().wait()

        calls = [asyncio.create_task(visit()) for _ in range(MAX_PER_HOST + 2)]
        await asyncio.sleep(0)
        for call in calls:
            call.cancel()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {asyncio.CancelledError}
        assert host_limits._slots == {}

    asyncio.run(main())


def test_the_slots_of_an_unused_host_are_removed() -> None:
    async def main() -> None:
        host_limits = HostLimits()
        async with host_limits.slot("a.example"), host_limits.slot("a.example"), host_limits.slot("b.example"):
            assert len(host_limits._slots) == 2
        assert host_limits._slots == {}

    asyncio.run(main())


# Retries.


def test_a_request_whose_connection_is_reset_is_retried_once() -> None:
    with serve(in_turn(b"", response(b"page"))) as site:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            assert (await fetcher.fetch(site.url())).body == b"page"
            assert (site.connections, len(times.slept)) == (2, 1)

        run(work, site)


def test_a_request_whose_connection_is_closed_without_a_response_is_retried_once() -> None:
    def talk(site: Site) -> Responder:
        return lambda call: call.send(response(b"page") if site.connections > 1 else b"")

    with serve(talk) as site:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            assert (await fetcher.fetch(site.url())).body == b"page"
            assert (site.connections, len(times.slept)) == (2, 1)

        run(work, site)


def test_a_connection_that_is_reset_twice_is_a_failure() -> None:
    with serve(in_turn(b"")) as site:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            assert (await failure(fetcher.fetch(site.url()))).code is Code.PROTOCOL_ERROR
            assert site.connections == 2

        run(work, site)


def test_a_failed_connection_is_retried_once() -> None:
    site = Site(port=unused_port())

    async def work(fetcher: HttpFetcher, times: Times) -> None:
        assert (await failure(fetcher.fetch(site.url()))).code is Code.CONNECT_FAILURE
        assert len(times.slept) == 1

    run(work, site)


@pytest.mark.parametrize(
    "answer", [response(status="500 Oops"), b"no http\r\n\r\n", response(b"half", Content_Length="9")]
)
def test_a_request_with_a_response_is_not_retried(answer: bytes) -> None:
    with serve(in_turn(answer)) as site:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            await asyncio.gather(fetcher.fetch(site.url()), return_exceptions=True)
            assert (site.connections, times.slept) == (1, [])

        run(work, site)


def test_a_refused_address_is_not_retried() -> None:
    with serve({"/": response(b"secret")}) as site:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            assert (await failure(fetcher.fetch(site.url()))).code is Code.BLOCKED_ADDRESS
            assert (site.connections, times.slept) == (0, [])

        run(work)


# Permissions, at every hop.


def test_a_page_that_robots_txt_disallows_is_never_requested() -> None:
    answers = {"/robots.txt": response(b"User-agent: *\nDisallow: /no"), "/no": response(b"x"), "/yes": response(b"y")}
    with serve(answers) as site:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            assert (await failure(fetcher.fetch(site.url("/no")))).code is Code.ROBOTS_DISALLOWED
            assert (await fetcher.fetch(site.url("/yes"))).body == b"y"
            assert [call.path for call in site.calls] == ["/robots.txt", "/yes"]

        run(work, site, robots="on")


def test_a_redirect_to_a_site_whose_robots_txt_disallows_it_is_not_followed() -> None:
    with (
        serve({"/robots.txt": response(b"User-agent: Keyhole\nDisallow: /")}) as closed,
        serve({"/": response(status="302 Found", Location=closed.url("/page"))}) as site,
    ):

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            assert (await failure(fetcher.fetch(site.url()))).code is Code.ROBOTS_DISALLOWED
            assert [call.path for call in closed.calls] == ["/robots.txt"]

        run(work, site, closed, robots="on")


def test_a_robots_txt_that_redirects_to_a_private_address_is_not_followed() -> None:
    with serve({"/": response(b"secret")}) as inside:
        location = inside.url("/robots.txt")
        answers = {"/robots.txt": response(status="302 Found", Location=location), "/": response(b"page")}
        with serve(answers) as site:

            async def work(fetcher: HttpFetcher, times: Times) -> None:
                assert (await fetcher.fetch(site.url())).body == b"page"
                assert inside.connections == 0

            run(work, site, robots="on")


def test_an_endless_robots_txt_is_read_up_to_the_limit() -> None:
    with serve(
        {"/robots.txt": response(b"User-agent: *\nDisallow: /no\n" + b"#" * 2_000_000), "/no": response()}
    ) as site:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            assert (await failure(fetcher.fetch(site.url("/no")))).code is Code.ROBOTS_DISALLOWED

        run(work, site, robots="on")


def test_the_last_rule_of_a_robots_txt_that_breaks_off_is_ignored() -> None:
    rules = b"User-agent: *\n" + b"Disallow: /no\n" * 6 + b"Disallow: /"
    with serve({"/robots.txt": response(rules, Content_Length="999"), "/": response(b"page")}) as site:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            assert (await fetcher.fetch(site.url())).body == b"page"
            assert (await failure(fetcher.fetch(site.url("/no")))).code is Code.ROBOTS_DISALLOWED

        run(work, site, robots="on")


def test_robots_txt_is_not_requested_if_turned_off_or_for_an_operators_endpoint() -> None:
    with serve({"/": response(b"page")}) as site:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            await fetcher.fetch(site.url())

        run(work, site, robots="off")

        async def own() -> None:
            async with HttpFetcher(Config(allow_private=frozenset({site.endpoint})), "Keyhole/1") as fetcher:
                await fetcher.fetch(site.url())

        asyncio.run(own())
        assert [call.path for call in site.calls] == ["/", "/"]


def test_a_denied_domain_is_refused_at_the_first_and_at_every_further_hop() -> None:
    with serve({"/": response(b"x")}) as denied:
        location = f"http://localhost:{denied.port}/"
        with serve({"/": response(status="302 Found", Location=location)}) as site:

            async def work(fetcher: HttpFetcher, times: Times) -> None:
                for url in (location, site.url()):
                    assert (await failure(fetcher.fetch(url))).code is Code.DOMAIN_NOT_ALLOWED
                assert denied.connections == 0

            run(work, site, deny_domains=frozenset({"localhost"}))
            run(work, site, allow_domains=frozenset({"127.0.0.1"}))


def test_an_api_on_a_denied_domain_gets_no_request() -> None:
    with serve({"/": response(b"{}")}) as api:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            call = ApiCall(f"http://localhost:{api.port}/", body=b"{}")
            assert (await failure(fetcher.send(call))).code is Code.DOMAIN_NOT_ALLOWED
            assert api.connections == 0

        run(work, api, deny_domains=frozenset({"localhost"}))


def test_an_api_needs_no_entry_in_the_allow_list() -> None:
    with serve({"/": response(b"{}")}) as api:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            assert (await fetcher.send(ApiCall(api.url()))).body == b"{}"
            assert (await failure(fetcher.fetch(api.url()))).code is Code.DOMAIN_NOT_ALLOWED

        run(work, api, allow_domains=frozenset({"pages.example"}))


def test_robots_txt_is_asked_for_the_path_that_is_sent() -> None:
    rules = response(b"User-agent: *\nDisallow: /private/")
    with serve({"/robots.txt": rules, "/public/page": response(b"x"), "/private/page": response(b"y")}) as site:

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            for path in ("/public/%2e%2e/private/page", "/public/../private/page", "/./private/.%2E/private/page"):
                assert (await failure(fetcher.fetch(site.url(path)))).code is Code.ROBOTS_DISALLOWED
            assert (await fetcher.fetch(site.url("/private/%2e%2e/public/page"))).body == b"x"

        run(work, site, robots="on")
        assert [call.path for call in site.calls] == ["/robots.txt", "/public/page"]


def test_a_redirect_away_from_the_sites_of_the_call_is_not_followed() -> None:
    with (
        serve({"/": response(b"x")}) as other,
        serve({"/": response(status="302 Found", Location=other.url())}) as site,
    ):

        async def work(fetcher: HttpFetcher, times: Times) -> None:
            options = FetchOptions(Permission(accepts=lambda url: url.startswith(site.url())))
            assert (await failure(fetcher.fetch(site.url(), options))).code is Code.DOMAIN_NOT_ALLOWED
            assert other.connections == 0

        run(work, site, other)
