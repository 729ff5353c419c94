"""Measure the HTTP server's cost of idle connections, sessions and instrumentation.

    python -m benchmarks.server.http_server [--idle 1000] [--sessions 500]

Starts the server on loopback, opens idle connections and sessions with one stream each, and times tools/list meanwhile.
Memory is the process's resident size. Takes less than a minute.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

PATIENCE: Final = 30.0
CALLS: Final = 300
VERSION: Final = "2025-06-18"
HEADERS: Final = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
INITIALIZE: Final = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}},
}
LIST: Final = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@dataclass(frozen=True, slots=True)
class Figures:
    """Results. `alone` and `among_…` are milliseconds, `per_…` bytes, `drained` seconds."""

    alone: tuple[float, float]
    """Median and 95th percentile of tools/list."""
    among_idle: tuple[float, float]
    among_streams: tuple[float, float]
    per_connection: float
    per_session: float
    per_stream: float
    drained: float


@contextmanager
def run_server(home: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Run the server; yield its process and port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "keyhole", "serve", "--http", "--port", "0"],
        stderr=subprocess.PIPE,
        env={"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": home, "KEYHOLE_ENGINES": "wikipedia"},
    )
    try:
        assert process.stderr
        port = int(process.stderr.readline().decode().rsplit(":", 1)[1].split("/")[0])
        while ask(port, "GET", "/readyz")[0] != 200:
            time.sleep(0.05)
        yield process, port
    finally:
        process.kill()
        process.communicate()


def ask(port: int, method: str, path: str, body: Any = None, **more: str) -> tuple[int, str | None]:
    """Send a request on a new connection; return its status and session."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, json.dumps(body) if body else None, HEADERS | more)
        response = connection.getresponse()
        response.read()
        return response.status, response.headers["mcp-session-id"]
    finally:
        connection.close()


def open_session(port: int) -> str:
    """Open a session; return its id."""
    status, id = ask(port, "POST", "/mcp", INITIALIZE)
    assert status == 200
    assert id
    return id


def open_stream(port: int, id: str) -> socket.socket:
    """Open a stream of a session; return its connection."""
    head = f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {id}\r\n\r\n"
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    connection.sendall(head.encode())
    assert connection.recv(4_096).startswith(b"HTTP/1.1 200")
    return connection


def time_list(port: int, count: int) -> tuple[float, float]:
    """Return median and 95th percentile of `count` tools/list requests in one session, in milliseconds."""
    own, times = open_session(port), []
    for _ in range(count):
        start = time.perf_counter()
        status, _ = ask(port, "POST", "/mcp", LIST, **{"Mcp-Session-Id": own, "Mcp-Protocol-Version": VERSION})
        assert status == 200
        times.append((time.perf_counter() - start) * 1_000)
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def resident(process: subprocess.Popen[bytes]) -> int:
    """Return the resident memory in bytes."""
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * resource.getpagesize()


def measure(idle: int, sessions: int, calls: int = CALLS) -> Figures:
    """Start a server, measure it and stop it."""
    with tempfile.TemporaryDirectory() as home, run_server(home) as (process, port), ExitStack() as open_connections:
        time_list(port, calls)  # a warm-up: the first call loads modules
        alone = time_list(port, calls)
        before = resident(process)
        for _ in range(idle):
            open_connections.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
        among_idle = time_list(port, calls)
        per_connection = (resident(process) - before) / idle
        before = resident(process)
        ids = [open_session(port) for _ in range(sessions)]
        per_session = (resident(process) - before) / sessions
        before = resident(process)
        for id in ids:
            open_connections.enter_context(open_stream(port, id))
        among_streams = time_list(port, calls)
        per_stream = (resident(process) - before) / sessions
        start = time.perf_counter()
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        drained = time.perf_counter() - start
        return Figures(alone, among_idle, among_streams, per_connection, per_session, per_stream, drained)


def unobserved_stage() -> float:
    """Return the nanoseconds of a stage without observers."""
    from keyhole.retrieval.instrumentation import stage

    def run() -> None:
        with stage("fetch"):
            pass

    return min(timeit.repeat(run, number=100_000, repeat=5)) / 100_000 * 1e9


def stage_with_metrics() -> float:
    """Return the nanoseconds of a stage with metrics."""
    from keyhole.extensions.hosted.telemetry import Metrics
    from keyhole.retrieval.instrumentation import observed_by

    with observed_by(Metrics()):
        return unobserved_stage()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--idle", type=int, default=1_000)
    parser.add_argument(
        "--sessions", type=int, default=90, help="at most 95: one tenant has 100, and the timings use some"
    )
    options = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, options.idle + options.sessions + 200)), hard))
    figures = measure(options.idle, options.sessions)
    print(f"tools/list alone                       p50 {figures.alone[0]:.1f} ms, p95 {figures.alone[1]:.1f} ms")
    print(f"tools/list among {options.idle:,} idle connections p50 {figures.among_idle[0]:.1f} ms, ", end="")
    print(f"p95 {figures.among_idle[1]:.1f} ms")
    print(f"tools/list among {options.sessions:,} open streams   p50 {figures.among_streams[0]:.1f} ms, ", end="")
    print(f"p95 {figures.among_streams[1]:.1f} ms")
    print(f"memory of an idle connection           {figures.per_connection / 1_000:.1f} KB")
    print(f"memory of a session                    {figures.per_session / 1_000:.1f} KB")
    print(f"memory of its open stream              {figures.per_stream / 1_000:.1f} KB")
    print(f"from SIGTERM to the exit when idle      {figures.drained:.2f} s")
    print(f"a stage without observers              {unobserved_stage():.0f} ns")
    print(f"a stage with metrics                   {stage_with_metrics():.0f} ns")


if __name__ == "__main__":
    main()
