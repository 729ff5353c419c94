"""Measure the cost of reading pages in worker processes: `python -m benchmarks.extraction.workers`.

Prints the time to start a worker; the time per page in a warm worker and in this process, for three sizes; the time of
the first page, whose worker starts during the network request; the time from the timeout of an endless page to its
answer; and the memory of this process before and after a text of 20 MB. The first and second fetch of a server
are measured by benchmarks/server/startup.py.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from pathlib import Path

from keyhole.config.config import Config
from keyhole.extract.workers.child import extract_with_words
from keyhole.extract.workers.worker_pool import WorkerPool
from keyhole.records import Page

URL = "https://pages.example/page"
NETWORK = 0.1
"""Seconds of a simulated network request to a fast site."""
SLOW = 1.0
"""Timeout in seconds for the endless page."""
PARAGRAPH = (
    "<h2>Station {0}</h2><p>At station {0} the road follows the river, and <a href='/s/{0}'>the keeper</a> waits.\n"
)


def endless(*_page: object) -> None:
    """Never return and never release the interpreter."""
    import re

    re.match(r"(a+)+$", "a" * 64 + "!")


def main() -> int:
    """Run the measurements and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9, help="measured runs per figure; default 9")
    runs = parser.parse_args().runs
    print(f"Milliseconds, min / median / max of {runs} runs; Python {sys.version.split()[0]}.\n")
    print("| | in a worker | in this process |\n|---|---:|---:|")
    for name, size in (("small page (1 KB)", 1_000), ("100 KB", 100_000), ("1 MB", 1_000_000)):
        page, count = build_page(size), runs if size < 1_000_000 else min(runs, 3)
        in_worker = asyncio.run(measure_round_trips(page, count))
        without_worker = [measure_in_process(page) for _ in range(count)]
        print(f"| {name} | {format_times(in_worker)} | {format_times(without_worker)} |")
    print(f"| start of a worker | {format_times(asyncio.run(measure_starts(runs)))} | |")
    first_pages = format_times(asyncio.run(measure_first_pages(runs)))
    print(f"| first page, {1_000 * NETWORK:.0f} ms of network before it | {first_pages} | |")
    timeouts = format_times(asyncio.run(measure_timeouts(runs)))
    print(f"| a page that never ends, beyond its time limit | {timeouts} | |")
    before = read_resident_memory()
    asyncio.run(extract_large_text())
    after, peak = read_resident_memory(), read_peak_memory()
    print(f"\nMemory of the parent: {before:,.0f} MB, after a text of 20 MB {after:,.0f} MB, peak {peak:,.0f} MB.")
    return 0


def build_page(size: int) -> Page:
    """Return a page of about `size` bytes."""
    count = max(1, size // len(PARAGRAPH))
    body = "<!doctype html><title>Road</title><main>" + "".join(PARAGRAPH.format(number) for number in range(count))
    return Page(URL, URL, 200, "text/html; charset=utf-8", body.encode(), 0.0)


async def measure_round_trips(page: Page, runs: int) -> list[float]:
    """Return the times of a warm worker for the same page."""
    pool = WorkerPool(Config())
    try:
        await pool.extract(page)
        return [await measure_extraction(pool, page) for _ in range(runs)]
    finally:
        await pool.aclose()


async def measure_starts(runs: int) -> list[float]:
    """Return the times from creating a pool to the answer for a small page."""
    return [await _measure_first_page(0.0) for _ in range(runs)]


async def measure_first_pages(runs: int) -> list[float]:
    """Return the times from the end of a network request to the answer, if its worker starts with the request."""
    return [await _measure_first_page(NETWORK) for _ in range(runs)]


async def _measure_first_page(network: float) -> float:
    pool = WorkerPool(Config())
    pool.warm()
    await asyncio.sleep(network)
    try:
        return await measure_extraction(pool, build_page(1_000))
    finally:
        await pool.aclose()


async def measure_timeouts(runs: int) -> list[float]:
    """Return the times from the timeout to the answer with the salvaged text."""
    pool = WorkerPool(Config(extract_timeout=SLOW), reader="benchmarks.extraction.workers:endless")
    try:
        await measure_extraction(pool, build_page(100_000))
        return [await measure_extraction(pool, build_page(100_000)) - 1_000 * SLOW for _ in range(min(runs, 5))]
    finally:
        await pool.aclose()


async def extract_large_text() -> None:
    """Send a text of 20 MB to a worker and read its answer."""
    pool = WorkerPool(Config(extract_timeout=60))
    try:
        body = b"The road follows the river for many miles.\n" * 465_000
        await pool.extract(Page(URL, URL, 200, "text/plain", body, 0.0))
    finally:
        await pool.aclose()


async def measure_extraction(pool: WorkerPool, page: Page) -> float:
    """Return the milliseconds that a worker takes for one page."""
    start = time.perf_counter()
    await pool.extract(page)
    return 1_000 * (time.perf_counter() - start)


def measure_in_process(page: Page) -> float:
    """Return the milliseconds that this process takes for one page."""
    start = time.perf_counter()
    extract_with_words(page.body, page.url, page.content_type)
    return 1_000 * (time.perf_counter() - start)


def format_times(times: list[float]) -> str:
    """Format minimum, median and maximum."""
    return f"{min(times):.1f} / {statistics.median(times):.1f} / {max(times):.1f}"


def read_resident_memory() -> float:
    """Return the megabytes of memory in use (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1_000


def read_peak_memory() -> float:
    """Return the largest number of megabytes of memory in use so far (Linux)."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1_000


if __name__ == "__main__":
    sys.exit(main())
