"""Serper API for Google's web and news results. Reads only the organic results, not answer boxes, questions or maps."""

from __future__ import annotations

from typing import Final

from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import KeyedEngine
from keyhole.websearch.hits import build_hits
from keyhole.websearch.replies import decode_reply, expect_shape
from keyhole.websearch.request import MAX_QUERY, build_post, build_query, result_count

MAX_WORDS: Final = 32
"""Words of a query. Google ignores further words, so the site operators must be within the limit."""
MAX_COUNT: Final = 100
"""Results. More than 10 cost a second credit."""

_FRESHNESS: Final = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}


class SerperEngine(KeyedEngine):
    """Serper with an API key. `hl` only sets the interface language, so the language filter is not applied."""

    name = "serper"
    default_url = "https://google.serper.dev"
    supported_filters = frozenset({"sites", "exclude_sites", "freshness", "country", "news"})

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """Return the hits in Google's order."""
        return await self._hits(build_call(self._base_url, self._key, request), parse, request.kind)


def build_call(base_url: str, key: str, request: SearchRequest) -> ApiCall:
    """Return the API call for a request."""
    fields = {
        "q": build_query(request, MAX_QUERY, MAX_WORDS),
        "num": result_count(request, MAX_COUNT),
        "gl": request.country.lower(),
        "hl": request.language.lower(),
        "tbs": _FRESHNESS.get(request.freshness, ""),
    }
    path = "news" if request.kind == "news" else "search"
    return build_post(f"{base_url.rstrip('/')}/{path}", fields, {"X-API-KEY": key})


def parse(reply: ApiReply, kind: str) -> tuple[Hit, ...]:
    """Return the hits of a reply. Relative dates, which most news have, are dropped.

    A reply contains `searchParameters` even if nothing was found.
    """
    answer = decode_reply(reply, "serper", has_key=True)
    with expect_shape("serper"):
        section = "news" if kind == "news" else "organic"
        rows = answer.get(section, []) if "searchParameters" in answer else answer[section]
        return build_hits(rows, ("link", "title", "snippet"), "serper", "date")
