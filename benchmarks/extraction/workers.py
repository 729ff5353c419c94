"""What reading pages in worker processes costs, and what it saves: `python -m benchmarks.extraction.workers`.

Printed: the start of a worker; a warm round trip for pages of three sizes beside the same reading in this process;
the first fetch, whose worker starts while the network answers; how soon a page that never ends is answered; the
memory of this process before and after a body of 20 MB. First and second fetch of a whole server: startup.py.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from pathlib import Path

from keyhole.config.config import Config
from keyhole.extract.workers.digest import digest
from keyhole.extract.workers.pool import WorkerPool
from keyhole.records import Page

URL = "https://pages.example/page"
NETWORK = 0.1
"""Seconds of a network request that is pretended: a quick site."""
SLOW = 1.0
"""Seconds allowed to the page that never ends."""
PARAGRAPH = (
    "<h2>Station {0}</h2><p>At station {0} the road follows the river, and <a href='/s/{0}'>the keeper</a> waits.\n"
)


def endless(*_page: object) -> None:
    """A reader that never ends and never gives the interpreter back."""
    import re

    re.match(r"(a+)+$", "a" * 64 + "!")


def main() -> int:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9, help="measured runs of each figure; default 9")
    runs = parser.parse_args().runs
    print(f"Milliseconds, min / median / max of {runs} runs; Python {sys.version.split()[0]}.\n")
    print("| | in a worker | in this process |\n|---|---:|---:|")
    for name, size in (("small page (1 KB)", 1_000), ("100 KB", 100_000), ("1 MB", 1_000_000)):
        page, count = html(size), runs if size < 1_000_000 else min(runs, 3)
        ours = asyncio.run(round_trips(page, count))
        alone = [in_process(page) for _ in range(count)]
        print(f"| {name} | {cell(ours)} | {cell(alone)} |")
    print(f"| start of a worker | {cell(asyncio.run(starts(runs)))} | |")
    print(f"| first page, {1_000 * NETWORK:.0f} ms of network before it | {cell(asyncio.run(firsts(runs)))} | |")
    print(f"| a page that never ends, beyond its {SLOW:g} s | {cell(asyncio.run(kills(runs)))} | |")
    before = resident()
    asyncio.run(large())
    print(
        f"\nMemory of the parent: {before:,.0f} MB, after a text of 20 MB {resident():,.0f} MB, peak {peak():,.0f} MB."
    )
    return 0


def html(size: int) -> Page:
    """A page of about `size` bytes."""
    count = max(1, size // len(PARAGRAPH))
    body = "<!doctype html><title>Road</title><main>" + "".join(PARAGRAPH.format(number) for number in range(count))
    return Page(URL, URL, 200, "text/html; charset=utf-8", body.encode(), 0.0)


async def round_trips(page: Page, runs: int) -> list[float]:
    """A warm worker's answers to the same page."""
    pool = WorkerPool(Config())
    try:
        await pool.extract(page)
        return [await awaited(pool, page) for _ in range(runs)]
    finally:
        await pool.aclose()


async def starts(runs: int) -> list[float]:
    """From nothing to the answer for a small page."""
    return [await _first(0.0) for _ in range(runs)]


async def firsts(runs: int) -> list[float]:
    """What a first page waits for when its worker started with the network request."""
    return [await _first(NETWORK) for _ in range(runs)]


async def _first(network: float) -> float:
    pool = WorkerPool(Config())
    pool.warm()
    await asyncio.sleep(network)
    try:
        return await awaited(pool, html(1_000))
    finally:
        await pool.aclose()


async def kills(runs: int) -> list[float]:
    """From the end of the time allowed to the answer with what was saved."""
    pool = WorkerPool(Config(extract_timeout=SLOW), reader="workers:endless")
    try:
        await awaited(pool, html(100_000))
        return [await awaited(pool, html(100_000)) - 1_000 * SLOW for _ in range(min(runs, 5))]
    finally:
        await pool.aclose()


async def large() -> None:
    """A text of 20 MB, there and back."""
    pool = WorkerPool(Config(extract_timeout=60))
    try:
        body = b"The road follows the river for many miles.\n" * 465_000
        await pool.extract(Page(URL, URL, 200, "text/plain", body, 0.0))
    finally:
        await pool.aclose()


async def awaited(pool: WorkerPool, page: Page) -> float:
    """Milliseconds of one page."""
    start = time.perf_counter()
    await pool.extract(page)
    return 1_000 * (time.perf_counter() - start)


def in_process(page: Page) -> float:
    """Milliseconds of one page without a worker."""
    start = time.perf_counter()
    digest(page.body, page.url, page.content_type)
    return 1_000 * (time.perf_counter() - start)


def cell(times: list[float]) -> str:
    """Minimum, median and maximum."""
    return f"{min(times):.1f} / {statistics.median(times):.1f} / {max(times):.1f}"


def resident() -> float:
    """Megabytes of memory in use (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1_000


def peak() -> float:
    """The most megabytes that were ever in use (Linux)."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1_000


if __name__ == "__main__":
    sys.exit(main())
