"""Tavily's search API. Asks for excerpts, never for whole pages, generated answers or images."""

from __future__ import annotations

from typing import Final

from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import hits_from
from keyhole.websearch.engines.countries import COUNTRIES
from keyhole.websearch.engines.keyed import KeyedEngine
from keyhole.websearch.faults import shaped, understood
from keyhole.websearch.request import count, fitted, post

MAX_CHARS: Final = 400
"""Of a query; more is refused with 400."""
MAX_COUNT: Final = 20


class TavilyEngine(KeyedEngine):
    """Tavily with an API key. It prefers a country's pages for `web` only, and knows no languages."""

    name = "tavily"
    home = "https://api.tavily.com"
    applies = frozenset({"sites", "exclude_sites", "freshness", "country", "news"})

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """The results in Tavily's order."""
        return parse(await self._api.ask(api_call(self._base_url, self._key, request)), self._key)


def api_call(base_url: str, key: str, request: SearchRequest) -> ApiCall:
    """The call for a request; the basic depth costs one credit."""
    news = request.kind == "news"
    fields = {
        "query": fitted(request.query, MAX_CHARS),
        "topic": "news" if news else "general",
        "search_depth": "basic",
        "max_results": count(request, MAX_COUNT),
        "time_range": request.freshness,
        "include_domains": list(request.sites),
        "exclude_domains": list(request.exclude_sites),
        "country": "" if news else COUNTRIES.get(request.country.lower(), ""),
        "include_answer": False,
        "include_raw_content": False,
        "include_images": False,
    }
    return post(f"{base_url.rstrip('/')}/search", fields, {"Authorization": f"Bearer {key}"})


def parse(reply: ApiReply, key: str) -> tuple[Hit, ...]:
    """The hits of an answer; only news have dates."""
    answer = understood(reply, "tavily", key)
    with shaped("tavily"):
        return hits_from(answer["results"], ("url", "title", "content"), "tavily", "published_date")
