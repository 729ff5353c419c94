"""The gateway takes one browser's requests and connects to checked addresses only, within the limits of a page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code
from keyhole.extensions.browser.gateway import (
    DEFAULT_LIMITS,
    Gateway,
    GatewayLimits,
    PageConnections,
    basic_credentials,
    open_gateway,
)
from keyhole.fetch.urls import parse_target
from tests.fetch.test_client import names
from tests.fetch.test_tunnel import relay
from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve, unused_port

PUBLIC = "93.184.216.34"


async def exchange(gateway: Gateway, request: str, body: bytes = b"", secret: str | None = None) -> bytes:
    """Send one request to the gateway as a browser does, and return all that is answered until it closes."""
    head = request.replace("SECRET", basic_credentials(gateway.secret if secret is None else secret))
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    writer.write(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + body)
    async with asyncio.timeout(PATIENCE):
        with suppress(ConnectionResetError):
            answer = await reader.read()
    writer.close()
    return answer


def browse(
    page: str,
    talk: Callable[[Gateway], Awaitable[bytes]],
    limits: GatewayLimits = DEFAULT_LIMITS,
    resolver: dict[str, list[str]] | None = None,
    **settings: Any,
) -> tuple[bytes, Gateway]:
    """Return the result of `talk` with a gateway that runs for a page, and the gateway."""

    async def run() -> tuple[bytes, Gateway]:
        config = Config(**{"ports": frozenset(range(1, 65_536)), **settings})
        async with open_gateway(PageConnections(config).of_page(parse_target(page)), limits) as gateway:
            return await talk(gateway), gateway

    with names(resolver or {}):
        return asyncio.run(run())


def ask(page: str, request: str, body: bytes = b"", **options: Any) -> tuple[bytes, Gateway]:
    """Return the answer to one request of a page, and the gateway."""
    return browse(page, lambda gateway: exchange(gateway, request, body), **options)


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def test_a_request_is_forwarded_without_the_secret_over_a_connection_of_its_own() -> None:
    with serve({"/a?b": response(b"text", Connection="keep-alive")}) as site:
        request = (
            f"GET {site.url('/a?b')} HTTP/1.1\nHost: {site.endpoint}\nProxy-Authorization: SECRET\n"
            "Proxy-Connection: keep-alive\nAccept: text/html"
        )
        answer, gateway = ask(site.url(), request, allow_private=frozenset({site.endpoint}))
    assert answer.endswith(b"\r\n\r\ntext")
    (call,) = site.calls
    assert call.head == f"GET /a?b HTTP/1.1\r\nHost: {site.endpoint}\r\nAccept: text/html\r\nConnection: close".encode()
    assert gateway.totals.connections == 1
    assert gateway.totals.received == len(answer)


def test_the_body_of_a_request_is_forwarded_and_nothing_after_it() -> None:
    with serve({"/": response(b"stored")}) as site:
        request = f"POST {site.url()} HTTP/1.1\nHost: {site.endpoint}\nContent-Length: 4\nProxy-Authorization: SECRET"
        answer, gateway = ask(site.url(), request, b"data", allow_private=frozenset({site.endpoint}))
        assert site.calls[0].body == b"data"
        assert answer.endswith(b"stored")
    assert gateway.totals.sent == len(b"data")


def test_a_second_request_on_a_connection_does_not_reach_the_site_of_the_first_one() -> None:
    with serve(lambda site: site.hold) as site:
        request = f"GET {site.url()} HTTP/1.1\nHost: {site.endpoint}\nProxy-Authorization: SECRET"
        second = b"GET http://other.example/ HTTP/1.1\r\nProxy-Authorization: x\r\n\r\n"
        answer, gateway = ask(site.url(), request, second, allow_private=frozenset({site.endpoint}))
    assert answer == b""
    assert gateway.totals.sent == 0


def test_a_tunnel_relays_both_directions_until_the_site_closes() -> None:
    with serve({"/": response(b"through")}) as site:
        request = f"CONNECT {site.endpoint} HTTP/1.1\nProxy-Authorization: SECRET"
        inner = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        answer, gateway = ask(site.url(), request, inner, allow_private=frozenset({site.endpoint}))
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK")
    assert answer.endswith(b"through")
    assert gateway.totals.sent == len(inner)


@pytest.mark.parametrize("request_line", ["GET http://{0}/", "CONNECT {0}"])
@pytest.mark.parametrize(
    "credentials", ["", "\nProxy-Authorization: Basic a2V5aG9sZTo=", "\nProxy-Authorization: Ünknown"]
)
def test_a_request_without_the_secret_is_answered_with_407_and_connects_to_nothing(
    request_line: str, credentials: str
) -> None:
    with serve({}) as site:
        request = f"{request_line.format(site.endpoint)} HTTP/1.1\nHost: {site.endpoint}{credentials}"
        answer, gateway = ask(site.url(), request, allow_private=frozenset({site.endpoint}))
        assert site.connections == 0
    assert status(answer) == 407
    assert (gateway.totals.unauthorized, gateway.totals.connections) == (1, 0)


def test_two_gateways_have_different_secrets() -> None:
    async def other(gateway: Gateway) -> bytes:
        return await exchange(gateway, "CONNECT site.example:443 HTTP/1.1\nProxy-Authorization: SECRET", secret=secret)

    secret = ask("https://site.example/", "GET / HTTP/1.1")[1].secret
    assert status(browse("https://site.example/", other)[0]) == 407


@pytest.mark.parametrize(
    ("host", "answers"),
    [
        ("127.0.0.1", []), ("[::1]", []), ("169.254.169.254", []), ("[::ffff:a00:1]", []), ("localhost", []),
        ("inside.example", ["10.0.0.1"]), ("mixed.example", [PUBLIC, "192.168.0.1"]),
        ("metadata.google.internal", [PUBLIC]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("request_line", ["GET http://{0}:80/", "CONNECT {0}:80"])
def test_an_address_that_a_fetch_refuses_is_refused_to_a_browser(
    host: str, answers: list[str], request_line: str
) -> None:
    name = host.strip("[]")
    request = f"{request_line.format(host)} HTTP/1.1\nHost: {host}\nProxy-Authorization: SECRET"
    answer, gateway = ask("https://site.example/", request, resolver={name: answers or [name]})
    assert status(answer) == 403
    (refusal,) = gateway.totals.refusals.values()
    assert refusal.code is Code.BLOCKED_ADDRESS


def test_a_public_page_reaches_no_private_endpoint_that_the_operator_allowed() -> None:
    with serve({"/": response(b"inside")}) as site:
        request = f"POST {site.url()} HTTP/1.1\nHost: {site.endpoint}\nProxy-Authorization: SECRET"
        allowed = frozenset({site.endpoint})
        answer, gateway = ask("https://site.example/", request, allow_private=allowed)
        assert site.connections == 0
        assert status(answer) == 403
        assert gateway.totals.refusals[site.endpoint].code is Code.BLOCKED_ADDRESS
        assert status(ask(site.url("/page"), request, allow_private=allowed)[0]) == 200


@pytest.mark.parametrize(
    "lists", [{"deny_domains": frozenset({"*.example"})}, {"allow_domains": frozenset({"a.test"})}]
)
def test_the_operators_lists_of_domains_apply_to_everything_that_a_page_loads(lists: dict[str, Any]) -> None:
    request = "CONNECT cdn.example:443 HTTP/1.1\nProxy-Authorization: SECRET"
    answer, gateway = ask("https://a.test/", request, **lists)
    assert status(answer) == 403
    assert gateway.totals.refusals["cdn.example:443"].code is Code.DOMAIN_NOT_ALLOWED


def test_a_public_address_is_reached_through_the_operators_proxy() -> None:
    with serve({"/": response(b"far")}) as site, serve(relay(site.port)) as proxy:
        request = "GET http://site.example/ HTTP/1.1\nHost: site.example\nProxy-Authorization: SECRET"
        setting = f"http://{proxy.endpoint}"
        answer, _ = ask("http://site.example/", request, proxy=setting, resolver={"site.example": [PUBLIC]})
        assert answer.endswith(b"far")
        assert [call.path for call in proxy.calls] == [f"{PUBLIC}:80"]


@pytest.mark.parametrize(
    "request_head",
    [
        "GET / HTTP/1.1", "nonsense", "GET ftp://site.example/ HTTP/1.1", "GET http:///x HTTP/1.1", "CONNECT x HTTP/2",
        "CONNECT 127.1:80 HTTP/1.1", "CONNECT user@site.example:80 HTTP/1.1", "GET http://a b/ HTTP/1.1",
        "POST http://site.example/ HTTP/1.1\nTransfer-Encoding: chunked",
        "POST http://site.example/ HTTP/1.1\nContent-Length: -1",
    ],
)  # fmt: skip
def test_a_request_of_another_form_is_refused(request_head: str) -> None:
    answer, gateway = ask("https://site.example/", f"{request_head}\nProxy-Authorization: SECRET")
    assert status(answer) == 403
    assert gateway.totals.connections == 0


def test_a_site_that_cannot_be_reached_is_refused_with_its_reason() -> None:
    endpoint = f"127.0.0.1:{unused_port()}"
    request = f"CONNECT {endpoint} HTTP/1.1\nProxy-Authorization: SECRET"
    answer, gateway = ask(f"http://{endpoint}/", request, allow_private=frozenset({endpoint}))
    assert status(answer) == 403
    assert gateway.totals.refusals[endpoint].code is Code.CONNECT_FAILURE


def endless(site: Site) -> Responder:
    def talk(call: Call) -> None:
        call.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            call.send(b"x" * 10_000)

    return talk


def test_a_page_that_loads_too_much_is_cut_off_and_may_load_no_more() -> None:
    async def twice(gateway: Gateway) -> bytes:
        first = await exchange(gateway, request)
        assert 0 < len(first) <= 100_000
        assert gateway.is_exhausted
        return await exchange(gateway, request)

    with serve(endless) as site:
        request = f"GET {site.url()} HTTP/1.1\nHost: {site.endpoint}\nProxy-Authorization: SECRET"
        allowed = frozenset({site.endpoint})
        second, gateway = browse(site.url(), twice, GatewayLimits(max_bytes=100_000), allow_private=allowed)
        assert status(second) == 403
        assert gateway.totals.refusals[site.endpoint].code is Code.TOO_LARGE
        assert site.connections == 1


def test_a_page_may_make_a_limited_number_of_connections() -> None:
    async def thrice(gateway: Gateway) -> bytes:
        return b" ".join([str(status(await exchange(gateway, request))).encode() for _ in range(3)])

    with serve({"/": response(b"x")}) as site:
        request = f"GET {site.url()} HTTP/1.1\nHost: {site.endpoint}\nProxy-Authorization: SECRET"
        allowed = frozenset({site.endpoint})
        answer, _ = browse(site.url(), thrice, GatewayLimits(max_connections=2), allow_private=allowed)
        assert answer == b"200 200 403"
        assert site.connections == 2


def test_all_connections_are_closed_at_the_end_and_nothing_listens() -> None:
    async def run() -> None:
        connect = PageConnections(Config(allow_private=frozenset({site.endpoint}))).of_page(parse_target(site.url()))
        async with open_gateway(connect) as gateway:
            reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
            credentials = basic_credentials(gateway.secret)
            writer.write(f"CONNECT {site.endpoint} HTTP/1.1\r\nProxy-Authorization: {credentials}\r\n\r\n".encode())
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            await asyncio.to_thread(site.request_received.wait, PATIENCE)
        assert await reader.read() == b""
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", gateway.port)

    with serve(lambda site: site.hold) as site:
        asyncio.run(asyncio.wait_for(run(), PATIENCE))
        assert site.client_left.wait(PATIENCE)
