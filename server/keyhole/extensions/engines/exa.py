"""Exa search API. Requests short highlights of each page, no page text and no summaries."""

from __future__ import annotations

from typing import Final

from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import KeyedEngine
from keyhole.websearch.hits import MAX_SNIPPET, build_hits
from keyhole.websearch.replies import decode_reply, expect_shape
from keyhole.websearch.request import build_post, freshness_start, result_count, truncate_query

MAX_CHARS: Final = 2_000
"""Characters of a query. It is the limit of the search tool, since Exa understands whole sentences."""
MAX_COUNT: Final = 25
"""Results. A search costs the same up to 25; the API returns at most 100 with highlights."""


class ExaEngine(KeyedEngine):
    """Exa with an API key. Its freshness is a start date, so it applies freshness only with a clock."""

    name = "exa"
    default_url = "https://api.exa.ai"

    @property
    def supported_filters(self) -> frozenset[str]:
        """The filters that Exa applies itself."""
        always = frozenset({"sites", "exclude_sites", "country", "news"})
        return always | {"freshness"} if self._clock else always

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """Return the hits in Exa's order."""
        return await self._hits(build_call(self._base_url, self._key, request, self._now()), parse)


def build_call(base_url: str, key: str, request: SearchRequest, now: float | None) -> ApiCall:
    """Return the API call for a request. `now`: seconds since the epoch."""
    start = freshness_start(request.freshness, now) if request.freshness and now is not None else None
    fields = {
        "query": truncate_query(request.query, MAX_CHARS),
        "type": "auto",
        "numResults": result_count(request, MAX_COUNT),
        "category": "news" if request.kind == "news" else "",
        "includeDomains": list(request.sites),
        "excludeDomains": list(request.exclude_sites),
        "startPublishedDate": start.strftime("%Y-%m-%dT%H:%M:%S.000Z") if start else "",
        "userLocation": request.country.upper(),
        "contents": {"highlights": {"maxCharacters": MAX_SNIPPET}},
    }
    return build_post(f"{base_url.rstrip('/')}/search", fields, {"x-api-key": key})


def parse(reply: ApiReply) -> tuple[Hit, ...]:
    """Return the hits of a reply."""
    answer = decode_reply(reply, "exa", has_key=True)
    with expect_shape("exa"):
        return build_hits(answer["results"], ("url", "title", "highlights"), "exa", "publishedDate")
