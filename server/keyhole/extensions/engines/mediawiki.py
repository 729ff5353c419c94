"""Search Wikipedia or another MediaWiki through the Action API, which needs no key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urljoin

from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.text.sites import is_allowed_by_sites
from keyhole.websearch.base import SearchApi
from keyhole.websearch.hits import build_hits, parse_rows
from keyhole.websearch.replies import decode_reply, expect_shape
from keyhole.websearch.request import build_get, result_count, truncate_query

MAX_CHARS: Final = 300
"""Characters of a query; CirrusSearch, which Wikipedia uses, refuses longer ones."""
MAX_COUNT: Final = 50
"""Results. Wikis allow 500, which no search needs."""

_SUBDOMAINS: Final = {
    "nb": "no", "zh-hant": "zh", "zh-hans": "zh", "yue": "zh-yue", "nan": "zh-min-nan", "lzh": "zh-classical",
    "gsw": "als", "rup": "roa-rup", "sgs": "bat-smg", "vro": "fiu-vro", "fil": "tl", "iw": "he", "in": "id",
}  # fmt: skip
"""Subdomains of Wikipedia that differ from the language subtag."""


class MediaWikiEngine:
    """One wiki: the configured wiki, or Wikipedia in the request's language, by default English."""

    name = "wikipedia"

    def __init__(self, api: SearchApi, api_url: str = "") -> None:
        """`api_url`: the URL of the wiki's api.php; "" for Wikipedia."""
        self._api = api
        self._api_url = api_url

    @property
    def supported_filters(self) -> frozenset[str]:
        """The filters that the engine applies: sites, and for Wikipedia the language. Other wikis have one language."""
        sites = frozenset({"sites", "exclude_sites"})
        return sites if self._api_url else sites | {"language"}

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """Return articles in the wiki's order. Sends no request if the site filters exclude Wikipedia."""
        url = self._api_url or wikipedia_api_url(request.language)
        if not self._api_url and not is_allowed_by_sites(url, request):
            return ()
        hits = await self._api.hits(build_call(url, request), parse, url)
        return tuple(hit for hit in hits if is_allowed_by_sites(hit.url, request))


def wikipedia_api_url(language: str) -> str:
    """Return the API URL of Wikipedia in a language."""
    tag = language.lower()
    subtag = tag.partition("-")[0]
    name = _SUBDOMAINS.get(tag) or _SUBDOMAINS.get(subtag) or subtag
    return f"https://{name if re.fullmatch('[a-z][a-z-]{1,19}', name) else 'en'}.wikipedia.org/w/api.php"


def build_call(api_url: str, request: SearchRequest) -> ApiCall:
    """Return the API call for a request. It includes the site info, which contains the URL pattern of articles."""
    fields: dict[str, str | int] = {
        "action": "query",
        "format": "json",
        "formatversion": 2,
        "list": "search",
        "srsearch": truncate_query(request.query, MAX_CHARS),
        "srlimit": result_count(request, MAX_COUNT),
        "srprop": "snippet",
        "meta": "siteinfo",
        "siprop": "general",
    }
    return build_get(api_url, fields)


def parse(reply: ApiReply, api_url: str) -> tuple[Hit, ...]:
    """Return the hits of a reply."""
    answer = decode_reply(reply, "wikipedia")
    with expect_shape("wikipedia"):
        general, rows = answer["query"]["general"], answer["query"]["search"]
        linked = [{**row, "url": article_url(general, api_url, row["title"])} for row in parse_rows(rows)]
        return build_hits(linked, ("url", "title", "snippet"), "wikipedia", marked_up=True)


def article_url(general: Mapping[str, Any], api_url: str, title: str) -> str:
    """Return the URL of an article as MediaWiki writes it, with the scheme of `api_url`."""
    name = quote(title.replace(" ", "_"), safe=";@$!*(),/~:-._")
    path = str(general["articlepath"]).replace("$1", name)
    return urljoin(urljoin(api_url, str(general["server"])), path)
