"""Compare the memory of one and of several clients with PyPI's mcp-server-fetch, on Linux.

    python -m benchmarks.server.clients [--clients 5] [--calls 200]

The clients of Keyhole share a server, and in a further column each has its own (KEYHOLE_SHARED=off). Prints the PSS of
all processes, in which memory that processes share is divided among them: when the clients have listed their tools and
are idle, after each has fetched a page of 100 KB, and for one client after many fetches.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from benchmarks.browser.pages.processes import descendants_of, proportional_bytes
from benchmarks.server.startup import (
    PEER_VERSION,
    Connection,
    Contender,
    ended_servers,
    install_peer,
    keyhole,
    peer,
    run_server,
    serve_page,
)
from keyhole.serve.shared.address import shared_folder
from keyhole.serve.shared.link import ask_servers

PATIENCE: Final = 600.0
"""Greatest seconds of one process: 200 fetches take the peer a minute."""
SETTLE: Final = 3.0
"""Seconds until what a server loads after it listed its tools is loaded."""


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=5)
    parser.add_argument("--calls", type=int, default=200)
    arguments = parser.parse_args()
    peer_python = install_peer(Path.home() / ".cache" / "keyhole-benchmarks")
    print(f"| clients | state | keyhole | KEYHOLE_SHARED=off | mcp-server-fetch {PEER_VERSION} |")
    print("|---:|---|---:|---:|---:|")
    with serve_page() as site, tempfile.TemporaryDirectory() as scratch, ended_servers(Path(scratch)):
        for count in dict.fromkeys([1, arguments.clients]):
            contenders = (
                keyhole(site, f"{scratch}/{count}"),
                keyhole(site, f"{scratch}/alone{count}", KEYHOLE_SHARED="off"),
                peer(peer_python, scratch),
            )
            calls = arguments.calls if count == 1 else 1
            rows = [measure(each, site, count, calls) for each in contenders]
            states = ("idle", "after a fetch", f"after {calls} fetches")[: 3 if calls > 1 else 2]
            for state, *sizes in zip(states, *rows, strict=True):
                print(f"| {count} | {state} | " + " | ".join(f"{size / 2**20:.0f} MiB" for size in sizes) + " |")
    return 0


def measure(contender: Contender, site: str, count: int, calls: int) -> list[int]:
    """Return the PSS in bytes of the servers of `count` clients: idle, after a fetch each, and after `calls` each."""
    with ExitStack() as stack:
        clients = [stack.enter_context(run_server(contender, PATIENCE)) for _ in range(count)]
        for client in clients:
            client.open()
        time.sleep(SETTLE)
        sizes = [memory_of(contender, clients)]
        for call in range(1, calls + 1):
            for number, client in enumerate(clients):
                client.fetch(contender, f"{site}/clients/{count}/{number}/{call}")
            if call in (1, calls):
                sizes.append(memory_of(contender, clients))
        return sizes if calls > 1 else sizes[:2]


def memory_of(contender: Contender, clients: Sequence[Connection]) -> int:
    """Return the PSS of what the clients started, of their child processes and of their shared servers."""
    folder = shared_folder(contender.env)
    shared = [server["process"] for server in ask_servers(folder, "status").values() if server]
    started = [*(client.pid for client in clients), *shared]
    return sum(proportional_bytes(pid) for pid in {each for pid in started for each in (pid, *descendants_of(pid))})


if __name__ == "__main__":
    raise SystemExit(main())
