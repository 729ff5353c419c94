"""Brave's web and news search API, which has an index of its own. Asks for titles and descriptions, nothing more."""

from __future__ import annotations

from typing import Final

from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import hits_from
from keyhole.websearch.engines.keyed import KeyedEngine
from keyhole.websearch.faults import shaped, understood
from keyhole.websearch.request import count, fitted_with_sites, get

MAX_CHARS: Final = 400
MAX_WORDS: Final = 50
"""Of a query; more is refused with 422 (api-dashboard.search.brave.com, parameter `q`)."""
MAX_COUNT: Final = {"web": 20, "news": 50}

_LANGUAGES: Final = frozenset({
    "ar", "eu", "bn", "bg", "ca", "zh-hans", "zh-hant", "hr", "cs", "da", "nl", "en", "en-gb", "et", "fi", "fr",
    "gl", "de", "gu", "he", "hi", "hu", "is", "it", "jp", "kn", "ko", "lv", "lt", "ms", "ml", "mr", "nb", "pl",
    "pt-br", "pt-pt", "pa", "ro", "ru", "sr", "sk", "sl", "es", "sv", "ta", "te", "th", "tr", "uk", "vi",
})  # fmt: skip
"""Values of `search_lang`; any other is refused (api-dashboard.search.brave.com, as are the countries)."""
_SPELT: Final = {
    "ja": "jp", "no": "nb", "nn": "nb", "pt": "pt-br", "zh": "zh-hans", "zh-cn": "zh-hans", "zh-sg": "zh-hans",
    "zh-tw": "zh-hant", "zh-hk": "zh-hant", "zh-mo": "zh-hant",
}  # fmt: skip
_COUNTRIES: Final = frozenset({
    "ar", "at", "au", "be", "br", "ca", "ch", "cl", "cn", "de", "dk", "es", "fi", "fr", "gb", "hk", "id", "in",
    "it", "jp", "kr", "mx", "my", "nl", "no", "nz", "ph", "pl", "pt", "ru", "sa", "se", "tr", "tw", "us", "za",
})  # fmt: skip
"""Values of `country`; any other is refused, and without one Brave answers for the United States."""
_FRESHNESS: Final = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}


class BraveEngine(KeyedEngine):
    """Brave with a subscription token."""

    name = "brave"
    home = "https://api.search.brave.com/res/v1"
    applies = frozenset({"sites", "exclude_sites", "freshness", "language", "country", "news"})

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """The results in Brave's order."""
        return parse(await self._api.ask(api_call(self._base_url, self._key, request)), self._key)


def api_call(base_url: str, key: str, request: SearchRequest) -> ApiCall:
    """The call for a request."""
    kind = "news" if request.kind == "news" else "web"
    fields: dict[str, str | int] = {
        "q": fitted_with_sites(request, MAX_CHARS, MAX_WORDS, operators(request)),
        "count": count(request, MAX_COUNT[kind]),
        "search_lang": language(request.language),
        "country": request.country.upper() if request.country.lower() in _COUNTRIES else "ALL",
        "freshness": _FRESHNESS.get(request.freshness, ""),
        "safesearch": "off",
        "text_decorations": "false" if kind == "web" else "",
        "result_filter": "web" if kind == "web" else "",
    }
    return get(f"{base_url.rstrip('/')}/{kind}/search", fields, {"X-Subscription-Token": key})


def operators(request: SearchRequest) -> str:
    """What the parameters have no value for, as operators: those take any code of two letters."""
    subtag, country = request.language.lower().partition("-")[0], request.country.lower()
    spoken = f"lang:{subtag}" if len(subtag) == 2 and not language(request.language) else ""
    return f"{spoken} {f'loc:{country}' if country and country not in _COUNTRIES else ''}".strip()


def language(tag: str) -> str:
    """Brave's name of a language, or "" for one that it does not have."""
    tag = tag.lower()
    parts = tag.split("-")
    names = (tag, "-".join(parts[:2]), f"{parts[0]}-{parts[-1]}", parts[0])
    return next((found for name in names if (found := _SPELT.get(name, name)) in _LANGUAGES), "")


def parse(reply: ApiReply, key: str) -> tuple[Hit, ...]:
    """The hits of an answer; one that found nothing has no `web` at all."""
    answer = understood(reply, "brave", key)
    with shaped("brave"):
        found = answer if answer["type"] == "news" else answer.get("web", {"results": []})
        rows = found["results"]
        return hits_from(rows, ("url", "title", "description"), "brave", "page_age", marked_up=True)
