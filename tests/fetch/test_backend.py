"""Connections go to checked addresses only. No test opens a socket."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any
from unittest import mock

import httpcore  # noqa: TID251 - the port that the backend implements and is built on
import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.backend import CheckedBackend, IsAllowed
from keyhole.fetch.dial import MAX_ADDRESSES
from keyhole.fetch.dns import Answers
from keyhole.fetch.nat64 import Nat64Prefixes


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

    async def disclose(name: str, port: int) -> Answers:
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
