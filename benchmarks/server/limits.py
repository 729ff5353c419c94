"""Check that limits hold under a flood.

    python -m benchmarks.server.limits

Four polite tenants call one server once a second, while a greedy tenant calls as fast as it can. Prints how many calls
of each are answered and refused, in what time, the most connections to a host at once, and the server's memory.
Everything is on loopback; takes a minute.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from keyhole.fetch.host_limits import MAX_PER_HOST

SERVER = Path(__file__).with_name("limits_server.py")
POLITE_HOST, GREEDY_HOST = "127.0.0.1", "127.0.0.2"
ANSWER_AFTER = 0.05
"""Seconds after which the site answers a request for a page."""
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
PAGE_NUMBERS = itertools.count()


@dataclass(slots=True)
class Site:
    """A site on loopback with two hosts, which records the maximum of open connections of each."""

    port: int = 0
    open: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request after ANSWER_AFTER seconds."""
        host = writer.get_extra_info("sockname")[0]
        self.open[host] += 1
        self.most[host] = max(self.most[host], self.open[host])
        try:
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(ANSWER_AFTER)
            page = b"<title>Valves</title><p>" + b"Pumps and valves of the station are kept by the keeper. " * 40
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n\r\n"
            writer.write(head.encode() + page)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open[host] -= 1
            writer.close()


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    """Serve the site until the block ends."""
    made = Site()
    server = await asyncio.start_server(made.talk, POLITE_HOST, 0)
    made.port = server.sockets[0].getsockname()[1]
    other = await asyncio.start_server(made.talk, GREEDY_HOST, made.port)
    async with server, other:
        yield made
        while made.open.total():  # noqa: ASYNC110 - the servers have ended, so their connections end soon
            await asyncio.sleep(0.01)


@contextmanager
def run_server(port: int) -> Iterator[tuple[int, int]]:
    """Run a server process for the site at this port; yield its own port and its process id."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(sys.path),
            "KEYHOLE_CONFIG": "off",
            "KEYHOLE_HOME": home,
            "KEYHOLE_ALLOW_PRIVATE": f"{POLITE_HOST}:{port},{GREEDY_HOST}:{port}",
            "KEYHOLE_PORTS": str(port),
            "KEYHOLE_ROBOTS": "off",
        }
        with subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, env=environment) as process:
            assert process.stdout
            try:
                yield int(process.stdout.readline()), process.pid
            finally:
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=15)
                process.kill()  # if SIGTERM did not end it


@dataclass(slots=True)
class Outcomes:
    """The outcomes of one tenant's calls, with their milliseconds."""

    answered: list[float] = field(default_factory=list)
    refused: dict[str, list[float]] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)

    def record(self, began: float, status: int, body: bytes) -> None:
        """Record one call."""
        took = 1_000 * (time.perf_counter() - began)
        if status == 200 and b'"isError":false' in body:
            self.answered.append(took)
        elif status in (429, 503):
            self.refused.setdefault(json.loads(body)["error"]["data"]["error"], []).append(took)
        else:
            self.failed[f"{status} {body[-200:]!r}"] += 1


async def ask(server: int, tenant: str, host: str, port: int, outcomes: Outcomes) -> None:
    """Call web_fetch for a new page and record the outcome."""
    arguments = {"url": f"http://{host}:{port}/{next(PAGE_NUMBERS)}"}
    params = {"name": "web_fetch", "arguments": arguments, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server}\r\nAccept: application/json, text/event-stream\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: web_fetch\r\n"
        f"Authorization: Bearer {tenant}\r\n\r\n"
    )
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", server)
    try:
        writer.write(head.encode() + body)
        answer = await reader.read()
    finally:
        writer.close()
    top, _, rest = answer.partition(b"\r\n\r\n")
    outcomes.record(began, int(top.split()[1]) if top else 0, rest)


async def make_calls(server: int, tenant: str, host: str, port: int, outcomes: Outcomes, pause: float) -> None:
    """Make calls until cancelled."""
    while True:
        await ask(server, tenant, host, port, outcomes)
        await asyncio.sleep(pause)


async def run_for(seconds: float, *work: asyncio.Task[None]) -> None:
    """Run tasks for this number of seconds, then cancel them."""
    await asyncio.wait(work, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    for task in work:
        task.cancel()
    for found in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(found, Exception):
            raise found


async def flood(seconds: float, connections: int, pause: float) -> tuple[Outcomes, Outcomes, int]:
    """Measure and print the calls of four polite tenants before, during and after those of a greedy tenant.

    Returns the calls of both during the flood, and the most connections to a host at once.
    """
    async with site() as web:
        with run_server(web.port) as (server, pid):
            await ask(server, "warm", POLITE_HOST, web.port, Outcomes())  # loads the server's modules
            rows, memory = [], [resident(pid)]
            for name, greedy in (("before the flood", 0), ("during the flood", connections), ("after the flood", 0)):
                polite, rude = Outcomes(), Outcomes()
                await run_for(
                    seconds if greedy else seconds / 2,
                    *(start(make_calls(server, f"polite{n}", POLITE_HOST, web.port, polite, 1.0)) for n in range(4)),
                    *(start(make_calls(server, "greedy", GREEDY_HOST, web.port, rude, pause)) for _ in range(greedy)),
                )
                memory.append(resident(pid))
                rows.append((name, polite, rude))
    print(f"\nOne server, four polite tenants (a call a second each), a greedy one with {connections} connections.\n")
    print(
        "| polite tenants | calls | refused or failed | p50, ms | p95, ms | max, ms |\n|---|---:|---:|---:|---:|---:|"
    )
    for name, polite, _ in rows:
        bad = sum(map(len, polite.refused.values())) + polite.failed.total()
        print(f"| {name} | {len(polite.answered)} | {bad} | {cells(polite.answered)} |")
    _, polite, rude = rows[1]
    most = max(web.most.values())
    print("\n| greedy tenant | calls | p50, ms | p95, ms | max, ms |\n|---|---:|---:|---:|---:|")
    for name, times in [("answered", rude.answered), *sorted(rude.refused.items())]:
        print(f"| {name} | {len(times)} | {cells(times)} |")
    for name, count in rude.failed.items():
        print(f"| failed: {name} | {count} | | | |")
    print(f"\nMost connections to a host at once: {most} (allowed: {MAX_PER_HOST}).")
    print(
        f"\nMemory of the server, MB: {' → '.join(f'{each:.0f}' for each in memory)} "
        "(at the start, before the flood, during it, after it)."
    )
    return polite, rude, most


def start(work: object) -> asyncio.Task[None]:
    """Start work in a task."""
    return asyncio.ensure_future(work)  # type: ignore[call-overload, no-any-return]


def cells(times: list[float]) -> str:
    """Return median, 95th percentile and maximum as table cells."""
    if not times:
        return " | | "
    times = sorted(times)
    return f"{statistics.median(times):.1f} | {times[int(0.95 * len(times))]:.1f} | {times[-1]:.1f}"


def resident(pid: int) -> float:
    """Return the resident memory of a process, in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1_000


def main() -> int:
    """Run the flood that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0, help="duration of the flood; default 30")
    parser.add_argument(
        "--pause",
        type=float,
        default=0.05,
        help="seconds between the greedy tenant's calls on each connection; default 0.05",
    )
    parser.add_argument("--connections", type=int, default=8, help="connections of the greedy tenant; default 8")
    options = parser.parse_args()
    asyncio.run(flood(options.seconds, options.connections, options.pause))
    return 0


if __name__ == "__main__":
    sys.exit(main())
