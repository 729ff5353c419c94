"""Serper's API to Google's web and news results. Takes the organic results, no answer boxes, questions or maps."""

from __future__ import annotations

from typing import Final

from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import hits_from
from keyhole.websearch.engines.keyed import KeyedEngine
from keyhole.websearch.faults import shaped, understood
from keyhole.websearch.request import MAX_QUERY, count, fitted_with_sites, post

MAX_WORDS: Final = 32
"""Of a query: Google reads no further, and site operators must not stand beyond."""
MAX_COUNT: Final = 100
"""Results; more than 10 cost a second credit."""

_FRESHNESS: Final = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}


class SerperEngine(KeyedEngine):
    """Serper with an API key. A language is the interface's, which only leans the results: it is not applied."""

    name = "serper"
    home = "https://google.serper.dev"
    applies = frozenset({"sites", "exclude_sites", "freshness", "country", "news"})

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """The results in Google's order."""
        return parse(await self._api.ask(api_call(self._base_url, self._key, request)), request.kind, self._key)


def api_call(base_url: str, key: str, request: SearchRequest) -> ApiCall:
    """The call for a request."""
    fields = {
        "q": fitted_with_sites(request, MAX_QUERY, MAX_WORDS),
        "num": count(request, MAX_COUNT),
        "gl": request.country.lower(),
        "hl": request.language.lower(),
        "tbs": _FRESHNESS.get(request.freshness, ""),
    }
    place = "news" if request.kind == "news" else "search"
    return post(f"{base_url.rstrip('/')}/{place}", fields, {"X-API-KEY": key})


def parse(reply: ApiReply, kind: str, key: str) -> tuple[Hit, ...]:
    """The hits of an answer, which repeats its parameters even where it found nothing; most dates of news are
    relative and left out."""
    answer = understood(reply, "serper", key)
    with shaped("serper"):
        place = "news" if kind == "news" else "organic"
        rows = answer.get(place, []) if "searchParameters" in answer else answer[place]
        return hits_from(rows, ("link", "title", "snippet"), "serper", "date")
