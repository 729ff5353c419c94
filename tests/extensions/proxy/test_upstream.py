"""A server that is a process: its lines, its end, its children."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from keyhole.extensions.proxy import upstream as upstream_module
from keyhole.extensions.proxy.upstream import ProcessUpstream

ECHO = "import sys\nfor line in sys.stdin: print('got', line, end='', flush=True)\nraise SystemExit(7)"


def test_lines_go_in_and_come_out_and_the_end_is_described() -> None:
    async def run() -> tuple[list[bytes], str]:
        server = ProcessUpstream([sys.executable, "-c", ECHO])
        assert server.send(b"one")  # waits until the server has started
        await server.start()
        assert server.send(b"two")
        await server.finish()
        lines = [line.raw async for line in server.lines()]
        return lines, await server.stop()

    assert asyncio.run(run()) == ([b"got one", b"got two"], "ended with exit status 7")


def test_a_server_can_be_started_again() -> None:
    async def run() -> list[bytes]:
        server = ProcessUpstream([sys.executable, "-c", "print('hello')"])
        lines = []
        for _ in range(2):
            await server.start()
            lines += [line.raw async for line in server.lines()]
            await server.stop()
        return lines

    assert asyncio.run(run()) == [b"hello", b"hello"]


def test_a_program_that_does_not_exist_is_an_os_error() -> None:
    with pytest.raises(FileNotFoundError):
        asyncio.run(ProcessUpstream(["/no/such/program"]).start())


def test_messages_for_a_server_that_does_not_read_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream_module, "MAX_WAITING_BYTES", 100)

    async def run() -> list[bool]:
        server = ProcessUpstream([sys.executable])
        return [server.send(b"x" * 60), server.send(b"x" * 60), server.send(b"x" * 40)]

    assert asyncio.run(run()) == [True, False, True]


def test_a_server_that_ignores_the_end_is_killed_with_its_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream_module, "EXIT_SECONDS", 0.2)
    code = (
        "import signal, subprocess, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], stdout=subprocess.DEVNULL)\n"
        "print(child.pid, flush=True)\n"
        "child.wait()"
    )

    async def run() -> tuple[int, str]:
        server = ProcessUpstream([sys.executable, "-c", code])
        await server.start()
        line = await anext(aiter(server.lines()))
        return int(line.raw), await server.stop()

    child, reason = asyncio.run(run())
    assert reason == "was ended by signal 9"
    deadline = time.monotonic() + 10  # a killed process ends when the system next runs it
    while _runs(child) and time.monotonic() < deadline:
        os.sched_yield()
    assert not _runs(child)


def _runs(pid: int) -> bool:
    """Return whether a process runs. A killed one may wait for its parent as a zombie."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
