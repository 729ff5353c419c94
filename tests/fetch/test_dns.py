"""Names are resolved without blocking the process on the resolver."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import textwrap
import time
from ipaddress import IPv6Network
from typing import Any
from unittest import mock

import pytest

from keyhole.fetch import dns
from keyhole.fetch.dns import LIFETIME, RETRY, DnsAnswers, Nat64Prefixes, look_up


def test_a_literal_address_resolves_to_itself() -> None:
    answers = asyncio.run(look_up("127.0.0.1", 80))
    assert [answer[4] for answer in answers] == [("127.0.0.1", 80)]


@pytest.mark.parametrize("error", [socket.gaierror(socket.EAI_NONAME, "unknown"), UnicodeError("no label")])
def test_errors_of_the_resolver_are_raised(error: Exception) -> None:
    with mock.patch("socket.getaddrinfo", side_effect=error), pytest.raises(type(error)):
        asyncio.run(look_up("site.example", 80))


def test_a_hanging_resolver_delays_neither_the_deadline_nor_the_end_of_the_process() -> None:
    script = """
        import asyncio, socket, threading
        from keyhole.fetch.dns import look_up

        socket.getaddrinfo = lambda *_, **__: threading.Event().wait()

        async def main():
            try:
                async with asyncio.timeout(0.1):
                    await look_up("site.example", 80)
            except TimeoutError:
                print("timed out")

        asyncio.run(main())
    """
    start = time.perf_counter()
    command = [sys.executable, "-c", textwrap.dedent(script)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    assert run.stdout == "timed out\n"
    assert time.perf_counter() - start < 10


def test_an_answer_after_the_loop_was_closed_is_dropped() -> None:
    import threading

    release, done = threading.Event(), threading.Event()

    def late(*_: Any, **__: Any) -> list[Any]:
        release.wait(10)
        done.set()
        return []

    async def ask() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await look_up("site.example", 80)

    with mock.patch("socket.getaddrinfo", late):
        asyncio.run(ask())
        release.set()
        assert done.wait(10)


# NAT64 prefixes

PREFIX = IPv6Network("2a00:1098:2b::/96")


class Resolver:
    """Answers lookups with an address, raises an error, or never answers. Records the names."""

    def __init__(self, answer: str | Exception | None) -> None:
        self.answer = answer
        self.names: list[str] = []

    async def look_up(self, name: str, port: int) -> DnsAnswers:
        self.names.append(name)
        if self.answer is None:
            await asyncio.Event().wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return [(0, 0, 0, "", ("192.0.0.170", port)), (0, 0, 0, "", (self.answer, port, 0, 0))]


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds


def test_the_prefix_of_the_answer_is_looked_up_once_per_lifetime() -> None:
    resolver, clock = Resolver("2a00:1098:2b::c000:ab"), Clock()

    async def run() -> None:
        prefixes = Nat64Prefixes(resolver.look_up, clock.now)
        assert resolver.names == []
        both = await asyncio.gather(prefixes.get(), prefixes.get())
        assert list(both) == [{PREFIX}, {PREFIX}]
        clock.seconds = LIFETIME - 1
        assert await prefixes.get() == {PREFIX}
        assert resolver.names == ["ipv4only.arpa"]
        resolver.answer = "192.0.0.171"
        clock.seconds = LIFETIME
        assert await prefixes.get() == frozenset()
        assert len(resolver.names) == 2

    asyncio.run(run())


@pytest.mark.parametrize("failure", [socket.gaierror("no answer"), UnicodeError("no label"), None])
def test_a_failed_or_hanging_lookup_keeps_the_last_answer_and_is_repeated_later(
    failure: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver, clock = Resolver("2a00:1098:2b::c000:aa"), Clock()
    monkeypatch.setattr(dns, "MAX_WAIT", 0.01)

    async def run() -> None:
        prefixes = Nat64Prefixes(resolver.look_up, clock.now)
        await prefixes.get()
        clock.seconds, resolver.answer = LIFETIME, failure
        assert await prefixes.get() == {PREFIX}
        assert await prefixes.get() == {PREFIX}
        assert len(resolver.names) == 2, "the failure is remembered"
        clock.seconds += RETRY
        await prefixes.get()
        assert len(resolver.names) == 3

    asyncio.run(run())


def test_an_answer_that_comes_late_is_used_for_the_next_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = Resolver("2a00:1098:2b::c000:aa")
    monkeypatch.setattr(dns, "MAX_WAIT", 0.01)

    async def run() -> None:
        may_answer = asyncio.Event()

        async def look_up(name: str, port: int) -> DnsAnswers:
            await may_answer.wait()
            return await resolver.look_up(name, port)

        prefixes = Nat64Prefixes(look_up)
        assert await prefixes.get() == frozenset()
        may_answer.set()
        await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})
        assert await prefixes.get() == {PREFIX}
        assert len(resolver.names) == 1

    asyncio.run(run())


def test_an_answer_with_a_zone_is_read_without_it() -> None:
    resolver = Resolver("2a00:1098:2b::c000:aa%eth0")
    assert asyncio.run(Nat64Prefixes(resolver.look_up).get()) == {PREFIX}
