"""Check that a replica's memory does not grow.

    python -m benchmarks.server.memory_slope [--calls 50000] [--json FILE]

Runs one `keyhole serve --http` and a site on loopback. Clients make a warm mix of calls: repeated fetches of stored
pages, ranges and passages of stored texts, searches of the store; every twentieth call fetches a new page, which a
worker extracts. The memory of the server and of its workers is sampled. The least-squares slope over the second half
of the samples must be less than 1 MB per 10,000 calls. Exits with 1 otherwise, or if a call fails. Linux only; takes
about four minutes for 10,000 calls.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.search.web.server import Web
from benchmarks.server.load_test.client import Caller, Reply
from benchmarks.server.load_test.servers import Replica, Sites, end_on_sigterm, postgresql, replicas, sites
from benchmarks.server.load_test.usage import process_tree, resident_megabytes
from benchmarks.server.load_test.workload import QUERIES

MAX_SLOPE: Final = 1.0
"""Maximum slope, in MB per 10,000 calls."""
CLIENTS: Final = 8
SAMPLES: Final = 200
"""Number of memory samples in a run."""
PAGES: Final = 100
"""Different pages that are fetched repeatedly."""
NEW: Final = 1 / 20
"""Share of calls that fetch a new page."""


@dataclass(slots=True)
class Progress:
    """The clients' progress and results."""

    left: int
    done: int = 0
    ids: list[str] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    samples: list[tuple[int, float, float]] = field(default_factory=list)
    """Each sample: number of calls, megabytes of the server, megabytes of its workers."""


def main() -> int:
    """Run and print the slopes; return 1 if one is too steep or a call failed."""
    end_on_sigterm()
    arguments = _arguments()
    with ExitStack() as stack:
        served = stack.enter_context(sites(None))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="keyhole-memory-")))
        settings = {
            "KEYHOLE_CONFIG": "off",
            "KEYHOLE_HOME": str(folder / "home"),
            "KEYHOLE_ALLOW_PRIVATE": served.endpoints,
            "KEYHOLE_STATELESS": "on",
            "KEYHOLE_CALLS_PER_MINUTE": "1000000",
            "KEYHOLE_CALLS_AT_ONCE": "64",  # high, since leases are released shortly after the answer
            "KEYHOLE_FRESHNESS": "86400",
        }
        if arguments.store == "postgresql":
            settings["KEYHOLE_STORE"], _ = stack.enter_context(postgresql())
        settings |= dict(pair.split("=", 1) for pair in arguments.set)
        (replica,) = stack.enter_context(replicas(1, settings, folder))
        started = time.monotonic()
        progress = asyncio.run(make_calls(replica, served, arguments.calls))
        seconds = time.monotonic() - started
    return report(progress, seconds, arguments.json)


async def make_calls(replica: Replica, served: Sites, calls: int) -> Progress:
    """Make all calls and sample the memory."""
    web = Web(served.web.port)
    every = [f"http://{place.host}:{served.web.port}{place.path}" for place in web.table.values()]
    urls = [url for url, place in zip(every, web.table.values(), strict=True) if len(web.body(place)) < 40_000][:PAGES]
    progress = Progress(calls)
    await asyncio.gather(*(_client(number, replica, urls, progress, calls) for number in range(CLIENTS)))
    return progress


async def _client(number: int, replica: Replica, urls: Sequence[str], progress: Progress, calls: int) -> None:
    random = Random(number)
    caller = Caller(f"http://127.0.0.1:{replica.port}/mcp")
    every = max(1, calls // SAMPLES)
    try:
        while progress.left > 0:
            progress.left -= 1
            reply = await caller.call(*_call(random, urls, progress.ids))
            _record(progress, reply)
            if progress.done % every == 0:
                others = process_tree(replica.pid)[1:]
                progress.samples.append(
                    (progress.done, resident_megabytes(replica.pid), sum(map(resident_megabytes, others)))
                )
    finally:
        await caller.aclose()


def _call(random: Random, urls: Sequence[str], ids: Sequence[str]) -> tuple[str, dict[str, Any]]:
    chance = random.random()
    if chance < NEW or not ids:
        return "web_fetch", {"url": f"{random.choice(urls)}?v={random.getrandbits(48):x}"}
    if chance < 0.35:
        return "web_fetch", {"url": random.choice(urls), "query": random.choice(QUERIES)}
    if chance < 0.9:
        return "read_artifact", {"id": random.choice(ids), "offset": random.randrange(2_000), "limit": 4_000}
    if chance < 0.97:
        return "read_artifact", {"id": random.choice(ids), "query": random.choice(QUERIES)}
    return "search", {"query": random.choice(QUERIES), "scope": "stored", "max_results": 3}


def _record(progress: Progress, reply: Reply) -> None:
    progress.done += 1
    progress.outcomes[reply.outcome] += 1
    if (id := reply.facts.get("artifact_id")) and len(progress.ids) < PAGES:
        progress.ids.append(id)


def slope(samples: Sequence[tuple[float, float]]) -> float:
    """Return the least-squares slope of (x, y) samples: the change of y per 10,000 of x."""
    size = len(samples)
    mean_x, mean_y = (sum(sample[axis] for sample in samples) / size for axis in (0, 1))
    spread = sum((x - mean_x) ** 2 for x, _ in samples)
    return 10_000 * sum((x - mean_x) * (y - mean_y) for x, y in samples) / spread if spread else 0.0


def report(progress: Progress, seconds: float, file: Path | None) -> int:
    """Print the results; return the exit code."""
    half = [sample for sample in progress.samples if sample[0] > progress.done / 2]
    server, workers = (slope([(sample[0], sample[part]) for sample in half]) for part in (1, 2))
    quarters = [progress.samples[len(progress.samples) * part // 4] for part in (1, 2, 3)] + progress.samples[-1:]
    print(f"{progress.done:,} calls in {seconds:,.0f} s: {dict(progress.outcomes)}\n")
    print("| calls | server MB | workers MB |\n|---:|---:|---:|")
    print("\n".join(f"| {done:,} | {own:.1f} | {others:.1f} |" for done, own, others in quarters))
    print(f"\nSlope over the second half, MB per 10,000 calls: server {server:.2f}, workers {workers:.2f}.")
    if file:
        file.write_text(json.dumps({"server": server, "workers": workers, "samples": progress.samples}))
    failed = progress.done - progress.outcomes["ok"] - progress.outcomes["no_results"]
    if failed:
        print(f"MISS {failed} calls failed")
    if max(server, workers) >= MAX_SLOPE:
        print(f"MISS memory grows by {MAX_SLOPE:g} MB or more in 10,000 calls")
    return 1 if failed or max(server, workers) >= MAX_SLOPE else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=50_000, help="number of calls; default 50,000")
    parser.add_argument("--store", choices=("postgresql", "sqlite"), default="sqlite")
    parser.add_argument("--set", action="append", default=[], metavar="KEYHOLE_X=Y", help="a setting of the server")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the slopes and all samples to FILE")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
