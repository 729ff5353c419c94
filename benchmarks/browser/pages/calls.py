"""Fetch the 40 pages through the whole server, as a client does: `python -m benchmarks.browser.pages.calls [NAME…]`.

A client over stdio asks `keyhole serve`, with KEYHOLE_RENDER=auto, a question about each page that the page answers
(questions.py), reads the stored text to its end, and asks the same again. The second call must use the store: browsers
that start and requests at the server of the pages are counted meanwhile.

All of it is done a second time with strace around every browser, which sees the sockets of all of its processes. The
last line is one page without the flags that keep a browser behind the gateway: a control of what strace sees.

Needs Chromium, strace, node and npm. Takes four minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import shlex
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

from benchmarks.browser.pages.build import build
from benchmarks.browser.pages.catalogue import PAGES, Page
from benchmarks.browser.pages.questions import ask
from benchmarks.browser.pages.report import GOAL, count_words
from benchmarks.browser.pages.server import read_counts, run_server
from benchmarks.browser.pages.systems import PAUSE
from benchmarks.extraction.visible_words.words import split_markdown_words, split_words
from benchmarks.tasks.reading import keyhole_result, next_call
from keyhole.config.config import Config
from keyhole.extensions.browser.chromium import find_browser
from tests.support.observed_browser import MISSING, observed_program, recorded_calls
from tests.support.socket_calls import MISSING as NO_STRACE
from tests.support.socket_calls import can_trace, read_calls

SERVER: Final = Path(__file__).resolve().parents[3] / "server"
DEADLINE: Final = Config().timeout
"""Seconds that a call may take."""
REST: Final = " To read it: "
"""What stands before the call that reads the rest of a page, at the end of its main part."""
WITHOUT: Final = ("--proxy-bypass-list", "--force-webrtc-ip-handling-policy", "--webrtc-ip-handling-policy")
"""The flags that the control leaves out."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The calls for one page. Times are seconds; words are those of the stored text."""

    page: str
    is_answered: bool
    is_rendered: bool
    words: int
    missing: int
    hidden: int
    seconds: float
    again: float
    is_same: bool
    """True if the second call returned the first result."""

    @property
    def is_good(self) -> bool:
        """True if the answer was in the result in time, and the stored text is what a person sees."""
        is_read = 1 - self.missing / self.words >= GOAL and not self.hidden
        return self.is_answered and self.is_rendered and is_read and self.seconds <= DEADLINE and self.is_same


@dataclass(frozen=True, slots=True)
class Used:
    """What had been used at some moment: starts of browsers, and requests at the server of the pages."""

    browsers: int
    requests: int


@asynccontextmanager
async def open_client(endpoint: str, home: Path, browser: str) -> AsyncIterator[Client]:
    """Run a server that renders with this program and keeps its store in `home`."""
    environment = {
        "KEYHOLE_CONFIG": "off",
        "KEYHOLE_HOME": str(home / "store"),
        "KEYHOLE_ENGINES": "searxng",
        "KEYHOLE_ALLOW_PRIVATE": endpoint,
        "KEYHOLE_RENDER": "auto",
        "KEYHOLE_BROWSER": browser,
        "PYTHONPATH": str(SERVER),
    }
    parameters = StdioServerParameters(command=sys.executable, args=["-m", "keyhole", "serve"], env=environment)
    async with Client(parameters) as client:
        yield client


def counted_program(folder: Path, program: str) -> str:
    """Write a program that runs a browser and leaves a file in `folder` for each start."""
    counted = folder / "browser"
    counted.write_text(f'#!/bin/sh\n: > {shlex.quote(str(folder))}/$$.arguments\nexec {shlex.quote(program)} "$@"\n')
    counted.chmod(0o755)
    return str(counted)


async def fetch_pages(pages: Sequence[Page], endpoint: str, folder: Path, browser: str) -> tuple[list[Fetched], Used]:
    """Fetch each page and read it; then fetch all of them again. Return also what the second calls used."""
    async with open_client(endpoint, folder, browser) as client:
        first = [await _call(client, endpoint, page) for page in pages]
        texts = [await _read(client, result) for result, _ in first]
        await asyncio.sleep(PAUSE)  # the browser that waits for the next page starts after the last call
        before = _used(folder, endpoint)
        second = [await _call(client, endpoint, page, repeat=True) for page in pages]
        after = _used(folder, endpoint)
    rows = []
    for page, one, text, two in zip(pages, first, texts, second, strict=True):
        missing, hidden, words = count_words(text, page)
        shown = _text(one[0])
        rows.append(
            Fetched(
                page.name, contains(shown, ask(page).answer), "as a browser showed it" in shown.partition("\n")[0],
                words, missing, hidden, one[1], two[1], _text(two[0]) == shown,
            )
        )  # fmt: skip
        print(rows[-1], file=sys.stderr)
    return rows, Used(after.browsers - before.browsers, after.requests - before.requests)


