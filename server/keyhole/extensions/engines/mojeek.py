"""Mojeek search API, with an index of its own. The API key is part of the URL."""

from __future__ import annotations

from typing import Final

from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import KeyedEngine
from keyhole.websearch.hits import build_hits
from keyhole.websearch.replies import decode_reply, expect_shape, refusal_error
from keyhole.websearch.request import build_get, freshness_start, result_count, truncate_query

MAX_COUNT: Final = 20
"""Results. Limits depend on the plan; every plan allows 20."""
REGION_BOOST: Final = 10
"""Boost of the region's pages, from 0 to 100, as Mojeek recommends."""
LANGUAGE_BOOST: Final = 50
"""Boost of the language's pages, from 0 to 100: more than a region's, but not enough to outweigh relevance."""


class MojeekEngine(KeyedEngine):
    """Mojeek with an API key.

    Its freshness is a start date, so it applies freshness only with a clock. It can restrict results to one site. It
    cannot exclude sites, and prefers a language without filtering by it.
    """

    name = "mojeek"
    default_url = "https://api.mojeek.com"

    @property
    def supported_filters(self) -> frozenset[str]:
        """The filters that Mojeek applies itself."""
        return frozenset({"freshness", "country"} if self._clock else {"country"})

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """Return the hits in Mojeek's order."""
        return await self._hits(build_call(self._base_url, self._key, request, self._now()), parse)


def build_call(base_url: str, key: str, request: SearchRequest, now: float | None) -> ApiCall:
    """Return the API call for a request. `now`: seconds since the epoch."""
    language = request.language.partition("-")[0].upper()
    fields: dict[str, str | int] = {
        "q": truncate_query(request.query),
        "fmt": "json",
        "t": result_count(request, MAX_COUNT),
        "site": request.sites[0] if len(request.sites) == 1 else "",
        "since": freshness_start(request.freshness, now).strftime("%Y%m%d")
        if request.freshness and now is not None
        else "",
        "lb": language,
        "lbb": LANGUAGE_BOOST if language else "",
        "rb": request.country.upper(),
        "rbb": REGION_BOOST if request.country else "",
        "api_key": key,
    }
    return build_get(f"{base_url.rstrip('/')}/search", fields)


def parse(reply: ApiReply) -> tuple[Hit, ...]:
    """Return the hits of a reply. Its `status` is "OK" or an error message."""
    answer = decode_reply(reply, "mojeek", has_key=True)
    with expect_shape("mojeek"):
        response = answer.get("response", answer)
        status = response["status"]
        if status != "OK":
            raise refusal_error("mojeek", str(status)[:300].removeprefix("ERROR: "), reply.status)
        return build_hits(response.get("results") or [], ("url", "title", "desc"), "mojeek", marked_up=True)
