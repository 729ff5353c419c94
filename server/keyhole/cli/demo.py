"""`keyhole demo`: a real client, the real server over stdio and a small web site, all on this machine."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from keyhole.cli.demo_site import Recorded, recorded_pages, serve
from keyhole.cli.table import print_json
from keyhole.text.measure import serialized_size

PAGE = "routine-vacuuming"
ANSWER = "vacuum threshold = vacuum base threshold + vacuum scale factor * number of tuples"
QUESTION = "How is the vacuum threshold that triggers autovacuum defined?"
SECOND_QUESTION = "transaction ID wraparound failure prevention"
OTHER_PAGE = "sqlite-wal"
SEARCH = "checkpoint starvation in write-ahead logging"
HEAD_LINES, TAIL_LINES, WIDTH = 8, 4, 118
AROUND = 3
"""Lines shown before and after the answer."""

_CALL = re.compile(r'^Next: read_artifact\(id="([^"]+)", offset=(\d+), limit=(\d+)\)$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Step:
    """One call and what came back."""

    title: str
    tool: str
    arguments: dict[str, Any]
    milliseconds: int
    result_bytes: int
    text: str


def run(*, as_json: bool) -> int:
    """Run the demo and print it; 0 when every call succeeded."""
    pages = recorded_pages()
    steps = asyncio.run(_steps(pages))
    if as_json:
        print_json([asdict(step) for step in steps])
        return 0
    print(_opening(pages))
    for number, step in enumerate(steps, start=1):
        print(_render(number, step))
    print(_closing())
    return 0


async def _steps(pages: dict[str, Recorded]) -> list[Step]:
    with serve(pages) as port, tempfile.TemporaryDirectory() as home:
        environment = {"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": home, "KEYHOLE_ALLOW_PRIVATE": f"127.0.0.1:{port}"}
        server = StdioServerParameters(command=sys.executable, args=["-m", "keyhole", "serve"], env=environment)
        site = f"http://127.0.0.1:{port}"
        async with Client(server) as client:
            answered = await _call(
                client, "A question whose answer stands deep in the page", "web_fetch",
                {"url": f"{site}/{PAGE}", "query": QUESTION},
            )  # fmt: skip
            plain = await _call(client, "The same page without a question", "web_fetch", {"url": f"{site}/{PAGE}"})
            id, offset, limit = _continuation(plain.text)
            following = await _call(
                client, "The continuation that the footer printed, followed literally", "read_artifact",
                {"id": id, "offset": offset, "limit": limit},
            )  # fmt: skip
            again = await _call(
                client, "Another question to the stored page, without fetching it", "read_artifact",
                {"id": id, "query": SECOND_QUESTION},
            )  # fmt: skip
            await client.call_tool("web_fetch", {"url": f"{site}/{OTHER_PAGE}"})
            found = await _call(
                client, "A search over all stored pages", "search",
                {"query": SEARCH, "scope": "stored", "max_results": 2, "max_chars": 4_000},
            )  # fmt: skip
    return [answered, plain, following, again, found]


async def _call(client: Client, title: str, tool: str, arguments: dict[str, Any]) -> Step:
    start = time.perf_counter()
    result = await client.call_tool(tool, arguments)
    elapsed = time.perf_counter() - start
    text = "".join(getattr(block, "text", "") for block in result.content)
    if result.is_error:
        raise RuntimeError(f"{tool} failed: {text}")
    size = len(result.model_dump_json(by_alias=True, exclude_none=True).encode())
    return Step(title, tool, arguments, round(elapsed * 1000), size, text)


def _continuation(text: str) -> tuple[str, int, int]:
    """The call in the last `Next:` line, as an agent would read it."""
    calls = _CALL.findall(text)
    if not calls:
        raise RuntimeError("the result has no continuation")
    id, offset, limit = calls[-1]
    return id, int(offset), int(limit)


def _opening(pages: dict[str, Recorded]) -> str:
    size = len(pages[PAGE].body)
    tokens = size // 4
    return (
        "Keyhole demo: a web site on loopback, the server as a subprocess over stdio, and an MCP client.\n"
        f"The page is PostgreSQL's chapter on vacuuming: {size:,} bytes of HTML, roughly {tokens:,} tokens raw."
    )


def _render(number: int, step: Step) -> str:
    arguments = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in step.arguments.items())
    body = "\n".join(f"  │ {line[:WIDTH]}{'…' if len(line) > WIDTH else ''}" for line in _excerpt(step.text))
    text_size = serialized_size(step.text)
    size = f"{step.result_bytes:,} bytes on the wire, {text_size:,} of them text, in {step.milliseconds} ms"
    return f"\n{number}. {step.title}\n   {step.tool}({arguments})\n   → {size}\n{body}"


def _excerpt(text: str) -> list[str]:
    """The first lines, those around the answer where it was returned, and the last."""
    lines = text.split("\n")
    keep = {*range(HEAD_LINES), *range(len(lines) - TAIL_LINES, len(lines))}
    for number, line in enumerate(lines):
        if ANSWER in line:
            keep.update(range(number - AROUND, number + AROUND + 1))
    shown: list[str] = []
    last = -1
    for number in sorted(number for number in keep if 0 <= number < len(lines)):
        if number > last + 1:
            shown.append(f"   … {number - last - 1} lines not shown in this demo …")
        shown.append(lines[number])
        last = number
    return shown


def _closing() -> str:
    command = str(Path(sys.executable).with_name("keyhole-mcp"))
    keyhole = shlex.quote(str(Path(sys.executable).with_name("keyhole")))
    return f"""
Register Keyhole (then restart the client):  {keyhole} install
  lists the clients that are here; with a client's name it shows the change and makes it. By hand:

  Claude Desktop, in claude_desktop_config.json:
    {{"mcpServers": {{"keyhole": {{"command": {json.dumps(command)}, "args": []}}}}}}

  Codex, in ~/.codex/config.toml:
    [mcp_servers.keyhole]
    command = {json.dumps(command)}
    args = []

A page from the web instead:  {keyhole} fetch https://example.org --query "…\""""
