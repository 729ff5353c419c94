"""What a request becomes for an API: how many results, in how many words, since when, under which URL. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import quote, urlencode

from keyhole.fetch.base import ApiCall
from keyhole.records import SearchRequest
from keyhole.websearch.base import with_sites

MIN_COUNT: Final = 10
"""Results. One page of every engine, which costs what a single result does."""
DAYS: Final = {"day": 1, "week": 7, "month": 31, "year": 365}
"""How far back a freshness reaches, as Brave defines its own."""
MAX_QUERY: Final = 400
"""Characters of a query where an engine names no other bound: that of Brave and Tavily. Nine bytes each in a URL, they
stay far below the 8 KB that servers take."""


def count(request: SearchRequest, most: int) -> int:
    """How many results to ask for: twice what is wanted, as some are filtered out, merged or cannot be read."""
    return min(most, max(MIN_COUNT, 2 * request.max_results))


def fitted(query: str, chars: int = MAX_QUERY, words: int = MAX_QUERY) -> str:
    """The beginning of a query that an API takes, cut between words where it has any."""
    cut = " ".join(query.split()[:words])
    return cut if len(cut) <= chars else cut[: chars + 1].rpartition(" ")[0][:chars] or cut[:chars]


def fitted_with_sites(request: SearchRequest, chars: int = MAX_QUERY, words: int = MAX_QUERY, more: str = "") -> str:
    """The query with its `site:` operators and `more` of them: the query is cut to fit. Operators that leave it no half
    of the room are left out, as the hits are filtered once more."""
    operators = f"{with_sites(replace(request, query=''))} {more}".strip()
    room, left = chars - len(operators) - 1, words - len(operators.split())
    if not operators or room < chars // 2 or left < words // 2:
        return fitted(request.query, chars, words)
    return f"{fitted(request.query, room, left)} {operators}"


def since(freshness: str, now: float) -> datetime:
    """When the stretch of a freshness began."""
    return datetime.fromtimestamp(now, UTC) - timedelta(days=DAYS[freshness])


def get(url: str, fields: Mapping[str, str | int], headers: Mapping[str, str] | None = None) -> ApiCall:
    """A GET with a query; fields without a value are left out."""
    given = {name: value for name, value in fields.items() if value != ""}
    query = urlencode(given, errors="replace", quote_via=quote)
    return ApiCall(f"{url}?{query}", tuple((headers or {}).items()))


def post(url: str, fields: Mapping[str, Any], headers: Mapping[str, str]) -> ApiCall:
    """A POST of JSON; fields without a value are left out."""
    given = {name: value for name, value in fields.items() if value not in ("", [], None)}
    return ApiCall(url, tuple(headers.items()), json.dumps(given).encode())
