"""Check a hosted Keyhole under load: several replicas, one database, many clients of several tenants.

    python -m benchmarks.server.load [--replicas 1 3] [--rates 20 0] [--seconds 120] [--kill | --rolling] [--busy]
        [--evil DIR] [--json FILE]

All parts are real and on loopback: PostgreSQL, replicas of `keyhole serve --http`, nginx with deploy/nginx.conf, and
web sites with small, large, slow and hostile pages. The clients speak raw MCP of both eras, make a mix of calls and
check every answer against the pages. Afterwards, every acknowledged artifact is read back and compared, and other
tenants request some of them. `--kill` kills a replica every ten seconds and restarts it. `--rolling` stops one with
SIGTERM, as an orchestrator does, waits for its end and starts it anew, one after the other: no client repeats a call,
so each lost one is a miss. `--busy` runs a program beside them on every processor that never pauses. A client repeats a
call whose page was fetched but not read in time.

With a rate of 0, each client calls again as soon as it is answered. Exits with 1 on a miss: an artifact is lost or
changed, a tenant reads another's artifact, an answer is wrong or shows the undigested text of a page, an error has no
name, a call times out or small fetches take longer than a second at an offered rate without `--busy`, or more replicas
gain too little while processors are idle. Linux only. Each pair of replicas and rate takes `--seconds`, and about a
quarter more.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from benchmarks.search.web.corpus import load_questions
from benchmarks.search.web.server import Web
from benchmarks.search.web.sites import TROUBLE
from benchmarks.server.load_test.results import (
    Run,
    Tally,
    comparison_lines,
    find_misses,
    format_run,
    is_gain_too_small,
    to_json,
)
from benchmarks.server.load_test.servers import (
    Replica,
    Sites,
    busy_programs,
    end_on_sigterm,
    new_token,
    postgresql,
    proxy,
    replicas,
    sites,
)
from benchmarks.server.load_test.site import LARGE_HOSTS, SLOW_HOSTS, large_pages, slow_pages
from benchmarks.server.load_test.traffic import Plan, Tenant, read_back, run_clients
from benchmarks.server.load_test.usage import cpu_seconds, machine_seconds
from benchmarks.server.load_test.workload import SMALL, World, extract_texts

KILL_EVERY: Final = 10.0
"""Seconds between two kills."""
DOWN: Final = 1.0
"""Seconds until a killed replica is restarted."""
TROUBLES: Final = ("missing", "broken", "forbidden", "loop", "bomb", "endless", "hidden?about=pumps", "x?about=pumps")
MAX_OVERTIME: Final = 120.0
"""Seconds for which the last calls can go on after a run's time: more than any call takes."""
SEED: Final = 7
MACHINE: Final = "machine"
"""Role of everything on the machine, in processor times."""


@dataclass(frozen=True, slots=True)
class RunningServers:
    """The running servers of a load test."""

    url: str
    replicas: list[Replica]
    used: Mapping[str, Callable[[], float]]
    """Functions that return the processor seconds used until now, by role."""


def main() -> int:
    """Run every pair of replicas and rate; return 1 on a miss."""
    end_on_sigterm()
    arguments = _arguments()
    evil = arguments.evil and arguments.evil / "evil_server.py"
    runs: list[Run] = []
    with sites(evil) as served:
        world = build_world(served, evil, arguments.pages)
        print(f"{len(world.texts)} pages, {len(world.small)} of them small, {len(world.hostile)} hostile", flush=True)
        for rate in arguments.rates:
            for number in arguments.replicas:
                runs.append(measure(arguments, served, world, number, rate))
                print("", format_run(runs[-1]), sep="\n", flush=True)
    found = [f"{run.replicas} at {run.offered:g}/s: {miss}" for run in runs for miss in find_misses(run)]
    found += print_scaling(runs)
    if arguments.json:
        arguments.json.write_text(json.dumps([to_json(run) for run in runs], indent=1))
    print("", *([f"MISS {miss}" for miss in found] or ["No misses."]), sep="\n")
    return 1 if found else 0


