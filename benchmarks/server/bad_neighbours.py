"""Measure what clients of a shared server see while it hangs, and while another client floods it or reads nothing.

    python -m benchmarks.server.bad_neighbours [--seconds 20]

Real relays, a real server and a site on loopback. SIGSTOP makes the server hang. The bad neighbour sends calls as fast
as its relay takes them; it reads none of the answers, or all of them. The other client meanwhile asks a stored page,
again and again. Takes a minute. Exits with 1 if a figure is over its limit.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.server.startup import serve_page
from tests.support.shared_clients import Client, reader_settings, servers_of, shared_home

LIMITS: Final = {
    "a new client waits longer by, s": 2.0,
    "a connected client waits, s": 15.0,
    "keyhole server stop, s": 5.0,
    "nothing is read: the server grows by, MB": 100.0,
    "nothing is read: the relay grows by, MB": 20.0,
    "nothing is read: the other client waits, s": 1.0,
    "a flood: the other client waits, s": 1.0,
}
UNKNOWN = {"id": "aaaaaaaaaaaaaaaa"}
BATCH = 60
"""Requests of one write."""


def main() -> int:
    """Measure and print the figures beside their limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args().seconds
    with serve_page() as site:
        allowed = {"KEYHOLE_ALLOW_PRIVATE": site.removeprefix("http://")}
        with shared_home() as home:
            figures = hang(home, reader_settings(home, **allowed))
        for name, reads in (("nothing is read", False), ("a flood", True)):
            with shared_home() as home:
                found = flood(home, reader_settings(home, **allowed), site, seconds, reads=reads)
                figures |= {f"{name}: {figure}": value for figure, value in found.items()}
    for figure, limit in LIMITS.items():
        print(f"{figures[figure]:6.1f}  (limit {limit:.0f})  {figure}")
    return 1 if any(figures[figure] > limit for figure, limit in LIMITS.items()) else 0


def hang(home: Path, settings: Mapping[str, str]) -> dict[str, float]:
    """Return what new and connected clients and the command wait for a server that is stopped."""

    def start() -> Client:
        client = Client(settings)
        client.call("read_artifact", **UNKNOWN)
        return client

    def elapsed(work: Callable[[], object]) -> float:
        began = time.monotonic()
        work()
        return time.monotonic() - began

    command = [sys.executable, "-m", "keyhole", "server", "stop"]
    stop = partial(subprocess.run, command, env=dict(settings), check=True, capture_output=True)
    clients = [start()]
    stop()  # the first start was slower: it filled the disk's cache
    usual = elapsed(lambda: clients.append(start()))
    stop_server(home)
    connected = elapsed(lambda: clients[1].call("read_artifact", **UNKNOWN))
    clients.append(start())
    stop_server(home)
    new = elapsed(lambda: clients.append(start()))
    clients[2].call("read_artifact", **UNKNOWN)  # once it is answered, the server has ended
    clients.append(start())
    stop_server(home)
    command_seconds = elapsed(stop)
    for client in clients:
        client.close()
    return {
        "a new client waits longer by, s": new - usual,
        "a connected client waits, s": connected,
        "keyhole server stop, s": command_seconds,
    }


def stop_server(home: Path) -> None:
    """Let the server hang."""
    (server,) = servers_of(home)
    os.kill(server["process"], signal.SIGSTOP)


def flood(home: Path, settings: Mapping[str, str], site: str, seconds: float, *, reads: bool) -> dict[str, float]:
    """Return how long a client waits at most beside one that floods, and how much the processes grow."""
    with Client(settings, "other") as other, Client(settings, "bad") as bad:
        text = other.call("web_fetch", url=f"{site}/roads", query="wind at station 12")
        id = text.partition('read_artifact(id="')[2].partition('"')[0]
        (server,) = servers_of(home)
        processes = {"server": server["process"], "relay": bad.process.pid}
        before = {name: resident(process) for name, process in processes.items()}
        peak, slowest = dict(before), 0.0
        end = time.monotonic() + seconds
        works: list[Callable[[], None]] = [lambda: send(bad, id, end)]
        works += [lambda: read(bad, end)] if reads else []
        threads = [threading.Thread(target=work) for work in works]
        for thread in threads:
            thread.start()
        for number in range(sys.maxsize):
            began = time.monotonic()
            if began > end:
                break
            other.call("read_artifact", id=id, query=f"mail at station {number}", max_chars=5_000)
            slowest = max(slowest, time.monotonic() - began)
            peak = {name: max(peak[name], resident(process)) for name, process in processes.items()}
        for thread in threads:
            thread.join()
        bad.process.kill()
    growth = {f"the {name} grows by, MB": peak[name] - before[name] for name in processes}
    return {**growth, "the other client waits, s": slowest}


def send(bad: Client, id: str, end: float) -> None:
    """Send calls whenever the relay takes them."""
    assert bad.process.stdin
    pipe, number, line = bad.process.stdin.fileno(), 1_000, b""
    os.set_blocking(pipe, False)
    while time.monotonic() < end:
        if select.select([], [pipe], [], 0.1)[1]:
            line = line or b"".join(map(call(id), range(number, number + BATCH)))
            line, number = line[os.write(pipe, line) :], number + BATCH


def call(id: str) -> Callable[[int], bytes]:
    """Return a function that makes the line of a call with a large answer."""

    def line(number: int) -> bytes:
        arguments = {"id": id, "query": f"wind at station {number}", "max_chars": 150_000, "repeat": True}
        params = {"name": "read_artifact", "arguments": arguments}
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode() + b"\n"

    return line


def read(bad: Client, end: float) -> None:
    """Read all answers."""
    assert bad.process.stdout
    pipe = bad.process.stdout.fileno()
    while time.monotonic() < end:
        if select.select([pipe], [], [], 0.1)[0]:
            os.read(pipe, 1_000_000)


def resident(process: int) -> float:
    """Return the resident memory of a process in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


if __name__ == "__main__":
    sys.exit(main())
