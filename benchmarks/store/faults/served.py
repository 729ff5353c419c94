"""The whole server over stdio, with a real client, while its disk fills up and is freed: the tools go on throughout."""

from __future__ import annotations

import asyncio
import hashlib
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from benchmarks.store.faults.full import NEARLY, PATIENCE, TICK, Failing, by_filler
from benchmarks.store.faults.kept import Tally, made, opened
from benchmarks.store.faults.killed import environment
from keyhole.cli.demo_site import Recorded, serve
from keyhole.errors import KeyholeError

WARNING: Final = "Warning kept_in_memory: "
CALL_SECONDS: Final = 60.0
WHOLE: Final = 200_000
"""Asked as the bound of a result: more than any text here."""


@dataclass(slots=True)
class Served:
    """How the server came through."""

    fetched: int = 0
    read: int = 0
    warned: int = 0
    """Results that said that texts are kept in memory."""
    back_after: float = 0.0
    tally: Tally = field(default_factory=Tally)


@dataclass(slots=True)
class _Agent:
    client: Client
    site: str
    done: Served
    ids: dict[int, str] = field(default_factory=dict)

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The text and the facts of one call."""
        async with asyncio.timeout(CALL_SECONDS):
            result = await self.client.call_tool(tool, arguments)
        text = "".join(getattr(block, "text", "") for block in result.content)
        facts: dict[str, Any] = (result.meta or {}).get("keyhole") or {}
        self.done.tally.failed += bool(result.is_error)
        self.done.tally.raw += facts.get("code") == "internal_error"
        self.done.warned += WARNING in text
        self.done.tally.unwarned += (facts.get("warning") == "kept_in_memory") != (WARNING in text)
        return text, facts

    async def fetch(self, number: int) -> None:
        """A page, whose recovery must be offered."""
        text, facts = await self.call("web_fetch", {"url": f"{self.site}/{number}", "max_chars": 4_000})
        self.done.fetched += 1
        self.done.tally.lost += not facts.get("artifact_id")
        self.done.tally.unwarned += "store_unavailable" in text
        self.ids[number] = str(facts.get("artifact_id"))

    async def read(self, number: int) -> None:
        """The whole of a page that was fetched before."""
        text, _ = await self.call("read_artifact", {"id": self.ids[number], "limit": WHOLE})
        self.done.read += 1
        self.done.tally.lost += _text(number) not in text


def _text(number: int) -> str:
    return made(7, number).text.strip()


async def live_through(home: Path, way: Callable[[Path, int], Failing], pages: int) -> Served:
    """Fetch and read so many pages before, while and after the disk fails in a way."""
    done = Served()
    recorded = {str(n): Recorded(str(n), "", "text/plain; charset=utf-8", _text(n).encode()) for n in range(3 * pages)}
    with serve(recorded) as port:
        async with Client(_server(home, port)) as client:
            agent = _Agent(client, f"http://127.0.0.1:{port}", done)
            await _some(agent, range(pages))
            done.tally.stuck += done.warned
            failing = way(home, int(_process_file(home).read_text()))
            failing.begin()
            try:
                await _some(agent, range(pages, 2 * pages))
            finally:
                failing.end()
            done.tally.unwarned += not done.warned
            done.back_after = await _wait(agent)
            warned = done.warned
            await _some(agent, range(2 * pages, 3 * pages))
            done.tally.stuck += done.warned > warned
    _on_disk(home, agent.ids, done.tally)
    return done


def _server(home: Path, port: int) -> StdioServerParameters:
    """The server, behind a shell that first writes down which process it is."""
    settings = {
        "KEYHOLE_CONFIG": "off",
        "KEYHOLE_HOME": str(home),
        "KEYHOLE_ALLOW_PRIVATE": f"127.0.0.1:{port}",
        "KEYHOLE_LOG_LEVEL": "ERROR",
    }
    serve_it = [sys.executable, "-m", "keyhole", "serve"]
    return StdioServerParameters(
        command="/bin/sh",
        args=["-c", 'echo $$ > "$0"; exec "$@"', str(_process_file(home)), *serve_it],
        env={**environment(), **settings},
    )


def _process_file(home: Path) -> Path:
    return home.with_name("process")


async def _some(agent: _Agent, numbers: range) -> None:
    for number in numbers:
        await agent.fetch(number)
        await agent.read(number)
        await agent.read(0)


async def _wait(agent: _Agent) -> float:
    begun = time.monotonic()
    while time.monotonic() < begun + PATIENCE:
        before = agent.done.warned
        await agent.read(0)
        if agent.done.warned == before:
            break
        await asyncio.sleep(TICK)
    return time.monotonic() - begun


def _on_disk(home: Path, ids: dict[int, str], tally: Tally) -> None:
    """After the server's end every page must stand on the disk."""
    stores, store = opened(home, lasting=False)
    for number, id in ids.items():
        try:
            tally.lost += _digest(store.get(id).text.strip()) != _digest(_text(number))
        except KeyholeError:
            tally.lost += 1
    stores.close()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# The ways in which the disk fails, for a process that is already there.


def limited(home: Path, process: int) -> Failing:
    """The process may write no file beyond the size that the largest of the folder has."""
    soft, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)

    def begin() -> None:
        largest = max(path.stat().st_size for path in home.rglob("*") if path.is_file())
        resource.prlimit(process, resource.RLIMIT_FSIZE, (largest + NEARLY, hard))

    return Failing(home, begin, lambda: resource.prlimit(process, resource.RLIMIT_FSIZE, (soft, hard)) and None)


def filled(home: Path, _process: int) -> Failing:
    """The rest of the folder's small disk is taken by a file."""
    return by_filler(home)