def print_scaling(runs: list[Run]) -> list[str]:
    """Print the gain of more replicas at unlimited rate; return a miss for each gain that is too small."""
    found = []
    for many in runs:
        one = next((run for run in runs if run.replicas == 1 and run.offered == many.offered == 0), None)
        if one and many.replicas > 1:
            print("", *comparison_lines(one, many), sep="\n")
            found += (
                ["more replicas gained too little although processors were idle"]
                if is_gain_too_small(one, many)
                else []
            )
    return found


def build_world(served: Sites, evil: Path | None, pages: int | None) -> World:
    """Return all pages, or `pages` of each kind, with their expected texts."""
    web = Web(served.web.port)
    places = [*web.table.values()][:pages]
    bodies = {f"http://{place.host}:{served.web.port}{place.path}": web.body(place) for place in places}
    small = tuple(url for url, body in bodies.items() if len(body) < SMALL)
    own = {
        f"http://{host}:{served.port}/{kind}/{number}": body
        for kind, hosts, found in (("slow", SLOW_HOSTS, slow_pages()), ("large", LARGE_HOSTS, large_pages()))
        for host in hosts[:pages]
        for number, body in enumerate(found[:pages])
    }
    hostile = [f"http://{TROUBLE}:{served.web.port}/{path}" for path in TROUBLES]
    if evil is not None:
        from benchmarks.fetch.hostile import load_cases

        hostile += [
            f"http://{served.hostile}{case['path']}" for case in load_cases(evil)[0] if "count" not in case["path"]
        ]
    return World(
        small=small,
        large=tuple(url for url in own if "/large/" in url),
        slow=tuple(url for url in own if "/slow/" in url),
        hostile=tuple(hostile),
        questions=tuple(question.text for question in load_questions()),
        texts=extract_texts([*bodies.items(), *own.items()]),
    )


