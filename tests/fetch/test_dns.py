"""Names are resolved without blocking the process on the resolver."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import textwrap
import time
from typing import Any
from unittest import mock

import pytest

from keyhole.fetch.dns import look_up


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
