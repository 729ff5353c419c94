"""A proxy gets checked addresses only, and requests through it are the same as without it."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any

import httpcore  # noqa: TID251 - the port that the tunnel speaks through
import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.backend import MAX_HEAD, CheckedBackend, connect_through_proxy
from keyhole.fetch.base import ApiCall
from keyhole.fetch.client import HttpFetcher
from tests.fetch.test_client import failure, fetch, names
from tests.support.loopback import Call, Responder, Site, response, serve, unused_port

HOST = "site.example"
PUBLIC = "93.184.216.34"


def relay(to_port: int) -> Callable[[Site], Responder]:
    """Return a proxy that connects every CONNECT to one loopback port, whatever its address."""

    def talk(call: Call) -> None:
        with socket.create_connection(("127.0.0.1", to_port)) as far:
            call.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
            thread = Thread(target=_copy, args=(call.connection, far))
            thread.start()
            _copy(far, call.connection)
            thread.join()

    return lambda _: talk


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65_536):
            sink.sendall(piece)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def test_a_request_goes_through_the_proxy_to_the_checked_address_with_its_host_header() -> None:
    with serve({"/a?b": response(b"far")}) as site, serve(relay(site.port)) as proxy:
        page = fetch(f"http://{HOST}/a?b", proxy=f"http://{proxy.endpoint}", resolver={HOST: [PUBLIC]})
        assert page.body == b"far"
        (connect,), (request,) = proxy.calls, site.calls
    assert connect.head == f"CONNECT {PUBLIC}:80 HTTP/1.1\r\nHost: {PUBLIC}:80".encode()
    assert request.path == "/a?b"
    assert request.headers["host"] == HOST


def test_an_ipv6_address_is_in_brackets() -> None:
    with serve({"/": response(b"far")}) as site, serve(relay(site.port)) as proxy:
        fetch(f"http://{HOST}:8080/", proxy=f"http://{proxy.endpoint}", resolver={HOST: ["2620:fe::fe"]})
        assert proxy.calls[0].path == "[2620:fe::fe]:8080"


@pytest.mark.parametrize("answers", [["10.0.0.1"], [PUBLIC, "127.0.0.1"], ["::ffff:169.254.169.254"]])
def test_a_refused_address_is_not_sent_to_the_proxy(answers: list[str]) -> None:
    with serve({}) as proxy:
        error = failure(f"http://{HOST}/", proxy=f"http://{proxy.endpoint}", resolver={HOST: answers})
        assert error.code is Code.BLOCKED_ADDRESS
        assert proxy.connections == 0


def test_a_refused_name_or_port_is_not_sent_to_the_proxy() -> None:
    with serve({}) as proxy:
        for url in ("http://localhost/", "http://metadata/", f"http://{HOST}:22/"):
            error = failure(url, proxy=f"http://{proxy.endpoint}", resolver={HOST: [PUBLIC]}, ports=frozenset({80}))
            assert error.code is Code.BLOCKED_ADDRESS
        assert proxy.connections == 0


def test_a_redirect_through_a_proxy_is_checked_like_any_other() -> None:
    moved = {"/": response(status="302 Found", Location="http://169.254.169.254/")}
    with serve(moved) as site, serve(relay(site.port)) as proxy:
        names = {HOST: [PUBLIC], "169.254.169.254": ["169.254.169.254"]}
        error = failure(f"http://{HOST}/", proxy=f"http://{proxy.endpoint}", resolver=names)
        assert error.code is Code.BLOCKED_ADDRESS
        assert len(proxy.calls) == 1


def test_an_endpoint_on_the_allow_list_is_connected_to_without_the_proxy() -> None:
    with serve({"/": response(b"near")}) as site, serve({}) as proxy:
        assert fetch(site.url(), allow=(site.endpoint,), proxy=f"http://{proxy.endpoint}").body == b"near"
        assert proxy.connections == 0


def send_to_api(url: str, proxy: Site, apis: frozenset[str], **settings: Any) -> bytes:
    """Send a request to an API through a proxy; `api.example` has a public address."""

    async def run() -> bytes:
        config = Config(proxy=f"http://{proxy.endpoint}", **settings)
        async with HttpFetcher(config, "Test/1", apis=apis) as fetcher:
            return (await fetcher.send(ApiCall(url))).body

    with names({"api.example": [PUBLIC]}):
        return asyncio.run(run())


@pytest.mark.parametrize(
    "apis", [frozenset[str](), frozenset({"api.example:80"})], ids=["keyed engine", "named by URL"]
)
def test_an_api_with_a_public_address_is_reached_through_the_proxy(apis: frozenset[str]) -> None:
    with serve({"/": response(b"{}")}) as site, serve(relay(site.port)) as proxy:
        assert send_to_api("http://api.example/", proxy, apis) == b"{}"
        assert [call.path for call in proxy.calls] == [f"{PUBLIC}:80"]


def test_an_api_with_a_private_address_is_reached_without_the_proxy() -> None:
    with serve({"/": response(b"{}")}) as site, serve({}) as proxy:
        assert send_to_api(site.url(), proxy, frozenset({site.endpoint})) == b"{}"
        assert proxy.connections == 0


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "HTTP 403"),
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "HTTP 407"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n", "HTTP 302"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "other than HTTP"),
        (b"HTTP/1.1 200 OK\r\n", "did not answer like a proxy"),
        (b"", "did not answer like a proxy"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * MAX_HEAD, "did not answer like a proxy"),
        (b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\nforged", "sent data before the site could"),
    ],
)
def test_a_proxy_without_a_tunnel_is_a_connect_failure_that_names_the_setting(answer: bytes, message: str) -> None:
    with serve(lambda _: lambda call: call.send(answer)) as proxy:
        error = failure(f"http://{HOST}/", proxy=f"http://{proxy.endpoint}", resolver={HOST: [PUBLIC]})
        assert error.code is Code.CONNECT_FAILURE
        assert re.search(f"KEYHOLE_PROXY .*{message}", error.message)


def test_an_unreachable_proxy_is_a_connect_failure_that_names_the_setting() -> None:
    proxy = f"http://127.0.0.1:{unused_port()}"
    error = failure(f"http://{HOST}/", proxy=proxy, resolver={HOST: [PUBLIC], "127.0.0.1": ["127.0.0.1"]})
    assert error.code is Code.CONNECT_FAILURE
    assert "KEYHOLE_PROXY cannot be reached" in error.message


class Refusing(httpcore.AsyncMockStream):
    """A stream whose answer refuses the tunnel; it records whether it was closed."""

    closed = False

    async def aclose(self) -> None:
        self.closed = True


def test_a_connection_to_a_proxy_that_refuses_is_closed() -> None:
    stream = Refusing([b"HTTP/1.1 502 Bad Gateway\r\n\r\n"])

    async def dial(host: str, port: int) -> httpcore.AsyncNetworkStream:
        assert (host, port) == ("::1", 3128)
        return stream

    with pytest.raises(KeyholeError):
        asyncio.run(connect_through_proxy("http://[::1]:3128", PUBLIC, 443, dial))
    assert stream.closed


def test_no_proxy_is_used_by_default() -> None:
    assert CheckedBackend(lambda endpoint: False)._proxy == ""
