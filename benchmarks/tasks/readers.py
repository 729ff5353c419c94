"""Run the compared systems: Keyhole from this source tree and mcp-server-fetch over stdio, and trafilatura.

mcp-server-fetch converts a page anew for each call, so it is asked for the complete page once, and its windows are cut
from this text as it cuts them; `check_windows` compares some with those that it returns. trafilatura's Markdown is read
in windows of the same size; what it cannot extract, JSON, CSV and plain text, is read as it is, and a PDF not at all.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mcp import Client, StdioServerParameters

from benchmarks.extraction.peers.conversation import open_conversation
from benchmarks.extraction.peers.peers import PEERS, runner_command
from benchmarks.tasks.pages import Page
from benchmarks.tasks.reading import Reading, Result, read_windows, read_with_keyhole
from benchmarks.tasks.tasks import Task

SERVER: Final = Path(__file__).resolve().parents[2] / "server"
CACHE: Final = Path.home() / ".cache" / "keyhole-benchmarks"
KEYHOLE: Final = "keyhole"
FETCH: Final = next(peer for peer in PEERS if peer.name == "mcp-server-fetch")
TRAFILATURA: Final = next(peer for peer in PEERS if peer.name == "trafilatura")
PATIENCE: Final = 90.0
"""Seconds after which a call counts as hanging."""
_WHOLE: Final = 999_999
"""The largest `max_length` of mcp-server-fetch: beyond what the reader reads in `MAX_CALLS` calls."""
_NODE_OPTIONS: Final = "--experimental-require-module"
"""Readability.js needs it in Node 20; from Node 22 on, it is the default."""
_AT_ONCE: Final = 2
"""Tasks read at the same time."""
_ATTEMPTS: Final = 3
"""Attempts to store a page."""
_CHECKED: Final = 20
"""One of this many pages is checked against the windows that mcp-server-fetch returns."""


async def store_pages(tasks: Sequence[Task], pages: Mapping[str, Page], site: str, home: str, source: Path) -> None:
    """Fetch the page of each task into the store in `home`, up to `_ATTEMPTS` times.

    The long PDFs take a third of the time in which a page must be read. On a busy machine, the first call would measure
    the load.
    """
    async with _keyhole_client(site, home, source) as client:
        for task in tasks:
            for _ in range(_ATTEMPTS):
                async with asyncio.timeout(PATIENCE):
                    result = await client.call_tool("web_fetch", {"url": page_url(site, task, pages)})
                if not result.is_error:
                    break


async def read_all_with_keyhole(
    tasks: Sequence[Task], pages: Mapping[str, Page], site: str, home: str, max_chars: int, source: Path = SERVER
) -> list[Reading]:
    """Read every task with a server of its own for this budget, run from `source`. The pages in `home` are shared."""
    async with _keyhole_client(site, home, source) as client:
        slots = asyncio.Semaphore(_AT_ONCE)

        async def call_tool(name: str, arguments: dict[str, Any]) -> str:
            async with asyncio.timeout(PATIENCE):
                return _text_of(await client.call_tool(name, arguments))

        async def read(task: Task) -> Reading:
            async with slots:
                return await read_with_keyhole(call_tool, task, page_url(site, task, pages), max_chars)

        return list(await asyncio.gather(*map(read, tasks)))


async def first_results(
    tasks: Sequence[Task], pages: Mapping[str, Page], site: str, home: str, max_chars: int, source: Path = SERVER
) -> list[str]:
    """Return the first result of each task. The pages in `home` are stored."""
    async with _keyhole_client(site, home, source) as client:
        results = []
        for task in tasks:
            arguments = {"url": page_url(site, task, pages), "query": task.query, "max_chars": max_chars}
            async with asyncio.timeout(PATIENCE):
                results.append(_text_of(await client.call_tool("web_fetch", arguments)))
        return results


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page as mcp-server-fetch returns it: the lines above the text, and the complete text."""

    opening: str
    text: str

    def window(self, budget: int, number: int) -> Result | None:
        """Return the n-th window of `budget` characters as the server returns it, None after the last.

        The window of a page without a text, which is an error, is its opening.
        """
        start, end = number * budget, (number + 1) * budget
        if start and start >= len(self.text):
            return None
        hint = f"\n\n<error>Content truncated. Call the fetch tool with a start_index of {end} to get more content."
        cut = self.text[start:end]
        return Result(f"{self.opening}{cut}{f'{hint}</error>' if end < len(self.text) else ''}", cut)


