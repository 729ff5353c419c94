"""Measure what is read of 40 pages that scripts write: `python -m benchmarks.browser.pages [NAME…]`.

The pages are made with real frameworks (build.py builds them with npm) and are served on loopback (server.py). Their
data say which words a person sees (catalogue.py). Systems: Keyhole's browser, and Playwright driven as crawl4ai does,
waiting for `domcontentloaded` (its default) or for `networkidle`. The text of each rendered page is Keyhole's, without
the addresses of links.

Prints for each system the share of the words that were read, hidden words, times over a bare fetch, memory, and the
connections and datagrams that reached a private address which every page asks for. Needs Chromium, node and npm.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from benchmarks.browser.pages.build import build
from benchmarks.browser.pages.catalogue import PAGES, Page
from benchmarks.browser.pages.processes import MemorySampler
from benchmarks.browser.pages.report import Row, format_details, format_table, read_words
from benchmarks.browser.pages.server import read_counts, run_server
from benchmarks.browser.pages.systems import USER_AGENT, System, open_system
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.browser.chromium import find_browser
from keyhole.extract import extract
from keyhole.fetch.client import HttpFetcher

SYSTEMS: Final = ("keyhole", "playwright domcontentloaded", "playwright networkidle")


async def fetch_bare(urls: Sequence[str], endpoint: str) -> list[tuple[float, bool]]:
    """Return for each URL the seconds of a fetch, and whether its page has no text until its scripts run."""
    results = []
    async with HttpFetcher(Config(allow_private=frozenset({endpoint})), USER_AGENT) as fetcher:
        for url in urls:
            start = time.perf_counter()
            page = await fetcher.fetch(url)
            seconds = time.perf_counter() - start
            try:
                extract(page.body, url=url, content_type=page.content_type)
                needs_scripts = False
            except KeyholeError as error:
                needs_scripts = error.code is Code.JAVASCRIPT_REQUIRED
            results.append((seconds, needs_scripts))
    return results


def measure(system: System, name: str, page: Page, url: str, bare: float) -> Row:
    """Render a page three times: warm and cold for the time, and once more for the memory."""
    warm = system.render(url, fresh=False)
    cold = system.render(url, fresh=True)
    with MemorySampler() as sampler:
        system.render(url, fresh=True)
    missing, hidden, words = read_words(warm.html, page)
    times = warm.seconds - bare, cold.seconds - bare
    return Row(name, page.name, words, missing, hidden, warm.error, *times, sampler.peak)


def main() -> int:
    """Print the tables; return 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="pages; default: all")
    parser.add_argument("--system", action="append", choices=SYSTEMS, help="measure only this; may be repeated")
    arguments = parser.parse_args()
    program = find_browser()
    if program is None:
        print("skipped: Chromium is not installed (apt-get install chromium)", file=sys.stderr)
        return 0
    folder = build()
    pages = [PAGES[name] for name in arguments.names or PAGES]
    rows: list[Row] = []
    private: dict[str, Counter[str]] = defaultdict(Counter)
    with run_server(folder / "dist") as endpoint, ExitStack() as stack:
        urls = [f"http://{endpoint}{page.address}" for page in pages]
        bare = asyncio.run(fetch_bare(urls, endpoint))
        names = arguments.system or SYSTEMS
        systems = {name: stack.enter_context(open_system(name, folder, program, endpoint)) for name in names}
        for page, url, (seconds, _) in zip(pages, urls, bare, strict=True):
            for name, system in systems.items():
                before = read_counts(endpoint)
                rows.append(measure(system, name, page, url, seconds))
                private[name] += read_counts(endpoint) - before
                print(rows[-1], file=sys.stderr)
    print(f"{sum(needs for _, needs in bare)} of {len(pages)} pages have no text until their scripts run.\n")
    print("\n".join(format_table(rows, private)))
    print("\n" + "\n".join(format_details(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
