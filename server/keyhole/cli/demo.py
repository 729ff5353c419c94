"""Run `keyhole demo`: a real MCP client calls the real server over stdio; the web site is on loopback."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shlex
import sys
import tempfile
import textwrap
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from mcp import Client, StdioServerParameters

from keyhole.cli.demo_site import RecordedPage, recorded_pages, serve
from keyhole.cli.terminal import print_json
from keyhole.config.config import Config
from keyhole.text.measure import serialized_size

PAGE: Final = "routine-vacuuming"
QUESTION: Final = "How is the vacuum threshold that triggers autovacuum defined?"
ANSWER: Final = "vacuum threshold = vacuum base threshold + vacuum scale factor * number of tuples"
SECOND_QUESTION: Final = "transaction ID wraparound failure prevention"
SECOND_PAGE: Final = "sqlite-wal"
SEARCH_QUERY: Final = "checkpoint starvation in write-ahead logging"

MAX_COLUMNS: Final = 100
"""Width of the output, so that terminals do not wrap it."""
EXCERPT_PREFIX: Final = "  │ "
"""Printed before each line of an excerpt."""
HEAD_LINES, TAIL_LINES, CONTEXT_LINES = 8, 4, 3
"""Lines of a result that are shown: at its beginning, at its end, and around the answer."""

_CONTINUATION: Final = re.compile(r'^Next: read_artifact\(id="([^"]+)", offset=(\d+), limit=(\d+)\)$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DemoStep:
    """One call of a tool and its result."""

    title: str
    tool: str
    arguments: dict[str, Any]
    milliseconds: int
    result_bytes: int
    text: str


def run(_config: Config, arguments: argparse.Namespace) -> int:
    """Run the demo and print it; return 0 when every call succeeded."""
    pages = recorded_pages()
    steps = asyncio.run(_call_tools(pages))
    if arguments.json:
        print_json([asdict(step) for step in steps])
        return 0
    print(_introduction(pages))
    for number, step in enumerate(steps, start=1):
        print(_format_step(number, step))
    print(_installation_help())
    return 0


async def _call_tools(pages: dict[str, RecordedPage]) -> list[DemoStep]:
    with serve(pages) as port, tempfile.TemporaryDirectory() as home:
        environment = {"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": home, "KEYHOLE_ALLOW_PRIVATE": f"127.0.0.1:{port}"}
        server = StdioServerParameters(command=sys.executable, args=["-P", "-m", "keyhole", "serve"], env=environment)
        site = f"http://127.0.0.1:{port}"
        async with Client(server) as client:
            answer = await _call(
                client, "Ask a question whose answer is deep in the page", "web_fetch",
                {"url": f"{site}/{PAGE}", "query": QUESTION},
            )  # fmt: skip
            page = await _call(client, "Fetch the same page without a question", "web_fetch", {"url": f"{site}/{PAGE}"})
            id, offset, limit = _parse_continuation(page.text)
            continuation = await _call(
                client, "Read on with the call that the result's `Next:` line names", "read_artifact",
                {"id": id, "offset": offset, "limit": limit},
            )  # fmt: skip
            second_answer = await _call(
                client, "Ask the stored page another question, without fetching it again", "read_artifact",
                {"id": id, "query": SECOND_QUESTION},
            )  # fmt: skip
            second_page = await _call(
                client, "Fetch a second page, so that there is more to search", "web_fetch",
                {"url": f"{site}/{SECOND_PAGE}"},
            )  # fmt: skip
            search = await _call(
                client, "Search all stored pages", "search",
                {"query": SEARCH_QUERY, "scope": "stored", "max_results": 2, "max_chars": 4_000},
            )  # fmt: skip
    return [answer, page, continuation, second_answer, second_page, search]


async def _call(client: Client, title: str, tool: str, arguments: dict[str, Any]) -> DemoStep:
    start = time.perf_counter()
    result = await client.call_tool(tool, arguments)
    elapsed = time.perf_counter() - start
    text = "".join(getattr(block, "text", "") for block in result.content)
    if result.is_error:
        raise RuntimeError(f"{tool} failed: {text}")
    size = len(result.model_dump_json(by_alias=True, exclude_none=True).encode())
    return DemoStep(title, tool, arguments, round(elapsed * 1000), size, text)


def _parse_continuation(text: str) -> tuple[str, int, int]:
    """Return id, offset and limit of the last `Next:` line, as an agent would read it."""
    calls = _CONTINUATION.findall(text)
    if not calls:
        raise RuntimeError("the result has no continuation")
    id, offset, limit = calls[-1]
    return id, int(offset), int(limit)


def _introduction(pages: dict[str, RecordedPage]) -> str:
    size = len(pages[PAGE].body)
    tokens = size // 4
    return (
        "Keyhole demo: an MCP client, the server as its subprocess over stdio, and a web site on loopback.\n"
        f"The page is PostgreSQL's chapter on vacuuming: {size:,} bytes of HTML, about {tokens:,} tokens."
    )


def _format_step(number: int, step: DemoStep) -> str:
    arguments = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in step.arguments.items())
    call = textwrap.fill(
        f"{step.tool}({arguments})", MAX_COLUMNS, initial_indent="   ", subsequent_indent="     ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    size = f"{step.result_bytes:,} bytes sent, of which {serialized_size(step.text):,} text, in {step.milliseconds} ms"
    excerpt = "\n".join(EXCERPT_PREFIX + _shorten(line) for line in _excerpt(step.text))
    return f"\n{number}. {step.title}\n{call}\n   → {size}\n{excerpt}"


def _shorten(line: str) -> str:
    width = MAX_COLUMNS - len(EXCERPT_PREFIX)
    return line if len(line) <= width else f"{line[: width - 1]}…"


def _excerpt(text: str) -> list[str]:
    """Return the first lines, the lines around the answer if the text has it, and the last lines."""
    lines = text.split("\n")
    shown = {*range(HEAD_LINES), *range(len(lines) - TAIL_LINES, len(lines))}
    for number, line in enumerate(lines):
        if ANSWER in line:
            shown.update(range(number - CONTEXT_LINES, number + CONTEXT_LINES + 1))
    excerpt: list[str] = []
    last = -1
    for number in sorted(number for number in shown if 0 <= number < len(lines)):
        if number > last + 1:
            excerpt.append(f"   … {number - last - 1} lines not shown in this demo …")
        excerpt.append(lines[number])
        last = number
    return excerpt


def _installation_help() -> str:
    server = json.dumps(str(Path(sys.executable).with_name("keyhole-reader")))
    keyhole = shlex.quote(str(Path(sys.executable).with_name("keyhole")))
    return f"""
List the MCP clients on this machine:
    {keyhole} install

Register Keyhole with one of them (shows a diff, then applies it), then restart the client:
    {keyhole} install CLIENT

Or register it by hand. Claude Desktop, in claude_desktop_config.json:
    {{"mcpServers": {{"keyhole": {{"command": {server}, "args": []}}}}}}

Codex, in ~/.codex/config.toml:
    [mcp_servers.keyhole]
    command = {server}
    args = []

Fetch a page from the web:
    {keyhole} fetch https://example.org --query "…\""""
