"""Count the calls of a stored page that an HTTP server answers, with one process and with several.

    python -m benchmarks.server.stored_calls [--processes 1 2] [--clients 16] [--seconds 8]

Clients call web_fetch for a stored page of 100 KB with a question, each over one connection, again as soon as they are
answered. Printed are the calls in a second, the processor time of the server's processes for a call, and the calls in a
second of one processor. The clients run on the same machine: on few processors the last figure is the one to compare.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from multiprocessing import Process, Queue
from typing import Any, Final

from benchmarks.server.load_test.usage import cpu_seconds
from benchmarks.server.startup import SERVER, serve_page

QUESTION: Final = "how often is the mail sorted at station 120"
VERSION: Final = "2026-07-28"
META: Final = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
CLIENT_PROCESSES: Final = 2
"""Processes of the clients, so that they keep up with several processes of the server."""


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=8.0)
    arguments = parser.parse_args()
    print("| processes | calls a second | ms of a processor for a call | calls a second of a processor |")
    print("|---:|---:|---:|---:|")
    with serve_page() as site:
        for count in arguments.processes:
            with run_server(site, count) as (port, server):
                body = request(f"{site}/stored")
                for _ in range(8 * count):  # so that every process has loaded what the calls need
                    call(HTTPConnection("127.0.0.1", port, timeout=60), body)
                before = cpu_seconds(server)
                calls, seconds = load(port, body, arguments.clients, arguments.seconds)
                used = cpu_seconds(server) - before
            print(f"| {count} | {calls / seconds:.0f} | {1_000 * used / calls:.1f} | {calls / used:.0f} |")
    return 0


def request(url: str) -> bytes:
    """Return the body of a call."""
    params = {"name": "web_fetch", "arguments": {"url": url, "query": QUESTION}, "_meta": META}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


def call(connection: HTTPConnection, body: bytes) -> None:
    """Make one call. Raises SystemExit if it fails."""
    headers = {
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/call", "Mcp-Name": "web_fetch",
    }  # fmt: skip
    connection.request("POST", "/mcp", body, headers)
    response = connection.getresponse()
    answer = response.read()
    if response.status != 200 or b"[end]" not in answer:
        raise SystemExit(f"{response.status}: {answer[:300]!r}")


def load(port: int, body: bytes, clients: int, seconds: float) -> tuple[int, float]:
    """Return the answered calls of all clients, and the seconds that they took."""
    counts: Queue[int] = Queue()
    share = max(1, clients // CLIENT_PROCESSES)
    start = time.monotonic()
    processes = [
        Process(target=run_clients, args=(port, body, share, seconds, counts)) for _ in range(CLIENT_PROCESSES)
    ]
    for process in processes:
        process.start()
    total = sum(counts.get() for _ in processes)
    elapsed = time.monotonic() - start
    for process in processes:
        process.join()
    return total, elapsed


def run_clients(port: int, body: bytes, clients: int, seconds: float, counts: Queue[int]) -> None:
    """Run clients in threads, and put the number of their answered calls into a queue."""
    end = time.monotonic() + seconds
    answered: list[int] = []

    def work() -> None:
        connection, count = HTTPConnection("127.0.0.1", port, timeout=60), 0
        while time.monotonic() < end:
            call(connection, body)
            count += 1
        answered.append(count)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts.put(sum(answered))


@contextmanager
def run_server(site: str, processes: int) -> Iterator[tuple[int, int]]:
    """Run a server; yield its port and its process."""
    options: Sequence[str] = ("--processes", str(processes)) if processes > 1 else ()
    command = [sys.executable, "-m", "keyhole", "serve", "--http", "--port", "0", *options]
    with tempfile.TemporaryDirectory() as home:
        settings = {
            "KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": home, "KEYHOLE_ALLOW_PRIVATE": site.removeprefix("http://"),
            "KEYHOLE_CALLS_PER_MINUTE": "1000000", "KEYHOLE_STATELESS": "on", "PYTHONPATH": str(SERVER),
        }  # fmt: skip
        environment: dict[str, Any] = {**os.environ, **settings}
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
            assert server.stderr
            line = server.stderr.readline()
            try:
                yield int(line.rpartition(":")[2].partition("/")[0]), server.pid
            finally:
                server.terminate()


if __name__ == "__main__":
    sys.exit(main())
