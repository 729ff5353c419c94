"""SearXNG through its JSON API. Asks the instance that the operator's settings name, nothing else."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode, urlsplit

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import Api, ApiCall
from keyhole.records import Hit, SearchRequest
from keyhole.text.measure import clip
from keyhole.websearch.base import Engine, Hits, hits_from
from keyhole.websearch.dates import iso
from keyhole.websearch.failover import Failover
from keyhole.websearch.faults import understood
from keyhole.websearch.request import fitted_with_sites
from keyhole.websearch.rows import rows_of

MAX_CHARS = 600
"""Of a query with its operators. In a URL a character takes up to twelve bytes, and servers take 8 KB."""
MAX_NAMES = 100
"""Bytes of the engines named that an instance could not ask."""
MAX_BAN = 120.0
"""Seconds for which an instance lets an engine rest after failures, by its default `max_ban_time_on_fail`. searx 1.1
names such an engine nowhere, so that its answers look like those to a question that nothing answers."""


class SearxngEngine:
    """One SearXNG instance; `search.formats` in its settings must contain `json`."""

    name = "searxng"
    applies = frozenset({"sites", "exclude_sites", "freshness", "language", "locale", "news"})

    def __init__(self, base_url: str, api: Api, ticks: Callable[[], float] = time.monotonic) -> None:
        """`ticks`: seconds of a clock that never goes back."""
        self._base_url = base_url
        self._api = api
        self._ticks = ticks
        self._failed_at: float | None = None

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """The instance's results in its order."""
        reply = await self._api.ask(ApiCall(search_url(self._base_url, request)))
        try:
            understood(reply, "SearXNG")
        except KeyholeError as error:
            if reply.status != 403 or error.code is not Code.ENGINE_UNAVAILABLE:
                raise
            hint = "SearXNG answers HTTP 403: is its JSON format enabled?"
            raise KeyholeError(error.code, hint, **error.facts) from error
        return self._remembered(reply.body)

    def _remembered(self, body: bytes) -> tuple[Hit, ...]:
        """The hits of an answer, where an empty one just after a failure is doubted."""
        try:
            hits = parse(body)
        except KeyholeError:
            self._failed_at = self._ticks()
            raise
        if hits:
            self._failed_at = None
        elif self._failed_at is not None and self._ticks() - self._failed_at < MAX_BAN:
            raise KeyholeError(Code.ENGINE_UNAVAILABLE, "SearXNG's engines failed and may be resting")
        return hits


def search_url(base_url: str, request: SearchRequest) -> str:
    """The API call for a request."""
    fields = {"q": fitted_with_sites(request, MAX_CHARS), "format": "json", "safesearch": "0"}
    if request.kind == "news":
        fields["categories"] = "news"
    if request.language:
        fields["language"] = _locale(request)
    if request.freshness:
        fields["time_range"] = request.freshness
    return f"{base_url.rstrip('/')}/search?{urlencode(fields, errors='replace')}"


def instances(urls: Sequence[str], api: Api, timeout: float) -> Engine:
    """One or several instances as one engine. `timeout`: seconds for all of them."""
    engines = [(_label(url), SearxngEngine(url, api)) for url in urls]
    return engines[0][1] if len(engines) == 1 else Failover("searxng", engines, timeout)


def parse(body: bytes) -> tuple[Hit, ...]:
    """The hits of an answer. An empty answer of an instance whose engines all failed is a failure, not emptiness."""
    try:
        answer = json.loads(body)
        hits = tuple(hit for row in rows_of(answer["results"]) for hit in _hits(row))
        failed = answer.get("unresponsive_engines")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, "SearXNG's answer is not its JSON format") from error
    if not failed:
        return hits
    lost = failed if isinstance(failed, list) else [failed]
    names = clip(", ".join(sorted({str(row[0] if isinstance(row, list) and row else row) for row in lost})), MAX_NAMES)
    if not hits:
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, f"SearXNG's engines failed: {names}")
    return Hits.noted(hits, f"without {names}")


def _hits(row: Mapping[str, Any]) -> tuple[Hit, ...]:
    """The hit of a row, if it has an address. Its `publishedDate` is worded for readers in older versions."""
    found = hits_from([row], ("url", "title", "content"), "searxng")
    return tuple(replace(hit, date=iso(row.get("pubdate")) or iso(row.get("publishedDate"))) for hit in found)


def _locale(request: SearchRequest) -> str:
    """SearXNG's `language`, which has a country only together with a language, as in de-AT."""
    language, *more = request.language.split("-")
    region = more[-1] if more and len(more[-1]) == 2 else ""
    country = request.country or region
    return f"{language.lower()}-{country.upper()}" if country else language.lower()


def _label(url: str) -> str:
    """Host, port and path of an instance: what tells it from the others, without a user name."""
    parts = urlsplit(url)
    return (parts.netloc.rpartition("@")[2] + parts.path).rstrip("/")
