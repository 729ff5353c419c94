"""Mojeek's search API, which has an index of its own and takes its key in the URL."""

from __future__ import annotations

from typing import Final

from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import hits_from
from keyhole.websearch.engines.keyed import KeyedEngine
from keyhole.websearch.faults import refusal, shaped, understood
from keyhole.websearch.request import count, fitted, get, since

MAX_COUNT: Final = 20
"""Results. The documentation names no bound, plans do; a page of 20 is within all of them."""
REGION_BOOST: Final = 10
"""Of 100, how much a region's pages rise: as Mojeek recommends."""
LANGUAGE_BOOST: Final = 50
"""Of 100. A language matters more than a region, and must not drown relevance."""


class MojeekEngine(KeyedEngine):
    """Mojeek with an API key. A week is a date to it, so that it needs a clock to apply a freshness; it restricts to
    one site at most, leaves none out, and leans towards a language without keeping to it."""

    name = "mojeek"
    home = "https://api.mojeek.com"

    @property
    def applies(self) -> frozenset[str]:
        """As in the port."""
        return frozenset({"freshness", "country"} if self._clock else {"country"})

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """The results in Mojeek's order."""
        return parse(await self._api.ask(api_call(self._base_url, self._key, request, self._now())), self._key)


def api_call(base_url: str, key: str, request: SearchRequest, now: float | None) -> ApiCall:
    """The call for a request."""
    language = request.language.partition("-")[0].upper()
    fields: dict[str, str | int] = {
        "q": fitted(request.query),
        "fmt": "json",
        "t": count(request, MAX_COUNT),
        "site": request.sites[0] if len(request.sites) == 1 else "",
        "since": since(request.freshness, now).strftime("%Y%m%d") if request.freshness and now is not None else "",
        "lb": language,
        "lbb": LANGUAGE_BOOST if language else "",
        "rb": request.country.upper(),
        "rbb": REGION_BOOST if request.country else "",
        "api_key": key,
    }
    return get(f"{base_url.rstrip('/')}/search", fields)


def parse(reply: ApiReply, key: str) -> tuple[Hit, ...]:
    """The hits of an answer, which says in words whether it is one."""
    answer = understood(reply, "mojeek", key)
    with shaped("mojeek"):
        found = answer.get("response", answer)
        status = found["status"]
        if status != "OK":
            raise refusal("mojeek", str(status)[:300].removeprefix("ERROR: "), reply.status)
        return hits_from(found.get("results") or [], ("url", "title", "desc"), "mojeek", marked_up=True)
