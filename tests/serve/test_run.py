"""The real server process on both transports, with raw JSON-RPC and the SDK's client."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from keyhole.cli.demo_site import recorded_pages, serve
from keyhole.serve.stdio import CALL_THREADS, SWITCH_INTERVAL, set_up_process

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
NOISY = """
import os, sys

class Noise:
    def find_spec(self, name, path=None, target=None):
        if name == "sqlite_utils":
            print("printed while serving", flush=True)
            os.write(1, b"written to descriptor 1\\n")

sys.meta_path.insert(0, Noise())
"""


class Process:
    """A server over stdio, one JSON line each way."""

    def __init__(self, home: Path, **environment: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "keyhole", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": str(home), "KEYHOLE_ENGINES": "searxng", **environment},
        )
        self.lines: list[bytes] = []
        self.request(0, "initialize", INITIALIZE)
        assert self.answer(0)["result"]["serverInfo"]["name"] == "keyhole"
        self.send({"method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def request(self, id: int, method: str, params: dict[str, Any]) -> None:
        self.send({"id": id, "method": method, "params": params})

    def answer(self, id: int) -> dict[str, Any]:
        assert self._process.stdout
        while line := self._process.stdout.readline():
            self.lines.append(line)
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == id:
                return message
        raise AssertionError("the server closed its output")

    def close(self) -> int:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        return self._process.wait(timeout=10)


def test_stdout_carries_only_the_protocol_even_if_a_library_prints(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NOISY)
    with serve(recorded_pages()) as port:
        server = Process(
            tmp_path / "home", PYTHONPATH=str(tmp_path), KEYHOLE_ALLOW_PRIVATE=f"127.0.0.1:{port}", PYTHONUTF8="1"
        )
        url = f"http://127.0.0.1:{port}/sqlite-wal"
        server.request(1, "tools/call", {"name": "web_fetch", "arguments": {"url": url, "query": "checkpoint"}})
        result = server.answer(1)["result"]
        assert server.close() == 0
    assert result["isError"] is False
    assert "Write-Ahead Logging" in result["content"][0]["text"]
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in server.lines)


def test_a_cancelled_call_closes_its_connection_within_100_ms(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(10)
        port = listener.getsockname()[1]
        server = Process(tmp_path, KEYHOLE_ALLOW_PRIVATE=f"127.0.0.1:{port}")
        arguments = {"url": f"http://127.0.0.1:{port}/never"}
        server.request(1, "tools/call", {"name": "web_fetch", "arguments": arguments})
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(10)
            assert connection.recv(65_536).startswith(b"GET /never ")
            server.send({"method": "notifications/cancelled", "params": {"requestId": 1}})
            start = time.perf_counter()
            assert connection.recv(1) == b""
            elapsed = time.perf_counter() - start
        server.request(2, "tools/list", {})
        assert len(server.answer(2)["result"]["tools"]) == 3
        assert server.close() == 0
    assert elapsed < 0.1


def test_a_client_that_stops_reading_does_not_crash_the_server(tmp_path: Path) -> None:
    server = Process(tmp_path)
    assert server._process.stdout
    server._process.stdout.close()
    server.request(1, "tools/list", {})
    assert server.close() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="children are listed by Linux")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, None])
def test_workers_end_with_their_server_however_it_ends(tmp_path: Path, end: signal.Signals | None) -> None:
    with serve(recorded_pages()) as port:
        server = Process(tmp_path, KEYHOLE_ALLOW_PRIVATE=f"127.0.0.1:{port}")
        url = f"http://127.0.0.1:{port}/sqlite-wal"
        server.request(1, "tools/call", {"name": "web_fetch", "arguments": {"url": url}})
        assert server.answer(1)["result"]["isError"] is False
        pid = server._process.pid
        workers = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        assert len(workers) == 1
        if end is not None:
            server._process.send_signal(end)
            server._process.wait(timeout=5)  # with stdin still open: Ctrl-C does not close it
        server.close()
    until = time.monotonic() + 5
    while (left := [worker for worker in workers if _lives(worker)]) and time.monotonic() < until:
        time.sleep(0.01)  # polled: a process is not notified of another's children
    assert left == []


def _lives(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@contextmanager
def http_server(home: Path, allowed: str) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "keyhole", "serve", "--http", "--port", "0"],
        stderr=subprocess.PIPE,
        env={"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": str(home), "KEYHOLE_ALLOW_PRIVATE": allowed},
    )
    try:
        assert process.stderr
        yield process.stderr.readline().decode().split()[-1]
    finally:
        process.terminate()
        process.wait(timeout=10)
        if process.stderr:
            process.stderr.close()


def test_the_http_transport_serves_both_eras(tmp_path: Path) -> None:
    async def run(url: str, era: str, page: str) -> str:
        async with Client(url, mode=era) as client:
            assert len((await client.list_tools()).tools) == 3
            result = await client.call_tool("web_fetch", {"url": page})
            return str(getattr(result.content[0], "text", ""))

    with serve(recorded_pages()) as port, http_server(tmp_path, f"127.0.0.1:{port}") as url:
        page = f"http://127.0.0.1:{port}/release-notes"
        texts = {anyio.run(run, url, era, page) for era in ("legacy", "auto")}
    assert len(texts) == 1
    assert "Release notes" in texts.pop()


def test_a_taken_port_is_a_clear_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from keyhole.cli.main import main

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code = main(["serve", "--http", "--port", str(taken.getsockname()[1])])
    assert code == 2
    assert "keyhole: port" in capsys.readouterr().err


def test_calls_have_a_fixed_number_of_threads_with_short_turns() -> None:
    async def run() -> None:
        set_up_process()
        together = threading.Barrier(CALL_THREADS, timeout=10)
        async with asyncio.TaskGroup() as group:
            for _ in range(CALL_THREADS):
                group.create_task(asyncio.to_thread(together.wait))

    before = sys.getswitchinterval()
    try:
        anyio.run(run)
        assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL)
    finally:
        sys.setswitchinterval(before)
