"""Run the test scorer server in its own process, and build the parts of Keyhole that send requests to it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from keyhole.config.config import Config
from keyhole.extensions.models.apis import EmbeddingsApi, Reranker
from keyhole.extensions.models.vector_scorer import VectorScorer
from keyhole.fetch.base import Api
from keyhole.fetch.client import HttpFetcher, api_endpoints
from keyhole.store.base import Store
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import Clock

Result = TypeVar("Result")
_SESSIONS = count(1)


@dataclass(frozen=True, slots=True)
class Server:
    """The running scorer server, on a port of the loopback address."""

    port: int

    def session(self) -> str:
        """Return a new session name, under which the server records requests."""
        return f"s{next(_SESSIONS)}"

    def url(self, path: str, fault: str = "-", session: str = "s0") -> str:
        """Return the URL of a path; its responses have the fault `fault`, or none for "-"."""
        return f"http://127.0.0.1:{self.port}/{fault}/{session}/{path}"

    def requests(self, session: str) -> list[dict[str, Any]]:
        """Return the requests of a session, each with path, key and body."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{session}", timeout=10) as answer:
            recorded: list[dict[str, Any]] = json.load(answer)
        return recorded


@contextmanager
def run_server() -> Iterator[Server]:
    """Run the server until the block ends."""
    command = [sys.executable, str(Path(__file__).with_name("scorer_server.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Server(int(process.stdout.readline()))
        finally:
            process.kill()


def with_api(config: Config, use: Callable[[Api], Awaitable[Result]]) -> Result:
    """Call `use` with the real HTTP client, which may connect to the URLs of the settings."""

    async def run() -> Result:
        async with HttpFetcher(config, "Keyhole/test", apis=api_endpoints(config)) as api:
            return await use(api)

    return asyncio.run(run())


def rerank(config: Config, query: str, texts: Sequence[str], seconds: float = 10.0) -> tuple[float, ...]:
    """Return the scores of a reranker."""

    async def use(api: Api) -> tuple[float, ...]:
        return await Reranker(config, api).score(query, texts, seconds)

    return with_api(config, use)


class FakeSleep:
    """Records the seconds of each sleep instead of sleeping."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def embedder(config: Config, api: Api, store: Store | None = None, sleep: FakeSleep | None = None) -> VectorScorer:
    """Return the scorer of an embeddings API that does not wait between attempts."""
    return VectorScorer(EmbeddingsApi(config, api, sleep or FakeSleep()), store or MemoryStore(Clock()))


def config(**settings: Any) -> Config:
    """Return the default settings with some changed."""
    return replace(Config(), **settings)
