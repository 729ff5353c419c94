"""Recorded answers of search APIs, and searches of each engine over real HTTP on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

from keyhole.config.config import Config
from keyhole.extensions.engines.brave import BraveEngine
from keyhole.extensions.engines.exa import ExaEngine
from keyhole.extensions.engines.mediawiki import MediaWikiEngine
from keyhole.extensions.engines.mojeek import MojeekEngine
from keyhole.extensions.engines.searxng import SearxngEngine
from keyhole.extensions.engines.serper import SerperEngine
from keyhole.extensions.engines.tavily import TavilyEngine
from keyhole.fetch.base import Api
from keyhole.fetch.client import HttpFetcher
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import Engine
from tests.support.fakes import Clock, search_api
from tests.support.loopback import Call, response, serve

ANSWERS_FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "engines"
KEY = "kh-TEST/9f8e7d6c5b4a+3210="
"""A key with characters that URLs encode."""

ENGINE_FACTORIES: dict[str, Callable[[str, Api], Engine]] = {
    "searxng": lambda base, api: SearxngEngine(base, search_api(api)),
    "brave": lambda base, api: BraveEngine(KEY, search_api(api), base),
    "exa": lambda base, api: ExaEngine(KEY, search_api(api), base, Clock()),
    "tavily": lambda base, api: TavilyEngine(KEY, search_api(api), base),
    "serper": lambda base, api: SerperEngine(KEY, search_api(api), base),
    "mojeek": lambda base, api: MojeekEngine(KEY, search_api(api), base, Clock()),
    "wikipedia": lambda base, api: MediaWikiEngine(search_api(api), base + "/w/api.php"),
}
KEYED_NAMES = ("brave", "exa", "tavily", "serper", "mojeek")


def load_answer(engine: str, name: str) -> dict[str, Any]:
    """Return the `status`, `headers` and `body` of a recorded answer."""
    recording: dict[str, Any] = json.loads((ANSWERS_FOLDER / engine / f"{name}.json").read_text(encoding="utf-8"))
    return recording


def answer_bytes(engine: str, name: str) -> bytes:
    """Return a recorded answer as an HTTP response."""
    recording = load_answer(engine, name)
    return response_bytes(json.dumps(recording["body"]).encode(), recording["status"], **recording["headers"])


def response_bytes(body: bytes, status: int = 200, **headers: str) -> bytes:
    """Return an HTTP response. Statuses that the standard does not define get the phrase "Own"."""
    name = {known.value: known.phrase for known in HTTPStatus}.get(status, "Own")
    return response(body, f"{status} {name}", **headers)


def run_search(
    engine: str, request: SearchRequest, data: bytes | Callable[[Call], bytes]
) -> tuple[tuple[Hit, ...], Call]:
    """Return the hits of a real request to a server that answers with `data`, and the request that it received."""

    async def run(base: str, endpoint: str) -> tuple[Hit, ...]:
        async with HttpFetcher(Config(), "Keyhole-Test/1.0", apis=frozenset({endpoint})) as fetcher:
            return await ENGINE_FACTORIES[engine](base, fetcher).search(request)

    def talk(call: Call) -> None:
        call.send(data(call) if callable(data) else data)

    with serve(lambda _: talk) as site:
        hits = asyncio.run(run(site.url("").rstrip("/"), site.endpoint))
        (call,) = site.calls
        return hits, call
