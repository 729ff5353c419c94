"""SearXNG through its JSON API, at the instances that the operator configured."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode, urlsplit

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import Engine, SearchApi
from keyhole.websearch.failover import Failover
from keyhole.websearch.hits import NotedHits, build_hits, parse_rows, to_iso_date
from keyhole.websearch.replies import decode_reply
from keyhole.websearch.request import build_query

MAX_CHARS = 600
"""Characters of a query with its operators. A character takes up to 12 bytes in a URL, and servers accept 8 KB."""
MAX_BAN = 120.0
"""Seconds for which an instance suspends an engine after failures: SearXNG's default `max_ban_time_on_fail`. searx 1.1
does not report suspended engines, so its answers are empty during that time."""


class SearxngEngine:
    """One SearXNG instance; `search.formats` in its settings must contain `json`."""

    name = "searxng"
    supported_filters = frozenset({"sites", "exclude_sites", "freshness", "language", "locale", "news"})

    def __init__(self, base_url: str, api: SearchApi, ticks: Callable[[], float] = time.monotonic) -> None:
        """`ticks`: returns seconds of a monotonic clock."""
        self._base_url = base_url
        self._api = api
        self._ticks = ticks
        self._failed_at: float | None = None

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """Return the hits in the instance's order.

        Raises KeyholeError also for an empty answer within `MAX_BAN` seconds after a failed one.
        """
        try:
            hits = await self._api.hits(ApiCall(build_url(self._base_url, request)), parse)
        except KeyholeError as error:
            if error.code is Code.ENGINE_UNAVAILABLE and "status" not in error.facts:  # its own engines failed
                self._failed_at = self._ticks()
            raise
        if hits:
            self._failed_at = None
        elif self._failed_at is not None and self._ticks() - self._failed_at < MAX_BAN:
            raise KeyholeError(Code.ENGINE_UNAVAILABLE, "SearXNG's engines failed and may be paused")
        return hits


def build_url(base_url: str, request: SearchRequest) -> str:
    """Return the URL of the API call for a request."""
    fields = {"q": build_query(request, MAX_CHARS), "format": "json", "safesearch": "0"}
    if request.kind == "news":
        fields["categories"] = "news"
    if request.language:
        fields["language"] = _locale(request)
    if request.freshness:
        fields["time_range"] = request.freshness
    return f"{base_url.rstrip('/')}/search?{urlencode(fields, errors='replace')}"


def build_searxng(urls: Sequence[str], api: SearchApi, timeout: float) -> Engine:
    """Build one engine of one or several instances. `timeout`: seconds for all instances together."""
    engines = [(_label(url), SearxngEngine(url, api)) for url in urls]
    return engines[0][1] if len(engines) == 1 else Failover("searxng", engines, timeout)


def parse(reply: ApiReply) -> tuple[Hit, ...]:
    """Return the hits of a reply. Raises KeyholeError for a refusal, or if it is empty because engines failed."""
    answer = _decode(reply)
    try:
        hits = tuple(hit for row in parse_rows(answer["results"]) for hit in _parse_row(row))
        failed = answer.get("unresponsive_engines")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, "SearXNG's answer is not in its JSON format") from error
    if not failed:
        return hits
    rows = failed if isinstance(failed, list) else [failed]
    engines = f"{len({str(row[0] if isinstance(row, list) and row else row) for row in rows}):,} of its engines"
    if not hits:
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, f"SearXNG found nothing, and {engines} failed")
    return NotedHits.with_note(hits, f"without {engines}")


def _decode(reply: ApiReply) -> Any:
    """Return the JSON of a reply. Raises KeyholeError for a refusal."""
    try:
        return decode_reply(reply, "SearXNG")
    except KeyholeError as error:
        if reply.status != 403 or error.code is not Code.ENGINE_UNAVAILABLE:
            raise
        hint = "SearXNG answers HTTP 403: is its JSON format enabled?"
        raise KeyholeError(error.code, hint, **error.facts) from error


def _parse_row(row: Mapping[str, Any]) -> tuple[Hit, ...]:
    """Return the hit of a row that has a URL. In older versions, only `pubdate` is machine-readable."""
    hits = build_hits([row], ("url", "title", "content"), "searxng")
    return tuple(
        replace(hit, date=to_iso_date(row.get("pubdate")) or to_iso_date(row.get("publishedDate"))) for hit in hits
    )


def _locale(request: SearchRequest) -> str:
    """Return the value of SearXNG's `language`, which contains the country too, as in de-AT."""
    language, *more = request.language.split("-")
    region = more[-1] if more and len(more[-1]) == 2 else ""
    country = request.country or region
    return f"{language.lower()}-{country.upper()}" if country else language.lower()


def _label(url: str) -> str:
    """Return host, port and path of an instance, without a user name, as its label in reports."""
    parts = urlsplit(url)
    return (parts.netloc.rpartition("@")[2] + parts.path).rstrip("/")
