"""Exa's search API. Asks for short highlights of each page, never for its text or a summary."""

from __future__ import annotations

from typing import Final

from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import hits_from
from keyhole.websearch.engines.keyed import KeyedEngine
from keyhole.websearch.faults import shaped, understood
from keyhole.websearch.request import count, fitted, post, since
from keyhole.websearch.rows import MAX_SNIPPET

MAX_CHARS: Final = 2_000
"""Of a query: as much as the tool takes, since this engine reads sentences."""
MAX_COUNT: Final = 25
"""Results. Up to here a search costs the same; 100 are the most with highlights."""


class ExaEngine(KeyedEngine):
    """Exa with an API key. It wants the date that a freshness began on, so that it needs a clock to apply one."""

    name = "exa"
    home = "https://api.exa.ai"

    @property
    def applies(self) -> frozenset[str]:
        """As in the port."""
        always = frozenset({"sites", "exclude_sites", "country", "news"})
        return always | {"freshness"} if self._clock else always

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """The results in Exa's order."""
        return parse(await self._api.ask(api_call(self._base_url, self._key, request, self._now())), self._key)


def api_call(base_url: str, key: str, request: SearchRequest, now: float | None) -> ApiCall:
    """The call for a request."""
    start = since(request.freshness, now) if request.freshness and now is not None else None
    fields = {
        "query": fitted(request.query, MAX_CHARS),
        "type": "auto",
        "numResults": count(request, MAX_COUNT),
        "category": "news" if request.kind == "news" else "",
        "includeDomains": list(request.sites),
        "excludeDomains": list(request.exclude_sites),
        "startPublishedDate": start.strftime("%Y-%m-%dT%H:%M:%S.000Z") if start else "",
        "userLocation": request.country.upper(),
        "contents": {"highlights": {"maxCharacters": MAX_SNIPPET}},
    }
    return post(f"{base_url.rstrip('/')}/search", fields, {"x-api-key": key})


def parse(reply: ApiReply, key: str) -> tuple[Hit, ...]:
    """The hits of an answer."""
    answer = understood(reply, "exa", key)
    with shaped("exa"):
        return hits_from(answer["results"], ("url", "title", "highlights"), "exa", "publishedDate")
