"""Build API calls from search requests: result counts, query lengths, dates and URLs. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import quote, urlencode

from keyhole.fetch.base import ApiCall
from keyhole.records import SearchRequest

MIN_COUNT: Final = 10
"""Minimum of results to request. Every engine returns ten on one page, at the price of one result."""
DAYS: Final = {"day": 1, "week": 7, "month": 31, "year": 365}
"""The length of each freshness in days, as Brave defines them."""
MAX_QUERY: Final = 400
"""Characters of a query, for engines that document no limit. It is the limit of Brave and Tavily. At nine bytes per
character in a URL, a query stays far below the 8 KB that servers accept."""


def result_count(request: SearchRequest, maximum: int) -> int:
    """Return how many results to request: twice `max_results`, since some are filtered out, merged or unreadable."""
    return min(maximum, max(MIN_COUNT, 2 * request.max_results))


def truncate_query(query: str, chars: int = MAX_QUERY, words: int = MAX_QUERY) -> str:
    """Return the first `words` words of a query, at most `chars` characters, cut between words if possible."""
    cut = " ".join(query.split()[:words])
    return cut if len(cut) <= chars else cut[: chars + 1].rpartition(" ")[0][:chars] or cut[:chars]


def build_query(request: SearchRequest, chars: int = MAX_QUERY, words: int = MAX_QUERY, extra: str = "") -> str:
    """Return the query, truncated to fit, followed by its `site:` operators and the operators in `extra`.

    Operators that would take more than half of the limit are left out. The hits are filtered by site afterwards.
    """
    operators = f"{add_site_operators(replace(request, query=''))} {extra}".strip()
    chars_left, words_left = chars - len(operators) - 1, words - len(operators.split())
    if not operators or chars_left < chars // 2 or words_left < words // 2:
        return truncate_query(request.query, chars, words)
    return f"{truncate_query(request.query, chars_left, words_left)} {operators}"


def add_site_operators(request: SearchRequest) -> str:
    """Return the query with the `site:` and `-site:` operators that most engines understand."""
    sites = " OR ".join(f"site:{site}" for site in request.sites)
    excluded = " ".join(f"-site:{site}" for site in request.exclude_sites)
    grouped = f"({sites})" if len(request.sites) > 1 else sites
    return " ".join(part for part in (request.query, grouped, excluded) if part)


def freshness_start(freshness: str, now: float) -> datetime:
    """Return the earliest publication time that a freshness allows. `now`: seconds since the epoch."""
    return datetime.fromtimestamp(now, UTC) - timedelta(days=DAYS[freshness])


def build_get(url: str, fields: Mapping[str, str | int], headers: Mapping[str, str] | None = None) -> ApiCall:
    """Return a GET request with `fields` as its query, without the empty ones."""
    present = {name: value for name, value in fields.items() if value != ""}
    query = urlencode(present, errors="replace", quote_via=quote)
    return ApiCall(f"{url}?{query}", tuple((headers or {}).items()))


def build_post(url: str, fields: Mapping[str, Any], headers: Mapping[str, str]) -> ApiCall:
    """Return a POST request with `fields` as JSON, without the empty ones."""
    present = {name: value for name, value in fields.items() if value not in ("", [], None)}
    return ApiCall(url, tuple(headers.items()), json.dumps(present).encode())