async def fetch_pages(tasks: Sequence[Task], pages: Mapping[str, Page], site: str) -> dict[str, FetchedPage]:
    """Return what mcp-server-fetch returns for the page of each task, by the task's id. Each page is fetched once."""
    by_page: dict[str, FetchedPage] = {}
    async with _fetch_client() as client:
        for number, task in enumerate(tasks):
            if task.page not in by_page:
                url = page_url(site, task, pages)
                opening, heading, text = (await _fetch(client, url, _WHOLE)).partition(f"Contents of {url}:\n")
                by_page[task.page] = FetchedPage(opening + heading, text)
                if number % _CHECKED == 0:
                    await check_windows(client, url, by_page[task.page])
    return {task.id: by_page[task.page] for task in tasks}


async def check_windows(client: Client, url: str, page: FetchedPage, budget: int = 4_000) -> None:
    """Raise ValueError if the first two windows cut from a page differ from those that the server returns."""
    for number in range(2):
        expected = page.window(budget, number)
        if expected and expected.text != await _fetch(client, url, budget, start_index=number * budget):
            raise ValueError(f"mcp-server-fetch does not cut {url} as expected")


def read_with_fetch(task: Task, page: FetchedPage, budget: int) -> Reading:
    """Play the reader with mcp-server-fetch, which has no query."""
    return read_windows(task, lambda number: page.window(budget, number))


def read_with_trafilatura(task: Task, content: str, budget: int) -> Reading:
    """Play the reader with trafilatura's text, window by window. A page without a text is one empty result."""

    def window(number: int) -> Result | None:
        cut = content[number * budget : (number + 1) * budget]
        return Result(cut, cut) if cut or number == 0 else None

    return read_windows(task, window)


def trafilatura_texts(pages: Mapping[str, Page]) -> dict[str, str]:
    """Return trafilatura's Markdown of each page, by the same keys."""
    with open_conversation(runner_command(TRAFILATURA, CACHE)) as conversation:

        def text_of(page: Page) -> str:
            if not page.is_text:
                return ""
            text = page.body.decode(page.charset)
            return conversation.ask(text, "http://127.0.0.1/").text if page.is_html else text

        return {id: text_of(page) for id, page in pages.items()}


def page_url(site: str, task: Task, pages: Mapping[str, Page]) -> str:
    """Return the URL at which the page of a task is served."""
    return f"{site}/{task.id}/{pages[task.id].name}"


async def _fetch(client: Client, url: str, max_length: int, **arguments: int) -> str:
    async with asyncio.timeout(PATIENCE):
        return _text_of(await client.call_tool("fetch", {"url": url, "max_length": max_length, **arguments}))


@asynccontextmanager
async def _keyhole_client(site: str, home: str, source: Path) -> AsyncIterator[Client]:
    settings = {"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": home, "KEYHOLE_ALLOW_PRIVATE": site.removeprefix("http://")}
    environment = {**settings, "KEYHOLE_ENGINES": "searxng", "PYTHONPATH": str(source)}
    parameters = StdioServerParameters(command=sys.executable, args=["-m", "keyhole", "serve"], env=environment)
    async with Client(parameters) as client:
        yield client


@asynccontextmanager
async def _fetch_client() -> AsyncIterator[Client]:
    """Yield a client of mcp-server-fetch with Readability.js in Node: without it, it fails on every XHTML page."""
    python = runner_command(FETCH, CACHE)[0]
    arguments = ["-m", "mcp_server_fetch", "--allow-private-ips", "--ignore-robots-txt"]
    environment = {**os.environ, "NODE_OPTIONS": _NODE_OPTIONS}
    parameters = StdioServerParameters(command=python, args=arguments, env=environment)
    async with Client(parameters) as client:
        yield client


def _text_of(result: Any) -> str:
    return "".join(getattr(block, "text", "") for block in result.content)
