"""Tavily search API. Requests excerpts only, no page text, generated answers or images."""

from __future__ import annotations

from typing import Final

from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import KeyedEngine
from keyhole.websearch.hits import build_hits
from keyhole.websearch.replies import decode_reply, expect_shape
from keyhole.websearch.request import build_post, result_count, truncate_query

MAX_CHARS: Final = 400
"""Characters of a query; Tavily refuses longer ones with 400."""
MAX_COUNT: Final = 20

_COUNTRIES: Final = {
    "af": "afghanistan", "al": "albania", "dz": "algeria", "ad": "andorra", "ao": "angola", "ar": "argentina",
    "am": "armenia", "au": "australia", "at": "austria", "az": "azerbaijan", "bs": "bahamas", "bh": "bahrain",
    "bd": "bangladesh", "bb": "barbados", "by": "belarus", "be": "belgium", "bz": "belize", "bj": "benin",
    "bt": "bhutan", "bo": "bolivia", "ba": "bosnia and herzegovina", "bw": "botswana", "br": "brazil",
    "bn": "brunei", "bg": "bulgaria", "bf": "burkina faso", "bi": "burundi", "kh": "cambodia", "cm": "cameroon",
    "ca": "canada", "cv": "cape verde", "cf": "central african republic", "td": "chad", "cl": "chile",
    "cn": "china", "co": "colombia", "km": "comoros", "cg": "congo", "cr": "costa rica", "hr": "croatia",
    "cu": "cuba", "cy": "cyprus", "cz": "czech republic", "dk": "denmark", "dj": "djibouti",
    "do": "dominican republic", "ec": "ecuador", "eg": "egypt", "sv": "el salvador", "gq": "equatorial guinea",
    "er": "eritrea", "ee": "estonia", "et": "ethiopia", "fj": "fiji", "fi": "finland", "fr": "france",
    "ga": "gabon", "gm": "gambia", "ge": "georgia", "de": "germany", "gh": "ghana", "gr": "greece",
    "gt": "guatemala", "gn": "guinea", "ht": "haiti", "hn": "honduras", "hu": "hungary", "is": "iceland",
    "in": "india", "id": "indonesia", "ir": "iran", "iq": "iraq", "ie": "ireland", "il": "israel", "it": "italy",
    "jm": "jamaica", "jp": "japan", "jo": "jordan", "kz": "kazakhstan", "ke": "kenya", "kw": "kuwait",
    "kg": "kyrgyzstan", "lv": "latvia", "lb": "lebanon", "ls": "lesotho", "lr": "liberia", "ly": "libya",
    "li": "liechtenstein", "lt": "lithuania", "lu": "luxembourg", "mg": "madagascar", "mw": "malawi",
    "my": "malaysia", "mv": "maldives", "ml": "mali", "mt": "malta", "mr": "mauritania", "mu": "mauritius",
    "mx": "mexico", "md": "moldova", "mc": "monaco", "mn": "mongolia", "me": "montenegro", "ma": "morocco",
    "mz": "mozambique", "mm": "myanmar", "na": "namibia", "np": "nepal", "nl": "netherlands", "nz": "new zealand",
    "ni": "nicaragua", "ne": "niger", "ng": "nigeria", "kp": "north korea", "mk": "north macedonia", "no": "norway",
    "om": "oman", "pk": "pakistan", "pa": "panama", "pg": "papua new guinea", "py": "paraguay", "pe": "peru",
    "ph": "philippines", "pl": "poland", "pt": "portugal", "qa": "qatar", "ro": "romania", "ru": "russia",
    "rw": "rwanda", "sa": "saudi arabia", "sn": "senegal", "rs": "serbia", "sg": "singapore", "sk": "slovakia",
    "si": "slovenia", "so": "somalia", "za": "south africa", "kr": "south korea", "ss": "south sudan",
    "es": "spain", "lk": "sri lanka", "sd": "sudan", "se": "sweden", "ch": "switzerland", "sy": "syria",
    "tw": "taiwan", "tj": "tajikistan", "tz": "tanzania", "th": "thailand", "tg": "togo",
    "tt": "trinidad and tobago", "tn": "tunisia", "tr": "turkey", "tm": "turkmenistan", "ug": "uganda",
    "ua": "ukraine", "ae": "united arab emirates", "gb": "united kingdom", "us": "united states", "uy": "uruguay",
    "uz": "uzbekistan", "ve": "venezuela", "vn": "vietnam", "ye": "yemen", "zm": "zambia", "zw": "zimbabwe",
}  # fmt: skip
"""Values of `country` by ISO 3166-1 code (docs.tavily.com, endpoint search); Tavily refuses any other."""


class TavilyEngine(KeyedEngine):
    """Tavily with an API key. It has no language filter, and prefers a country's pages only for `web`."""

    name = "tavily"
    default_url = "https://api.tavily.com"
    supported_filters = frozenset({"sites", "exclude_sites", "freshness", "country", "news"})

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """Return the hits in Tavily's order."""
        return await self._hits(build_call(self._base_url, self._key, request), parse)


def build_call(base_url: str, key: str, request: SearchRequest) -> ApiCall:
    """Return the API call for a request. The basic search depth costs one credit."""
    news = request.kind == "news"
    fields = {
        "query": truncate_query(request.query, MAX_CHARS),
        "topic": "news" if news else "general",
        "search_depth": "basic",
        "max_results": result_count(request, MAX_COUNT),
        "time_range": request.freshness,
        "include_domains": list(request.sites),
        "exclude_domains": list(request.exclude_sites),
        "country": "" if news else _COUNTRIES.get(request.country.lower(), ""),
        "include_answer": False,
        "include_raw_content": False,
        "include_images": False,
    }
    return build_post(f"{base_url.rstrip('/')}/search", fields, {"Authorization": f"Bearer {key}"})


def parse(reply: ApiReply) -> tuple[Hit, ...]:
    """Return the hits of a reply. Only news have dates."""
    answer = decode_reply(reply, "tavily", has_key=True)
    with expect_shape("tavily"):
        return build_hits(answer["results"], ("url", "title", "content"), "tavily", "published_date")
