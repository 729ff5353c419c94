"""Wikipedia, or another MediaWiki, through its Action API, which needs no key. Searches one wiki, not the web."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urljoin

from keyhole.fetch.base import Api, ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.text.sites import allowed_by_sites
from keyhole.websearch.base import hits_from
from keyhole.websearch.faults import shaped, understood
from keyhole.websearch.request import count, fitted, get
from keyhole.websearch.rows import rows_of

MAX_CHARS: Final = 300
"""Of a query; CirrusSearch, which Wikipedia runs, refuses more."""
MAX_COUNT: Final = 50
"""Results; wikis allow 500, and nobody needs so many of one wiki."""

_SUBDOMAINS: Final = {
    "nb": "no", "zh-hant": "zh", "zh-hans": "zh", "yue": "zh-yue", "nan": "zh-min-nan", "lzh": "zh-classical",
    "gsw": "als", "rup": "roa-rup", "sgs": "bat-smg", "vro": "fiu-vro", "fil": "tl", "iw": "he", "in": "id",
}  # fmt: skip
"""Wikipedias whose subdomain is not their language's subtag."""


class MediaWikiEngine:
    """One wiki: Wikipedia in the language of the question, English without one, or the wiki of the settings."""

    name = "wikipedia"

    def __init__(self, api: Api, api_url: str = "") -> None:
        """`api_url`: where the wiki's api.php is."""
        self._api = api
        self._api_url = api_url

    @property
    def applies(self) -> frozenset[str]:
        """As in the port. Articles have no date of publication, and a wiki of one's own has one language."""
        sites = frozenset({"sites", "exclude_sites"})
        return sites if self._api_url else sites | {"language"}

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """Articles in the wiki's order; none, without asking, where the call's sites leave Wikipedia out."""
        url = self._api_url or wikipedia(request.language)
        if not self._api_url and not allowed_by_sites(url, request):
            return ()
        found = parse(await self._api.ask(api_call(url, request)), url)
        return tuple(hit for hit in found if allowed_by_sites(hit.url, request))


def wikipedia(language: str) -> str:
    """The API of Wikipedia in a language."""
    tag = language.lower()
    subtag = tag.partition("-")[0]
    name = _SUBDOMAINS.get(tag) or _SUBDOMAINS.get(subtag) or subtag
    return f"https://{name if re.fullmatch('[a-z][a-z-]{1,19}', name) else 'en'}.wikipedia.org/w/api.php"


def api_call(api_url: str, request: SearchRequest) -> ApiCall:
    """The call for a request; the wiki is also asked where its articles are, as only it knows."""
    fields: dict[str, str | int] = {
        "action": "query",
        "format": "json",
        "formatversion": 2,
        "list": "search",
        "srsearch": fitted(request.query, MAX_CHARS),
        "srlimit": count(request, MAX_COUNT),
        "srprop": "snippet",
        "meta": "siteinfo",
        "siprop": "general",
    }
    return get(api_url, fields)


def parse(reply: ApiReply, api_url: str) -> tuple[Hit, ...]:
    """The hits of an answer."""
    query = understood(reply, "wikipedia")
    with shaped("wikipedia"):
        general, rows = query["query"]["general"], query["query"]["search"]
        placed = [{**row, "url": article(general, api_url, row["title"])} for row in rows_of(rows)]
        return hits_from(placed, ("url", "title", "snippet"), "wikipedia", marked_up=True)


def article(general: Mapping[str, Any], api_url: str, title: str) -> str:
    """The address of an article, as MediaWiki writes it: https for a wiki that is asked over it."""
    name = quote(title.replace(" ", "_"), safe=";@$!*(),/~:-._")
    place = str(general["articlepath"]).replace("$1", name)
    return urljoin(urljoin(api_url, str(general["server"])), place)