def measure(arguments: argparse.Namespace, served: Sites, world: World, number: int, rate: float) -> Run:
    """Make one run on new servers and return its results."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="keyhole-load-")))
        tenants = create_tenants(arguments.tenants, folder / "tokens")
        running = start_servers(stack, arguments, served, number, folder)
        plan = Plan(arguments.clients, arguments.seconds, rate, arguments.kill, SEED)
        with busy_programs(busy := (os.cpu_count() or 1) * arguments.busy, arguments.seconds + MAX_OVERTIME):
            traffic = run_traffic(running, world, tenants, plan, is_rolling=arguments.rolling)
            tally, kills, cpu = asyncio.run(traffic)
        machine = cpu.pop(MACHINE)
        found = asyncio.run(read_back(running.url, world, tenants))
    acknowledged = sum(len(tenant.artifacts) for tenant in tenants)
    return Run(
        number, arguments.clients, arguments.seconds, rate, tally, acknowledged, found.whole, tuple(found.lost),
        tuple(found.wrong), tuple(found.foreign), kills, cpu, machine, os.cpu_count() or 1, busy,
    )  # fmt: skip


def create_tenants(number: int, file: Path) -> list[Tenant]:
    """Return `number` tenants with tokens, or one without a token if `number` is 0."""
    names = [f"tenant-{one}" for one in range(number)]
    return [Tenant(name, new_token(name, file)) for name in names] or [Tenant("", "")]


def start_servers(
    stack: ExitStack, arguments: argparse.Namespace, served: Sites, number: int, folder: Path
) -> RunningServers:
    """Start the database, the replicas and the proxy."""
    settings = {
        "KEYHOLE_CONFIG": "off",
        "KEYHOLE_HOME": str(folder / "home"),
        "KEYHOLE_ALLOW_PRIVATE": served.endpoints,
        "KEYHOLE_ALLOWED_HOSTS": "127.0.0.1:*",
        "KEYHOLE_STATELESS": "on",
        "KEYHOLE_ENGINES": "searxng",
        "KEYHOLE_SEARXNG_URL": served.web.api,
        # The server's capacity is measured, not the limits per tenant.
        "KEYHOLE_CALLS_PER_MINUTE": "1000000",
        "KEYHOLE_CALLS_AT_ONCE": str(max(64, arguments.clients)),
    }
    database = 0
    if arguments.tenants:
        settings["KEYHOLE_TOKENS_FILE"] = str(folder / "tokens")
    if arguments.store == "postgresql":
        settings["KEYHOLE_STORE"], database = stack.enter_context(postgresql())
    settings |= dict(pair.split("=", 1) for pair in arguments.set)
    found = stack.enter_context(replicas(number, settings, folder))
    port, nginx = stack.enter_context(proxy([replica.port for replica in found], folder))
    used: dict[str, Callable[[], float]] = {
        "replicas with workers": lambda: sum(replica.cpu_seconds() for replica in found),
        "PostgreSQL": lambda: cpu_seconds(database) if database else 0.0,
        "nginx": lambda: cpu_seconds(nginx),
        "sites": lambda: sum(map(cpu_seconds, served.pids)),
        "clients": lambda: sum(os.times()[:2]),
        MACHINE: machine_seconds,
    }
    return RunningServers(f"http://127.0.0.1:{port}/mcp", found, used)


def read_usage(running: RunningServers) -> dict[str, float]:
    """Return the processor seconds used until now, by role."""
    return {what: seconds() for what, seconds in running.used.items()}


async def run_traffic(
    running: RunningServers, world: World, tenants: list[Tenant], plan: Plan, *, is_rolling: bool = False
) -> tuple[Tally, int, dict[str, float]]:
    """Run the clients; return their counts, the number of kills and the processor seconds."""
    kills = count()
    before = read_usage(running)
    how = signal.SIGTERM if is_rolling else signal.SIGKILL if plan.patient else None
    killing = asyncio.create_task(end_replicas(running.replicas, kills, how)) if how else None
    watching = asyncio.create_task(asyncio.sleep(plan.seconds, None))
    after: dict[str, float] = {}
    watching.add_done_callback(lambda _: after.update(read_usage(running)))
    tally = await run_clients(running.url, world, tenants, plan)
    await watching
    if killing:
        killing.cancel()
        await asyncio.gather(killing, return_exceptions=True)
    return tally, next(kills), {role: after[role] - before[role] for role in after}


async def end_replicas(replicas: list[Replica], kills: Iterator[int], how: signal.Signals) -> None:
    """End and restart one replica after another until cancelled; all replicas are up afterwards."""
    while True:
        await asyncio.sleep(KILL_EVERY)
        replica = replicas[next(kills) % len(replicas)]
        await asyncio.shield(asyncio.to_thread(_replace, replica, how))


def _replace(replica: Replica, how: signal.Signals) -> None:
    replica.end(how)
    time.sleep(DOWN)
    replica.start()
    replica.ready()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--replicas", type=int, nargs="+", default=[1, 3], help="number of replicas in each run; default 1 3"
    )
    parser.add_argument(
        "--rates", type=float, nargs="+", default=[20, 0], help="offered calls/s in each run; default 20 0"
    )
    parser.add_argument("--clients", type=int, default=200, help="concurrent clients; default 200")
    parser.add_argument("--seconds", type=float, default=120, help="duration of each run; default 120")
    parser.add_argument(
        "--tenants", type=int, default=8, help="number of tenants; 0 runs without authentication; default 8"
    )
    parser.add_argument("--store", choices=("postgresql", "sqlite"), default="postgresql")
    parser.add_argument("--pages", type=int, help="maximum pages of each kind; default all")
    ending = parser.add_mutually_exclusive_group()
    ending.add_argument("--kill", action="store_true", help="kill a replica every 10 s and restart it")
    ending.add_argument("--rolling", action="store_true", help="restart one replica after the other with SIGTERM")
    parser.add_argument("--busy", action="store_true", help="keep every processor busy with another program")
    parser.add_argument(
        "--evil", type=Path, metavar="DIR", help="folder of hostile pages, as for benchmarks/fetch/hostile.py"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEYHOLE_X=Y", help="a setting of the replicas")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
