"""Does a replica's memory stay flat: `python -m benchmarks.server.memory_slope [--calls 50000] [--json FILE]`.

One `keyhole serve --http` on loopback, a site, and clients that make a warm mix of calls: pages fetched again from the
store, ranges and passages of stored texts, searches of the store, and every twentieth call a page that is new, which a
worker reads. The memory of the server and of all that it started is sampled; the slope is that of least squares over
the second half, in MB per 10,000 calls. Wanted: under 1. Ends with 1 otherwise, or when a call fails. Linux only.
About four minutes for 10,000 calls.
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
from benchmarks.server.load_test.usage import family, resident
from benchmarks.server.load_test.workload import QUERIES

MAX_SLOPE: Final = 1.0
"""MB per 10,000 calls."""
CLIENTS: Final = 8
SAMPLES: Final = 200
"""Of the memory, over the whole run."""
PAGES: Final = 100
"""Different pages that are asked for again and again."""
NEW: Final = 1 / 20
"""Share of calls for a page that was never asked for."""


@dataclass(slots=True)
class Progress:
    """How far the clients are, and what was seen on the way."""

    left: int
    done: int = 0
    ids: list[str] = field(default_factory=list)
    said: Counter[str] = field(default_factory=Counter)
    samples: list[tuple[int, float, float]] = field(default_factory=list)
    """Calls done, and megabytes of the server and of its workers then."""


def main() -> int:
    """Run, print the slopes; 1 when one is too steep."""
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
            "KEYHOLE_CALLS_AT_ONCE": "64",  # not what is measured: a lease is given back a moment after its answer
            "KEYHOLE_FRESHNESS": "86400",
        }
        if arguments.store == "postgresql":
            settings["KEYHOLE_STORE"], _ = stack.enter_context(postgresql())
        settings |= dict(pair.split("=", 1) for pair in arguments.set)
        (replica,) = stack.enter_context(replicas(1, settings, folder))
        started = time.monotonic()
        progress = asyncio.run(called(replica, served, arguments.calls))
        seconds = time.monotonic() - started
    return told(progress, seconds, arguments.json)


async def called(replica: Replica, served: Sites, calls: int) -> Progress:
    """All calls, and the samples beside them."""
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
            _note(progress, reply)
            if progress.done % every == 0:
                others = family(replica.pid)[1:]
                progress.samples.append((progress.done, resident(replica.pid), sum(map(resident, others))))
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


def _note(progress: Progress, reply: Reply) -> None:
    progress.done += 1
    progress.said[reply.said] += 1
    if (id := reply.facts.get("artifact_id")) and len(progress.ids) < PAGES:
        progress.ids.append(id)


def slope(samples: Sequence[tuple[float, float]]) -> float:
    """The y that least squares give for each 10,000 of x."""
    size = len(samples)
    mean_x, mean_y = (sum(sample[axis] for sample in samples) / size for axis in (0, 1))
    spread = sum((x - mean_x) ** 2 for x, _ in samples)
    return 10_000 * sum((x - mean_x) * (y - mean_y) for x, y in samples) / spread if spread else 0.0


def told(progress: Progress, seconds: float, file: Path | None) -> int:
    """Print what was found; the exit code."""
    half = [sample for sample in progress.samples if sample[0] > progress.done / 2]
    server, workers = (slope([(sample[0], sample[part]) for sample in half]) for part in (1, 2))
    quarters = [progress.samples[len(progress.samples) * part // 4] for part in (1, 2, 3)] + progress.samples[-1:]
    print(f"{progress.done:,} calls in {seconds:,.0f} s: {dict(progress.said)}\n")
    print("| calls | server MB | workers MB |\n|---:|---:|---:|")
    print("\n".join(f"| {done:,} | {own:.1f} | {others:.1f} |" for done, own, others in quarters))
    print(f"\nSlope over the second half, MB per 10,000 calls: server {server:.2f}, workers {workers:.2f}.")
    if file:
        file.write_text(json.dumps({"server": server, "workers": workers, "samples": progress.samples}))
    failed = progress.done - progress.said["ok"] - progress.said["no_results"]
    if failed:
        print(f"MISS {failed} calls failed")
    if max(server, workers) >= MAX_SLOPE:
        print(f"MISS memory grows by {MAX_SLOPE:g} MB or more in 10,000 calls")
    return 1 if failed or max(server, workers) >= MAX_SLOPE else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=50_000, help="default 50,000")
    parser.add_argument("--store", choices=("postgresql", "sqlite"), default="sqlite")
    parser.add_argument("--set", action="append", default=[], metavar="KEYHOLE_X=Y", help="a setting of the server")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every sample, for programs")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
