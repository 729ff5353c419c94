"""Start the loopback web, an engine and a Keyhole server with a client, each in its own process."""

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
    """The loopback web while it is served."""

    port: int

    @property
    def endpoints(self) -> str:
        """The value of KEYHOLE_ALLOW_PRIVATE."""
        return ",".join(f"{host}:{self.port}" for host in (*HOSTS.values(), *COPIES, TROUBLE, CLOSED))

    @property
    def api(self) -> str:
        """The base URL of the search API."""
        return f"http://{SEARCH}:{self.port}"

    def set_mode(self, mode: str) -> None:
        """Switch the web to `slow` or `normal` mode."""
        with urllib.request.urlopen(f"{self.api}/mode/{mode}", timeout=10):  # noqa: S310  (loopback, our own)
            pass


@contextmanager
def serve_web() -> Iterator[RunningWeb]:
    """Serve the web in a process that ends with the block or with this process."""
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
def start_engine(web: RunningWeb, path: str = "/search") -> Iterator[tuple[str, str]]:
    """Yield the base URL of a SearXNG API and its description.

    The API is searx if it is installed, else the search API itself, whose answers have the same shape.
    """
    if not searx.is_installed():
        yield web.api, "the search API alone; searx is not installed"
        return
    with searx.run_instance(web.api + path) as base:
        yield base, "searx 1.1.0"


@asynccontextmanager
async def connect_keyhole(web: RunningWeb, engine: str, home: str, **settings: str) -> AsyncIterator[Client]:
    """Yield a client of a stdio server from this source tree that may fetch only the loopback web."""
    environment = {
        "KEYHOLE_CONFIG": "off",
        "KEYHOLE_HOME": home,
        "KEYHOLE_ALLOW_PRIVATE": web.endpoints,
        "KEYHOLE_ENGINES": "searxng",
        "KEYHOLE_SEARXNG_URL": engine,
        "KEYHOLE_REPEATS": "always",  # measure each question by itself
        "PYTHONPATH": str(SERVER),
        **settings,
    }
    server = StdioServerParameters(command=sys.executable, args=["-m", "keyhole", "serve"], env=environment)
    async with Client(server) as client:
        yield client
