"""A connection goes to the address that answers first, and no other stays open. No test opens a socket or sleeps."""

from __future__ import annotations

import asyncio

import httpcore  # noqa: TID251 - the streams and the errors of attempts
import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.dial import ATTEMPT_DELAY, MAX_ADDRESSES, connect_to_first, order_addresses


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
