"""Connections go to checked addresses only. No test opens a socket."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections.abc import Iterable
from typing import Any
from unittest import mock

import httpcore  # noqa: TID251 - the port that the backend implements and is built on
import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.backend import (
    ATTEMPT_DELAY,
    MAX_ADDRESSES,
    CheckedBackend,
    IsAllowed,
    TcpBackend,
    connect_to_first,
    order_addresses,
)
from keyhole.fetch.dns import DnsAnswers, Nat64Prefixes
from tests.support.loopback import response, serve, unused_port


class RecordingTcp(httpcore.AsyncMockBackend):
    """Records connection attempts without connecting. Addresses in `down` refuse connections."""

    def __init__(self, down: Iterable[str] = ()) -> None:
        super().__init__([])
        self.attempts: list[tuple[str, int]] = []
        self._down = set(down)

    async def connect_tcp(self, host: str, port: int, *rest: Any, **named: Any) -> httpcore.AsyncNetworkStream:
        self.attempts.append((host, port))
        if host in self._down:
            raise httpcore.ConnectError("refused")
        return httpcore.AsyncMockStream([])


def allow_nothing(endpoint: str) -> bool:
    return False


def connect(
    answers: list[str],
    *,
    host: str = "site.example",
    allowed: IsAllowed = allow_nothing,
    down: Iterable[str] = (),
    nat64: str = "192.0.0.170",
    deny: str = "",
) -> tuple[list[tuple[str, int]], int, KeyholeError | None]:
    """Connect to `host`, which resolves to `answers`; return the addresses tried, the lookups and the failure.

    `nat64`: the answer for the name that discloses NAT64 prefixes.
    """
    lookups = 0
    tcp = RecordingTcp(down)

    def getaddrinfo(name: str, port: int, **_: Any) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        nonlocal lookups
        lookups += 1
        assert name == host
        return [(0, 0, 0, "", (answer, port)) for answer in answers]

    async def disclose(name: str, port: int) -> DnsAnswers:
        return [(0, 0, 0, "", (nat64, port))]

    async def run() -> KeyholeError | None:
        backend = CheckedBackend(allowed, deny=frozenset(deny.split()), nat64=Nat64Prefixes(disclose))
        backend._tcp = tcp  # type: ignore[assignment]
        try:
            await backend.connect_tcp(host, 443)
        except KeyholeError as error:
            return error
        return None

    with mock.patch("socket.getaddrinfo", getaddrinfo):
        failure = asyncio.run(run())
    return tcp.attempts, lookups, failure


def test_a_public_name_is_connected_to_at_its_checked_address_after_one_lookup() -> None:
    assert connect(["9.9.9.9"]) == ([("9.9.9.9", 443)], 1, None)


@pytest.mark.parametrize("host", ["site.example", "2606:4700:a00:1::"])
def test_a_private_address_behind_the_discovered_nat64_prefix_is_refused_for_names_and_addresses(host: str) -> None:
    answers = ["2606:4700:a00:1::"]
    assert connect(answers, host=host)[2] is None
    attempts, _, failure = connect(answers, host=host, nat64="2606:4700:c000:aa::")
    assert attempts == []
    assert failure is not None
    assert failure.code is Code.BLOCKED_ADDRESS
    assert "it may lead to 10.0.0.1: private, RFC 1918" in failure.message


@pytest.mark.parametrize("form", ["93.184.216.34", "::ffff:93.184.216.34", "64:ff9b::93.184.216.34"])
@pytest.mark.parametrize("allowed", [allow_nothing, lambda endpoint: True])
def test_a_name_with_a_denied_address_is_refused_in_every_form_of_the_address(form: str, allowed: IsAllowed) -> None:
    attempts, _, failure = connect(["9.9.9.9", form], allowed=allowed, deny="93.184.216.34")
    assert attempts == []
    assert failure is not None
    assert failure.code is Code.DOMAIN_NOT_ALLOWED
    assert failure.message == f"the operator's settings do not allow {form}, the address of site.example"


def test_a_name_with_a_private_address_is_refused_without_a_connection() -> None:
    attempts, _, failure = connect(["192.168.1.1"])
    assert attempts == []
    assert failure is not None
    assert failure.code is Code.BLOCKED_ADDRESS
    assert failure.message == "site.example resolves to 192.168.1.1, which is refused (private, RFC 1918)"


@pytest.mark.parametrize("inside", ["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fe80::1%lo"])
@pytest.mark.parametrize("inside_first", [True, False])
def test_a_name_with_public_and_private_addresses_is_refused_in_either_order(inside: str, inside_first: bool) -> None:
    answers = [inside, "9.9.9.9"] if inside_first else ["9.9.9.9", "2620:fe::fe", inside]
    attempts, _, failure = connect(answers)
    assert attempts == []
    assert failure is not None
    assert failure.code is Code.BLOCKED_ADDRESS
    assert inside in failure.message


def test_addresses_beyond_those_that_would_be_tried_are_checked_too() -> None:
    attempts, _, failure = connect([*(f"9.9.9.{n}" for n in range(MAX_ADDRESSES)), "127.0.0.1"])
    assert attempts == []
    assert failure is not None
    assert failure.code is Code.BLOCKED_ADDRESS


def test_the_refusal_of_a_literal_address_names_it_once() -> None:
    _, _, failure = connect(["127.0.0.1"], host="127.0.0.1")
    assert failure is not None
    assert failure.message == "127.0.0.1 is refused (loopback, RFC 1122)"


def test_an_allowed_endpoint_may_be_private() -> None:
    attempts, _, failure = connect(["192.168.1.1"], allowed=lambda endpoint: endpoint == "site.example:443")
    assert attempts == [("192.168.1.1", 443)]
    assert failure is None


def test_the_allow_list_opens_the_named_port_only() -> None:
    _, _, failure = connect(["192.168.1.1"], allowed=lambda endpoint: endpoint == "site.example:80")
    assert failure is not None
    assert failure.code is Code.BLOCKED_ADDRESS


def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    attempts, _, failure = connect(["9.9.9.9", "9.9.9.10"], down=["9.9.9.9"])
    assert attempts == [("9.9.9.9", 443), ("9.9.9.10", 443)]
    assert failure is None


def test_a_few_addresses_are_tried_once_each_in_the_resolvers_order() -> None:
    many = [f"9.9.9.{n}" for n in range(20, 0, -1)]
    attempts, _, failure = connect([*many, *many], down=many)
    assert attempts == [(address, 443) for address in many[:MAX_ADDRESSES]]
    assert failure is not None
    assert failure.code is Code.CONNECT_FAILURE
    assert "site.example:443" in failure.message


def test_a_name_without_addresses_is_a_dns_failure() -> None:
    attempts, _, failure = connect([])
    assert attempts == []
    assert failure is not None
    assert failure.code is Code.DNS_FAILURE


def test_unix_sockets_are_never_connected_to() -> None:
    with pytest.raises(KeyholeError) as caught:
        asyncio.run(CheckedBackend(lambda endpoint: True).connect_unix_socket("/run/docker.sock"))
    assert caught.value.code is Code.BLOCKED_ADDRESS


# Several addresses


class Stream(httpcore.AsyncMockStream):
    """A stream to an address that records whether it was closed."""

    def __init__(self, address: str) -> None:
        super().__init__([])
        self.address = address
        self.is_closed = False

    async def aclose(self) -> None:
        self.is_closed = True


class Network:
    """Addresses that answer, hang, are down or refuse, and the attempts in their order."""

    def __init__(self, **kinds: str) -> None:
        self._kinds = kinds
        self.attempts: list[str] = []
        self.cancelled: list[str] = []
        self.streams: list[Stream] = []

    async def connect(self, address: str) -> httpcore.AsyncNetworkStream:
        self.attempts.append(address)
        kind = self._kinds[address]
        try:
            if kind == "hangs":
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.append(address)
            if address != "late":
                raise
        if kind == "down":
            raise httpcore.ConnectError(address)
        if kind == "refuses":
            raise KeyholeError(Code.CONNECT_FAILURE, "the proxy refuses")
        if kind == "fails":
            raise ValueError(address)
        self.streams.append(Stream(address))
        return self.streams[-1]

    def dial(self, delay: float = 0.0) -> Stream:
        """Connect to the addresses in their order, in less than a second."""

        async def run() -> httpcore.AsyncNetworkStream:
            return await asyncio.wait_for(connect_to_first(list(self._kinds), self.connect, delay), 1)

        stream = asyncio.run(run())
        assert isinstance(stream, Stream)
        assert [each.address for each in self.streams if not each.is_closed] == [stream.address]
        return stream


def test_the_next_address_is_tried_within_300_milliseconds() -> None:
    assert 0.1 <= ATTEMPT_DELAY <= 0.3  # RFC 8305, section 8: at least 100 ms, 250 ms recommended


def test_an_address_that_hangs_is_abandoned_for_the_next_one() -> None:
    network = Network(a="hangs", b="hangs", c="answers", d="answers")
    assert network.dial().address == "c"
    assert network.attempts == ["a", "b", "c"]
    assert network.cancelled == ["a", "b"]


def test_the_first_address_alone_is_tried_if_it_answers() -> None:
    network = Network(a="answers", b="answers")
    assert network.dial().address == "a"
    assert network.attempts == ["a"]


def test_the_next_address_is_tried_at_once_when_one_fails() -> None:
    network = Network(a="down", b="answers")
    assert network.dial(delay=3_600).address == "b"


def test_the_next_address_is_tried_when_the_proxy_cannot_reach_one() -> None:
    assert Network(a="refuses", b="answers").dial(delay=3_600).address == "b"


def test_an_attempt_that_hangs_stays_open_for_a_late_answer_while_others_fail() -> None:
    network = Network(a="hangs", b="down")

    async def run() -> None:
        task = asyncio.ensure_future(connect_to_first(["a", "b"], network.connect, 0.0))
        for _ in range(20):
            await asyncio.sleep(0)
        assert network.attempts == ["a", "b"]
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert network.cancelled == ["a"]


def test_a_stream_that_connects_although_it_was_cancelled_is_closed() -> None:
    assert Network(late="hangs", b="answers").dial().address == "b"


def test_the_last_failure_is_raised_if_all_fail() -> None:
    with pytest.raises(httpcore.ConnectError, match="b"):
        Network(a="down", b="down").dial()


def test_another_failure_is_raised_at_once_and_ends_the_other_attempts() -> None:
    network = Network(a="hangs", b="fails", c="answers")
    with pytest.raises(ValueError, match="b"):
        network.dial()
    assert (network.attempts, network.cancelled) == (["a", "b"], ["a"])


def test_the_families_take_turns_beginning_with_the_resolvers_choice() -> None:
    addresses = ["2001:db8::1", "2001:db8::2", "2001:db8::3", "192.0.2.1", "192.0.2.2"]
    assert order_addresses(addresses) == ["2001:db8::1", "192.0.2.1", "2001:db8::2", "192.0.2.2"]
    assert order_addresses(addresses[::-1]) == ["192.0.2.2", "2001:db8::3", "192.0.2.1", "2001:db8::2"]


def test_few_of_many_addresses_are_tried() -> None:
    many = [f"192.0.2.{number}" for number in range(20)]
    assert order_addresses(many) == many[:MAX_ADDRESSES]


# TCP connections

MOST_STEPS = 30
"""Steps of the event loop within which a connection on loopback is open."""


def test_an_address_and_a_name_are_connected_to() -> None:
    async def ask(host: str, port: int) -> bytes:
        stream = await TcpBackend().connect_tcp(host, port)
        await stream.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = await stream.read(12)
        await stream.aclose()
        return answer

    with serve({"/": response(b"page")}) as site:
        port = int(site.endpoint.rpartition(":")[2])
        for host in ("127.0.0.1", "localhost"):
            assert asyncio.run(ask(host, port)) == b"HTTP/1.1 200"


def test_a_refused_connection_is_a_connect_error() -> None:
    with pytest.raises(httpcore.ConnectError):
        asyncio.run(TcpBackend().connect_tcp("127.0.0.1", unused_port()))


def test_no_socket_stays_open_whenever_the_caller_is_cancelled() -> None:
    async def cancel_after(steps: int, port: int) -> None:
        connecting = asyncio.ensure_future(TcpBackend().connect_tcp("127.0.0.1", port))
        for _ in range(steps):
            await asyncio.sleep(0)
        connecting.cancel()
        (result,) = await asyncio.gather(connecting, return_exceptions=True)
        if not isinstance(result, BaseException):
            await result.aclose()

    with socket.create_server(("127.0.0.1", 0)) as server:
        for steps in range(MOST_STEPS):
            asyncio.run(cancel_after(steps, server.getsockname()[1]))
        gc.collect()  # an open socket would be reported as a failure of this test
