"""Brave Search API for web pages and news, with an index of its own. Requests titles and descriptions only."""

from __future__ import annotations

from typing import Final

from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import KeyedEngine
from keyhole.websearch.hits import build_hits
from keyhole.websearch.replies import decode_reply, expect_shape
from keyhole.websearch.request import build_get, build_query, result_count

MAX_CHARS: Final = 400
MAX_WORDS: Final = 50
"""Limits of a query; Brave refuses longer ones with 422 (api-dashboard.search.brave.com, parameter `q`)."""
MAX_COUNT: Final = {"web": 20, "news": 50}

_LANGUAGES: Final = frozenset({
    "ar", "eu", "bn", "bg", "ca", "zh-hans", "zh-hant", "hr", "cs", "da", "nl", "en", "en-gb", "et", "fi", "fr",
    "gl", "de", "gu", "he", "hi", "hu", "is", "it", "jp", "kn", "ko", "lv", "lt", "ms", "ml", "mr", "nb", "pl",
    "pt-br", "pt-pt", "pa", "ro", "ru", "sr", "sk", "sl", "es", "sv", "ta", "te", "th", "tr", "uk", "vi",
})  # fmt: skip
"""Values of `search_lang`; Brave refuses any other (api-dashboard.search.brave.com, also for the countries)."""
_LANGUAGE_ALIASES: Final = {
    "ja": "jp", "no": "nb", "nn": "nb", "pt": "pt-br", "zh": "zh-hans", "zh-cn": "zh-hans", "zh-sg": "zh-hans",
    "zh-tw": "zh-hant", "zh-hk": "zh-hant", "zh-mo": "zh-hant",
}  # fmt: skip
_COUNTRIES: Final = frozenset({
    "ar", "at", "au", "be", "br", "ca", "ch", "cl", "cn", "de", "dk", "es", "fi", "fr", "gb", "hk", "id", "in",
    "it", "jp", "kr", "mx", "my", "nl", "no", "nz", "ph", "pl", "pt", "ru", "sa", "se", "tr", "tw", "us", "za",
})  # fmt: skip
"""Values of `country`. Brave refuses any other, and searches in the United States without a value."""
_FRESHNESS: Final = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}


class BraveEngine(KeyedEngine):
    """Brave Search with a subscription token."""

    name = "brave"
    default_url = "https://api.search.brave.com/res/v1"
    supported_filters = frozenset({"sites", "exclude_sites", "freshness", "language", "country", "news"})

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """Return the hits in Brave's order."""
        return await self._hits(build_call(self._base_url, self._key, request), parse)


def build_call(base_url: str, key: str, request: SearchRequest) -> ApiCall:
    """Return the API call for a request."""
    kind = "news" if request.kind == "news" else "web"
    fields: dict[str, str | int] = {
        "q": build_query(request, MAX_CHARS, MAX_WORDS, build_operators(request)),
        "count": result_count(request, MAX_COUNT[kind]),
        "search_lang": map_language(request.language),
        "country": request.country.upper() if request.country.lower() in _COUNTRIES else "ALL",
        "freshness": _FRESHNESS.get(request.freshness, ""),
        "safesearch": "off",
        "text_decorations": "false" if kind == "web" else "",
        "result_filter": "web" if kind == "web" else "",
    }
    return build_get(f"{base_url.rstrip('/')}/{kind}/search", fields, {"X-Subscription-Token": key})


def build_operators(request: SearchRequest) -> str:
    """Return operators for a language or country that the parameters refuse; operators accept any two letters."""
    subtag, country = request.language.lower().partition("-")[0], request.country.lower()
    language = f"lang:{subtag}" if len(subtag) == 2 and not map_language(request.language) else ""
    return f"{language} {f'loc:{country}' if country and country not in _COUNTRIES else ''}".strip()


def map_language(tag: str) -> str:
    """Return Brave's code for a BCP 47 language, or "" if Brave has no code for it."""
    tag = tag.lower()
    parts = tag.split("-")
    names = (tag, "-".join(parts[:2]), f"{parts[0]}-{parts[-1]}", parts[0])
    return next((code for name in names if (code := _LANGUAGE_ALIASES.get(name, name)) in _LANGUAGES), "")


def parse(reply: ApiReply) -> tuple[Hit, ...]:
    """Return the hits of a reply. Brave omits `web` if it found nothing."""
    answer = decode_reply(reply, "brave", has_key=True)
    with expect_shape("brave"):
        section = answer if answer["type"] == "news" else answer.get("web", {"results": []})
        rows = section["results"]
        return build_hits(rows, ("url", "title", "description"), "brave", "page_age", marked_up=True)
