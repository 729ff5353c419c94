"""Run the complete server over stdio with a real client while its disk fails and recovers. Every call must succeed."""

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

from benchmarks.store.faults.checks import Tally, make_artifact, open_store
from benchmarks.store.faults.kills import environment
from benchmarks.store.faults.outages import FREE_BYTES, PATIENCE, TICK, Outage, fill_small_disk
from keyhole.cli.demo_site import RecordedPage, serve
from keyhole.errors import KeyholeError

WARNING: Final = "Warning kept_in_memory: "
CALL_SECONDS: Final = 60.0
MAX_RESULT: Final = 200_000
"""The limit of a result: more than any text here."""


@dataclass(slots=True)
class ServerResult:
    """Counts of a run of the server."""

    fetched: int = 0
    read: int = 0
    warned: int = 0
    """Results with the warning that texts are stored in memory only."""
    back_after: float = 0.0
    tally: Tally = field(default_factory=Tally)


@dataclass(slots=True)
class _Agent:
    client: Client
    site: str
    done: ServerResult
    ids: dict[int, str] = field(default_factory=dict)

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Call a tool; return the text and the facts of its result."""
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
        """Fetch a page; its result must contain an artifact id."""
        text, facts = await self.call("web_fetch", {"url": f"{self.site}/{number}", "max_chars": 4_000})
        self.done.fetched += 1
        self.done.tally.lost += not facts.get("artifact_id")
        self.done.tally.unwarned += "store_unavailable" in text
        self.ids[number] = str(facts.get("artifact_id"))

    async def read(self, number: int) -> None:
        """Read the complete text of a page that was fetched before."""
        text, _ = await self.call("read_artifact", {"id": self.ids[number], "limit": MAX_RESULT})
        self.done.read += 1
        self.done.tally.lost += _text(number) not in text


def _text(number: int) -> str:
    return make_artifact(7, number).text.strip()


async def run_server(home: Path, make_outage: Callable[[Path, int], Outage], pages: int) -> ServerResult:
    """Fetch and read `pages` pages each before, during and after a failure of the disk.

    `make_outage`: returns the outage for a home folder and a process id.
    """
    done = ServerResult()
    recorded = {
        str(n): RecordedPage(str(n), "", "text/plain; charset=utf-8", _text(n).encode()) for n in range(3 * pages)
    }
    with serve(recorded) as port:
        async with Client(_server(home, port)) as client:
            agent = _Agent(client, f"http://127.0.0.1:{port}", done)
            await _call_all(agent, range(pages))
            done.tally.stuck += done.warned
            outage = make_outage(home, int(_process_file(home).read_text()))
            outage.begin()
            try:
                await _call_all(agent, range(pages, 2 * pages))
            finally:
                outage.end()
            done.tally.unwarned += not done.warned
            done.back_after = await _wait_until_well(agent)
            warned = done.warned
            await _call_all(agent, range(2 * pages, 3 * pages))
            done.tally.stuck += done.warned > warned
    _check_disk(home, agent.ids, done.tally)
    return done


def _server(home: Path, port: int) -> StdioServerParameters:
    """Return the server's command: a shell that writes its process id to a file, then becomes the server."""
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


async def _call_all(agent: _Agent, numbers: range) -> None:
    for number in numbers:
        await agent.fetch(number)
        await agent.read(number)
        await agent.read(0)


async def _wait_until_well(agent: _Agent) -> float:
    begun = time.monotonic()
    while time.monotonic() < begun + PATIENCE:
        before = agent.done.warned
        await agent.read(0)
        if agent.done.warned == before:
            break
        await asyncio.sleep(TICK)
    return time.monotonic() - begun


def _check_disk(home: Path, ids: dict[int, str], tally: Tally) -> None:
    """Check that every page is on the disk after the server has ended."""
    stores, store = open_store(home, long_running=False)
    for number, id in ids.items():
        try:
            tally.lost += _digest(store.get(id).text.strip()) != _digest(_text(number))
        except KeyholeError:
            tally.lost += 1
    stores.close()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# Outages for a running process.


def limit_file_size(home: Path, process: int) -> Outage:
    """Limit the size of files that a process may write to about the size of the store's largest file."""
    soft, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)

    def begin() -> None:
        largest = max(path.stat().st_size for path in home.rglob("artifacts.db*"))
        resource.prlimit(process, resource.RLIMIT_FSIZE, (largest + FREE_BYTES, hard))

    return Outage(home, begin, lambda: resource.prlimit(process, resource.RLIMIT_FSIZE, (soft, hard)) and None)


def fill_disk(home: Path, _process: int) -> Outage:
    """Fill the rest of the folder's small disk with a file."""
    return fill_small_disk(home)
