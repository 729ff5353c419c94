"""Check that limits hold under a flood and across several servers.

    python -m benchmarks.server.limits [flood|shared|killed|cost]

flood   Four polite tenants call one server once a second, while a greedy tenant calls as fast as it can. Prints how
        many calls of each are answered and refused, in what time, and the server's memory.
shared  Three servers use one temporary PostgreSQL. Prints the maximum of concurrent connections to a site, and the
        number of calls that greedy tenants started.
killed  Prints how long the leases of a killed server stay in use.
cost    Prints the time that sharing adds to a call and to a fetch.

Without an argument, all four run. Everything is on loopback; takes about two minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from keyhole.fetch.host_limits import MAX_PER_HOST
from keyhole.serve.http.limits.shared.calls import SharedCalls
from keyhole.serve.http.limits.shared.hosts import SharedHosts
from keyhole.serve.http.limits.shared.leases import LEASE_SECONDS, RENEW_INTERVAL, Leases
from keyhole.serve.http.limits.shared.link import Link
from tests.support.postgresql import Database, find_binaries, run_cluster

SERVER = Path(__file__).with_name("limits_server.py")
POLITE_HOST, GREEDY_HOST = "127.0.0.1", "127.0.0.2"
ANSWER_AFTER = 0.05
"""Seconds after which the site answers a request for a page."""
NEVER = 60.0
"""Seconds that a slow page takes, unless its client disconnects."""
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
    pages: int = 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request after ANSWER_AFTER seconds, or a request for a slow page after NEVER."""
        host = writer.get_extra_info("sockname")[0]
        self.open[host] += 1
        self.most[host] = max(self.most[host], self.open[host])
        try:
            slow = b" /slow" in await reader.readuntil(b"\r\n\r\n")
            await asyncio.wait_for(reader.read(), NEVER) if slow else await asyncio.sleep(ANSWER_AFTER)
            self.pages += 1
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
def run_servers(port: int, count: int, **settings: object) -> Iterator[tuple[list[int], int]]:
    """Run server processes for the site at this port; yield their ports and the process id of the first."""
    allowed = f"{POLITE_HOST}:{port},{GREEDY_HOST}:{port}"
    named = {f"KEYHOLE_{name.upper()}": str(value) for name, value in settings.items()}
    with tempfile.TemporaryDirectory() as home, ExitStack() as stack:
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(sys.path),
            "KEYHOLE_CONFIG": "off",
            "KEYHOLE_HOME": home,
            "KEYHOLE_ALLOW_PRIVATE": allowed,
            "KEYHOLE_PORTS": str(port),
            "KEYHOLE_ROBOTS": "off",
            **named,
        }
        processes = []
        for _ in range(count):
            process = subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, env=environment)
            processes.append(stack.enter_context(process))
            stack.callback(process.kill)  # if SIGTERM below did not end it
        ports = [int(process.stdout.readline()) for process in processes if process.stdout]
        try:
            yield ports, processes[0].pid
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=15)


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


async def ask(server: int, tenant: str, host: str, port: int, outcomes: Outcomes, kind: str = "") -> None:
    """Call web_fetch for a new page and record the outcome."""
    arguments = {"url": f"http://{host}:{port}/{kind}{next(PAGE_NUMBERS)}"}
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


async def make_calls(servers: list[int], tenant: str, host: str, port: int, outcomes: Outcomes, pause: float) -> None:
    """Make calls to the servers in turn until cancelled; the tenant's name determines the first server."""
    for number in itertools.count(sum(tenant.encode())):
        await ask(servers[number % len(servers)], tenant, host, port, outcomes)
        await asyncio.sleep(pause)


async def warm_up(servers: list[int], port: int) -> None:
    """Make a first call to every server, so that it loads its modules."""
    await asyncio.gather(*(ask(server, "warm", POLITE_HOST, port, Outcomes()) for server in servers))


