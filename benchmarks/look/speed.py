"""Time the pages of `keyhole look` with a large store and a long log, as HTTP requests to the running command.

    python -m benchmarks.look.speed [--artifacts 100000] [--calls 50000] [--long 10000000] [--home DIR]

Fills a home folder with short pages, recorded calls, and one page of `--long` characters with a call that shows
passages all over it; takes ten minutes with the default numbers. With `--home`, a folder filled before is used again.
Prints for each page its size, the time of the first request, the median and maximum of nine others, and the CPU time
of the server for a request. Exits with 1 if a page fails or the first view takes more than 300 ms.
"""

from __future__ import annotations

import argparse
import http.client
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import urlsplit

from benchmarks.look.fill import CALLS_PER_SESSION, fill

REQUESTS: Final = 9
"""Requests of each page after the first."""
MAX_FIRST_VIEW: Final = 0.3
"""Seconds for the first request of the list of sessions."""
MEMORY_FOLDER: Final = Path("/dev/shm")  # noqa: S108 - filled without waiting for a disk, if there is one
TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Server:
    """The running command: its process, address and cookie, and the seconds until it printed its link."""

    process: subprocess.Popen[str]
    host: str
    cookie: str
    started: float

    def get(self, path: str) -> tuple[float, int, bytes]:
        """Request a page; return the seconds, the status and the body."""
        connection = http.client.HTTPConnection(self.host, timeout=60)
        start = time.perf_counter()
        connection.request("GET", path, headers={"Cookie": self.cookie})
        response = connection.getresponse()
        body = response.read()
        seconds = time.perf_counter() - start
        connection.close()
        return seconds, response.status, body

    def cpu_seconds(self) -> float:
        """Return the CPU time that the process has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


@contextmanager
def run_look(home: Path) -> Iterator[Server]:
    """Run the command until the end of the block."""
    start = time.perf_counter()
    environment = {**os.environ, "KEYHOLE_HOME": str(home), "KEYHOLE_STORE_MAX_BYTES": str(2**33)}
    command = [sys.executable, "-m", "keyhole", "look", "--no-open"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            link = urlsplit(process.stdout.readline().strip())
            started = time.perf_counter() - start
            yield Server(process, link.netloc, _sign_in(link.netloc, f"{link.path}?{link.query}"), started)
        finally:
            process.terminate()


def _sign_in(host: str, path: str) -> str:
    """Exchange the token of the printed link for a cookie."""
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("GET", path)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.headers.get("Set-Cookie", "").partition(";")[0]


def list_pages(calls: int, text: str, call: str, long: int) -> dict[str, str]:
    """Return the name and path of each page to measure. The first is the first view."""
    middle = f"c{calls // 2:07}"
    return {
        "sessions": "/",
        "sessions, filtered by words": "/?words=retry+limit",
        "sessions, filtered by site": "/?site=site7.example",
        "sessions, filtered by words that no call has": "/?words=absent",
        "one session": f"/sessions/s{calls // 2 // CALLS_PER_SESSION:06}",
        "one call": f"/calls/{middle}",
        "misses": "/misses",
        "figures of 7 days": "/figures",
        "figures of 30 days": "/figures?days=30",
        "texts": "/texts",
        "texts, filtered by a kind that no text has": "/texts?kind=outputs",
        "texts that contain words": "/texts?words=retry+limit",
        "the long text, its beginning": f"/texts/{text}",
        "the long text, its middle with the passages of a call": f"/texts/{text}?start={long // 2}&call={call}",
        "the call that read it": f"/calls/{call}",
    }


def measure(server: Server, pages: dict[str, str]) -> int:
    """Print a row for each page; return the number of faults."""
    faults = 0
    print(
        "| page | KB | first, ms | its CPU, ms | p50, ms | slowest, ms | CPU, ms |\n|---|---:|---:|---:|---:|---:|---:|"
    )
    for name, path in pages.items():
        before = server.cpu_seconds()
        first, status, body = server.get(path)
        between = server.cpu_seconds()
        times = [server.get(path)[0] for _ in range(REQUESTS)]
        cpu = (server.cpu_seconds() - between) / REQUESTS
        columns = (f"{len(body) / 1e3:.0f}", *(f"{each * 1e3:.0f}" for each in (
            first, between - before, statistics.median(times), max(times), cpu,
        )))  # fmt: skip
        print(f"| {name} | {' | '.join(columns)} |", flush=True)
        if status != 200:
            print(f"FAULT {path}: status {status}")
            faults += 1
        if path == "/" and first > MAX_FIRST_VIEW:
            print(f"FAULT the first view took {first * 1e3:.0f} ms")
            faults += 1
    return faults


def main(arguments: Sequence[str]) -> int:
    """Fill the folder, run the command and print the table; return 1 if there is a fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--artifacts", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=50_000)
    parser.add_argument("--long", type=int, default=10_000_000, help="characters of the long page")
    parser.add_argument("--home", type=Path, help="folder to fill, or filled before with the same numbers")
    options = parser.parse_args(arguments)
    with TemporaryDirectory(dir=MEMORY_FOLDER if MEMORY_FOLDER.is_dir() else None) as temporary:
        home = options.home or Path(temporary)
        ids = home / "long-ids"
        if not ids.exists():
            home.mkdir(parents=True, exist_ok=True)
            found = fill(home, options.artifacts, options.calls, 150, time.time(), options.long)
            ids.write_text(" ".join(found), encoding="ascii")
        text, call = ids.read_text(encoding="ascii").split()
        with run_look(home) as server:
            print(f"{options.artifacts:,} artifacts, {options.calls:,} calls; link after {server.started:.2f} s\n")
            return 1 if measure(server, list_pages(options.calls, text, call, options.long)) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
