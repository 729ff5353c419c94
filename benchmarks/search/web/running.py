"""Starts what a search needs, each as a process of its own: the web, an engine, Keyhole's server with a client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcp import Client, StdioServerParameters

from benchmarks.search.web import searx
from benchmarks.search.web.sites import CLOSED, COPIES, HOSTS, SEARCH, TROUBLE

ROOT: Final = Path(__file__).resolve().parents[3]
SERVER: Final = ROOT / "server"


@dataclass(frozen=True, slots=True)
class RunningWeb:
    """The web while it is served."""

    port: int

    @property
    def endpoints(self) -> str:
        """What KEYHOLE_ALLOW_PRIVATE must say."""
        return ",".join(f"{host}:{self.port}" for host in (*HOSTS.values(), *COPIES, TROUBLE, CLOSED))

    @property
    def api(self) -> str:
        """Where the search API and its failures stand."""
        return f"http://{SEARCH}:{self.port}"

    def set_mode(self, mode: str) -> None:
        """`slow` or `normal`."""
        with urllib.request.urlopen(f"{self.api}/mode/{mode}", timeout=10):  # noqa: S310  (loopback, our own)
            pass


@contextmanager
def served_web() -> Iterator[RunningWeb]:
    """The web in a process of its own, which ends with the block, or with this process."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.search.web.server"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            yield RunningWeb(json.loads(process.stdout.readline())["port"])
        finally:
            process.kill()


@contextmanager
def engine(web: RunningWeb, path: str = "/search") -> Iterator[tuple[str, str]]:
    """The base address of a SearXNG API, and what stands behind it: real searx where it is installed, else the search
    API itself, whose answer has the same shape."""
    if not searx.installed():
        yield web.api, "the search API alone; searx is not installed"
        return
    with searx.running(web.api + path) as base:
        yield base, "searx 1.1.0"


@asynccontextmanager
async def keyhole(web: RunningWeb, engine: str, home: str, **settings: str) -> AsyncIterator[Client]:
    """A client of this tree's server, over stdio, which may fetch this web only."""
    environment = {
        "KEYHOLE_CONFIG": "off",
        "KEYHOLE_HOME": home,
        "KEYHOLE_ALLOW_PRIVATE": web.endpoints,
        "KEYHOLE_ENGINES": "searxng",
        "KEYHOLE_SEARXNG_URL": engine,
        "KEYHOLE_REPEATS": "always",  # each question is measured by itself
        "PYTHONPATH": str(SERVER),
        **settings,
    }
    server = StdioServerParameters(command=sys.executable, args=["-m", "keyhole", "serve"], env=environment)
    async with Client(server) as client:
        yield client