async def _call(client: Client, endpoint: str, page: Page, **options: bool) -> tuple[CallToolResult, float]:
    """Return the result of a web_fetch call, and its seconds."""
    arguments = {"url": f"http://{endpoint}{page.address}", "query": ask(page).query, **options}
    start = time.perf_counter()
    result = await client.call_tool("web_fetch", arguments)
    return result, time.perf_counter() - start


async def _read(client: Client, result: CallToolResult) -> str:
    """Return the stored text of a page, main part and rest; "" if none was stored."""
    artifact = (result.meta or {}).get("keyhole", {}).get("artifact_id")
    call: tuple[str, dict[str, Any]] | None = ("read_artifact", {"id": artifact, "repeat": True}) if artifact else None
    pieces = []
    while call:
        text = _text(await client.call_tool(*call))
        pieces.append(keyhole_result(text).page_text)
        call = next_call(text) or next_call(text.replace(REST, "\nNext: "))
    return "".join(pieces)


def _text(result: CallToolResult) -> str:
    return "".join(getattr(block, "text", "") for block in result.content)


def contains(result: str, answer: str) -> bool:
    """Return True if the page's text in a result has the words of the answer next to each other."""
    words = split_markdown_words(keyhole_result(result).page_text)
    return f" {' '.join(split_words(answer))} " in f" {' '.join(words)} "


def _used(folder: Path, endpoint: str) -> Used:
    return Used(len(list(folder.glob("*.arguments"))), read_counts(endpoint)["requests"])


def format_calls(name: str, rows: Sequence[Fetched], second: Used) -> Iterator[str]:
    """Yield a table with one row, and a line for each page whose calls failed in some respect."""
    read = sum(1 - row.missing / row.words >= GOAL for row in rows)
    words = 1 - sum(row.missing for row in rows) / sum(row.words for row in rows)
    first, again = [row.seconds for row in rows], [row.again for row in rows]
    yield (
        "| browser | answered | in time | pages read | words | hidden words | first call p50 | max | second call p50 "
        "| the same | browsers started | requests |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    yield (
        f"| {name} | {sum(row.is_answered for row in rows)} of {len(rows)} | {sum(s <= DEADLINE for s in first)} "
        f"| {read} | {words:.1%} | {sum(row.hidden for row in rows)} | {median(first):.2f} s | {max(first):.2f} s "
        f"| {median(again) * 1000:.0f} ms | {sum(row.is_same for row in rows)} | {second.browsers} "
        f"| {second.requests} |"
    )
    yield from (f"{name}: {row}" for row in rows if not row.is_good)


@dataclass(frozen=True, slots=True)
class Packets:
    """What strace saw of browsers: TCP connects to their own gateways and to anything else, and UDP packets."""

    browsers: int
    gateway: int
    tcp: int
    udp: int

    def __str__(self) -> str:
        """Return one line."""
        return (
            f"{self.browsers} browsers: {self.gateway} connects to their gateways, {self.tcp} other TCP connects, "
            f"{self.udp} UDP packets"
        )


def count_packets(folder: Path) -> Packets:
    """Return what strace saw of all browsers that were started in this folder."""
    logs = [file.read_text().splitlines() for file in folder.glob("*.calls")]
    everything = sum(call.is_packet for log in logs for call in read_calls(log))
    around = [call for call in recorded_calls(folder) if call.is_packet]
    tcp = sum(call.protocol == "TCP" for call in around)
    return Packets(len(logs), everything - len(around), tcp, len(around) - tcp)


def main() -> int:
    """Print the tables; return 1 if a call failed, or if a packet went around the gateway."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="pages; default: all")
    names = parser.parse_args().names or list(PAGES)
    program = find_browser()
    if program is None or not can_trace():
        print(NO_STRACE if program else MISSING, file=sys.stderr)
        return 2
    pages = [PAGES[name] for name in names]
    with run_server(build() / "dist") as endpoint:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            alone = asyncio.run(fetch_pages(pages, endpoint, folder, counted_program(folder, program)))
        print("\n".join(format_calls("alone", *alone)), flush=True)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            traced = asyncio.run(fetch_pages(pages, endpoint, folder, observed_program(folder)))
            packets = count_packets(folder)
        print("\n".join([*format_calls("under strace", *traced), "", str(packets)]), flush=True)
        private = read_counts(endpoint)
        print(f"private address: {private['connections']} connections, {private['datagrams']} datagrams")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            asyncio.run(fetch_pages(pages[:1], endpoint, folder, observed_program(folder, WITHOUT)))
            print(f"control, {pages[0].name} without {', '.join(WITHOUT)}: {count_packets(folder)}")
    is_good = all(row.is_good for rows, _ in (alone, traced) for row in rows)
    return 0 if is_good and not packets.tcp and not packets.udp else 1


if __name__ == "__main__":
    sys.exit(main())