async def run_for(seconds: float, *work: asyncio.Task[None]) -> None:
    """Run tasks for this number of seconds, then cancel them."""
    await asyncio.wait(work, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    for task in work:
        task.cancel()
    for found in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(found, Exception):
            raise found


async def flood(seconds: float, connections: int, pause: float) -> None:
    """Measure and print the calls of four polite tenants before, during and after those of a greedy tenant."""
    async with site() as web:
        with run_servers(web.port, 1) as ((server,), pid):
            await warm_up([server], web.port)
            rows, memory = [], [resident(pid)]
            for name, greedy in (("before the flood", 0), ("during the flood", connections), ("after the flood", 0)):
                polite, rude = Outcomes(), Outcomes()
                await run_for(
                    seconds if greedy else seconds / 2,
                    *(start(make_calls([server], f"polite{n}", POLITE_HOST, web.port, polite, 1.0)) for n in range(4)),
                    *(start(make_calls([server], "greedy", GREEDY_HOST, web.port, rude, pause)) for _ in range(greedy)),
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
    rude = rows[1][2]
    print("\n| greedy tenant | calls | p50, ms | p95, ms | max, ms |\n|---|---:|---:|---:|---:|")
    for name, times in [("answered", rude.answered), *sorted(rude.refused.items())]:
        print(f"| {name} | {len(times)} | {cells(times)} |")
    for name, count in rude.failed.items():
        print(f"| failed: {name} | {count} | | | |")
    print(
        f"\nMemory of the server, MB: {' → '.join(f'{each:.0f}' for each in memory)} "
        "(at the start, before the flood, during it, after it)."
    )


async def shared(seconds: float, replicas: int) -> tuple[int, list[float]]:
    """Measure and print the calls of greedy tenants to several servers with one database, all for one host.

    Returns the maximum of concurrent connections to the host, and the share of the allowed calls that each tenant made.
    """
    per_minute = 60
    with temporary_database() as database:
        async with site() as web:
            settings = {"store": database.url, "calls_per_minute": per_minute, "calls_at_once": 8}
            with run_servers(web.port, replicas, **settings) as (servers, _):
                await warm_up(servers, web.port)
                tenants = [Outcomes() for _ in range(3)]
                began = time.monotonic()
                await run_for(
                    seconds,
                    *(
                        start(make_calls(servers, f"tenant{n}", POLITE_HOST, web.port, outcomes, 0.05))
                        for n, outcomes in enumerate(tenants)
                        for _ in range(10)
                    ),
                )
                took = time.monotonic() - began
    limit = per_minute * (1 + took / 60)
    print(f"\n{replicas} servers, one PostgreSQL, three tenants with ten connections each, {took:.0f} s, one host.\n")
    print(
        f"Maximum of concurrent connections to the host: {web.most[POLITE_HOST]} (allowed: {MAX_PER_HOST}); "
        f"{web.pages} pages.\n"
    )
    print(
        "| tenant | started | allowed | share | refused | refused after, ms, p95 | failed |\n"
        "|---|--:|--:|--:|--:|--:|--:|"
    )
    for n, outcomes in enumerate(tenants):
        times = sorted(itertools.chain(*outcomes.refused.values()))
        late = f"{times[int(0.95 * len(times))]:.1f}" if times else ""
        done = len(outcomes.answered)
        failed = outcomes.failed.total()
        print(f"| {n} | {done} | {limit:.0f} | {100 * done / limit:.0f} % | {len(times)} | {late} | {failed} |")
        for name in list(outcomes.failed)[:3]:
            print(f"  failed: {name}")
    return web.most[POLITE_HOST], [len(outcomes.answered) / limit for outcomes in tenants]


async def killed() -> None:
    """Measure and print how long another server waits for the leases of a killed server."""
    with temporary_database() as database:
        async with site() as web:
            settings = {"store": database.url, "calls_at_once": MAX_PER_HOST, "timeout": 55}
            with run_servers(web.port, 2, **settings) as (servers, pid):
                await warm_up(servers, web.port)
                lost, found = Outcomes(), Outcomes()
                slow = [start(ask(servers[0], "a", POLITE_HOST, web.port, lost, "slow")) for _ in range(MAX_PER_HOST)]
                while web.open[POLITE_HOST] < MAX_PER_HOST:  # noqa: ASYNC110 - the servers report no event
                    await asyncio.sleep(0.01)
                await asyncio.sleep(2 * RENEW_INTERVAL)
                os.kill(pid, signal.SIGKILL)
                began = time.monotonic()
                await asyncio.gather(*slow, return_exceptions=True)
                await ask(servers[1], "b", POLITE_HOST, web.port, found)
                host_after = time.monotonic() - began
                while len(found.answered) < 2 and time.monotonic() < began + 60:
                    await ask(servers[1], "a", POLITE_HOST, web.port, found)
                    await asyncio.sleep(0.1)
                tenant_after = time.monotonic() - began
    print(
        f"\nThe killed server held all {MAX_PER_HOST} leases of a host and of a tenant; "
        f"a lease expires after {LEASE_SECONDS:g} s.\n"
    )
    print(f"Another server reached the host after {host_after:.1f} s and served the tenant after {tenant_after:.1f} s.")


async def cost(count: int) -> None:
    """Measure and print the time that the shared limits add to a call and to a fetch."""
    with temporary_database() as database:
        shared_calls = SharedCalls(Leases(Link(database.url)), 1_000_000, 64)
        hosts = SharedHosts(Leases(Link(database.url)))
        times: dict[str, list[float]] = {"a call": [], "a fetch": []}
        for number in range(count):
            began = time.perf_counter()
            verdict = await shared_calls.begin(f"tenant{number % 10}")
            times["a call"].append(1_000 * (time.perf_counter() - began))
            shared_calls.end(f"tenant{number % 10}", verdict.lease)
            began = time.perf_counter()
            await hosts.wait_left(f"host{number % 10}.example")
            lease = await hosts.acquire(f"host{number % 10}.example", MAX_PER_HOST)
            times["a fetch"].append(1_000 * (time.perf_counter() - began))
            assert verdict.lease
            assert lease
            hosts.release(f"host{number % 10}.example", lease)
        await shared_calls.aclose()
        await hosts.aclose()
    print(
        f"\nTime that sharing adds, {count} times each.\n\n"
        "| added to | p50, ms | p95, ms | max, ms |\n|---|---:|---:|---:|"
    )
    for name, took in times.items():
        print(f"| {name} | {cells(took[10:])} |")


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
    """Run the part that the command line names, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=("flood", "shared", "killed", "cost"), help="default: all")
    parser.add_argument("--seconds", type=float, default=30.0, help="duration of a flood; default 30")
    parser.add_argument(
        "--pause",
        type=float,
        default=0.05,
        help="seconds between the greedy tenant's calls on each connection; default 0.05",
    )
    parser.add_argument("--connections", type=int, default=8, help="connections of the greedy tenant; default 8")
    options = parser.parse_args()
    if options.part in (None, "flood"):
        asyncio.run(flood(options.seconds, options.connections, options.pause))
    if options.part in (None, "shared"):
        asyncio.run(shared(options.seconds, 3))
    if options.part in (None, "killed"):
        asyncio.run(killed())
    if options.part in (None, "cost"):
        asyncio.run(cost(2_000))
    return 0


@contextmanager
def temporary_database() -> Iterator[Database]:
    """Run a PostgreSQL server until the block ends; yield an empty database."""
    programs = find_binaries()
    if programs is None:
        sys.exit("PostgreSQL's programs are not installed")
    with run_cluster(programs) as server:
        yield Database(server, server.database())


if __name__ == "__main__":
    sys.exit(main())
