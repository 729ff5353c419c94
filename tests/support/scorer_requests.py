"""The server of server.py in its own process, and the parts of Keyhole that ask it: everything real but the model."""

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
from keyhole.fetch.base import Api
from keyhole.fetch.client import HttpFetcher
from keyhole.rerank.embeddings import Embedder
from keyhole.rerank.reranker import Reranker
from keyhole.store.base import Store
from keyhole.store.memory import MemoryStore
from keyhole.websearch.registry import endpoints
from tests.support.fakes import Clock

Result = TypeVar("Result")
_SESSIONS = count(1)


@dataclass(frozen=True, slots=True)
class Server:
    """Where the server listens."""

    port: int

    def session(self) -> str:
        """A name under which the server notes what it is asked."""
        return f"s{next(_SESSIONS)}"

    def url(self, path: str, fault: str = "-", session: str = "s0") -> str:
        """An address that fails as told."""
        return f"http://127.0.0.1:{self.port}/{fault}/{session}/{path}"

    def asked(self, session: str) -> list[dict[str, Any]]:
        """What it was asked in a session: path, key, body."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{session}", timeout=10) as answer:
            found: list[dict[str, Any]] = json.load(answer)
        return found


@contextmanager
def running() -> Iterator[Server]:
    """The server, until the block ends."""
    command = [sys.executable, str(Path(__file__).with_name("server.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Server(int(process.stdout.readline()))
        finally:
            process.kill()


def with_api(config: Config, use: Callable[[Api], Awaitable[Result]]) -> Result:
    """Something done with the real client, to which the addresses of the settings are open."""

    async def run() -> Result:
        async with HttpFetcher(config, "Keyhole/test", apis=endpoints(config)) as api:
            return await use(api)

    return asyncio.run(run())


def reranked(config: Config, query: str, texts: Sequence[str], seconds: float = 10.0) -> tuple[float | None, ...]:
    """The scores of a reranker."""

    async def use(api: Api) -> tuple[float | None, ...]:
        return (await Reranker(config, api).opinion(query, texts, seconds)).scores

    return with_api(config, use)


class Naps:
    """In place of sleeping: how long it would have been."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def embedder(config: Config, api: Api, store: Store | None = None, naps: Naps | None = None) -> Embedder:
    """An embedder that never waits between tries."""
    return Embedder(config, api, store or MemoryStore(Clock()), naps or Naps())


def config(**settings: Any) -> Config:
    """The defaults with some settings changed."""
    return replace(Config(), **settings)
