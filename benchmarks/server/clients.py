"""Compare the memory of one and of several clients with PyPI's mcp-server-fetch, on Linux.

    python -m benchmarks.server.clients [--clients 5]

Each client starts a server of its own and lists its tools. Prints the PSS of all their processes, in which memory that
processes share is divided among them: when idle, and after each client has fetched a page of 100 KB.
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
    install_peer,
    keyhole,
    peer,
    run_server,
    serve_page,
)

SETTLE: Final = 3.0
"""Seconds until what a server loads after it listed its tools is loaded."""


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=5)
    arguments = parser.parse_args()
    peer_python = install_peer(Path.home() / ".cache" / "keyhole-benchmarks")
    print(f"| clients | state | keyhole | mcp-server-fetch {PEER_VERSION} |")
    print("|---:|---|---:|---:|")
    with serve_page() as site, tempfile.TemporaryDirectory() as scratch:
        for count in dict.fromkeys([1, arguments.clients]):
            rows = [measure(each, site, count) for each in (keyhole(site, scratch), peer(peer_python, scratch))]
            for state, *sizes in zip(("idle", "after a fetch"), *rows, strict=True):
                print(f"| {count} | {state} | " + " | ".join(f"{size / 2**20:.0f} MiB" for size in sizes) + " |")
    return 0


def measure(contender: Contender, site: str, count: int) -> tuple[int, int]:
    """Return the PSS in bytes of the servers of `count` clients: idle, and after a fetch each."""
    with ExitStack() as stack:
        servers = [stack.enter_context(run_server(contender)) for _ in range(count)]
        for server in servers:
            server.open()
        time.sleep(SETTLE)
        idle = memory_of(servers)
        for number, server in enumerate(servers):
            server.fetch(contender, f"{site}/clients/{count}/{number}")
        return idle, memory_of(servers)


def memory_of(servers: Sequence[Connection]) -> int:
    """Return the PSS of the servers and of their child processes."""
    return sum(proportional_bytes(pid) for server in servers for pid in (server.pid, *descendants_of(server.pid)))


if __name__ == "__main__":
    raise SystemExit(main())
