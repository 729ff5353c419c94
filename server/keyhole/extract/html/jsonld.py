"""JSON-LD in a page: reading JSON as it is really written, which entity the page is about, and the text in it. Pure."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import urlsplit

MAX_JSON: Final = 2_000_000
"""Characters of one block of JSON: blocks of real pages have up to 1 million; more is left out, not cut."""
MAX_ENTITIES: Final = 1_000
"""Entities that are looked at: real pages state some 20, long lists some 200."""
MAX_STRING: Final = 4_000
"""Characters of a name or description that are read."""
MAX_ADDRESS: Final = 2_000
"""Characters of an address that are compared."""

_SITE_TYPES = frozenset({"WebSite", "Organization", "Corporation", "NewsMediaOrganization", "Blog"})
_MAIN_TYPES = frozenset({
    "Product", "ProductGroup", "IndividualProduct", "Recipe", "HowTo", "Question", "SoftwareApplication", "Course",
    "SoftwareSourceCode", "JobPosting", "Book", "Movie", "Dataset", "Event", "Review", "APIReference", "Report",
    "Vehicle", "PodcastEpisode", "TVSeries", "Service", "Quotation", "Legislation", "MusicRecording",
})  # fmt: skip
_MAIN_ENDINGS = ("Article", "Posting")
_PAGE_ENDINGS = ("Page",)
# Strings are kept; comments, commas before a closing bracket, and the markers of CDATA and HTML comments go. Every
# alternative that begins also ends, at the latest where the text does, so no stretch is read twice.
_REPAIR = re.compile(
    r'("(?:[^"\\]|\\.)*+(?:"|\Z))|/\*(?:.*?\*/|.*\Z)|//[^\n]*|,(?=\s*[}\]])|<!\[CDATA\[|\]\]>|<!--|-->', re.DOTALL
)
_TAG = re.compile(r"(?i)</?(?:p|br|b|i|em|strong|span|div|a|ul|ol|li|h[1-6]|img|font|sup|sub)\b[^<>]{0,500}>")
_VOCABULARY = re.compile(r"(?i)https?://schema\.org/|schema:")


def read_json(text: str) -> object:
    """The JSON value that a script holds, or None. Comments, trailing commas, CDATA and entities are forgiven."""
    if len(text) > MAX_JSON:
        return None
    for attempt in (str.strip, _repaired):
        try:
            value, _ = _DECODER.raw_decode(attempt(text))
        except (ValueError, RecursionError):  # no JSON, a number with thousands of digits, or nested too deeply
            continue
        return value
    return None


_DECODER = json.JSONDecoder(strict=False)


def _repaired(text: str) -> str:
    if '"' not in text and "&quot;" in text:
        text = html.unescape(text)
    return _REPAIR.sub(lambda match: match[1] or " ", text).strip()


def types_of(entity: dict[str, object]) -> list[str]:
    """The schema.org types of an entity, without the vocabulary's address."""
    stated = entity.get("@type")
    kinds = stated if isinstance(stated, list) else [stated]
    return [_VOCABULARY.sub("", kind[:100]) for kind in kinds[:10] if isinstance(kind, str)]


class Graph:
    """The entities that JSON-LD states, the page's main one first."""

    def __init__(self, data: Iterable[object], url: str) -> None:
        self._by_id: dict[str, dict[str, object]] = {}
        self._sites: list[dict[str, object]] = []
        ranked: dict[int, list[dict[str, object]]] = {0: [], 1: []}
        for entity in _entities(data):
            kinds = types_of(entity)
            identifier = entity.get("@id")
            if isinstance(identifier, str) and len(entity) > 1:
                self._by_id.setdefault(identifier, entity)
            best = min(map(rank, kinds), default=2)
            if best < 2:
                ranked[best].append(entity)
            elif _SITE_TYPES.intersection(kinds):
                self._sites.append(entity)
        self.main = [*_the_one(ranked[0], url), *_the_one(ranked[1], url)]

    def values(self, *names: str) -> Iterator[str]:
        """Texts that the main entities state under the names."""
        for entity in self.main:
            for name in names:
                yield from self.texts(entity.get(name))

    def texts(self, value: object) -> Iterator[str]:
        """A value's text, or the names of the things it is or refers to."""
        for item in (value if isinstance(value, list) else [value])[:20]:
            if isinstance(item, str):
                yield _plain(item)
            elif isinstance(item, dict):
                thing = self._by_id.get(str(item.get("@id")), item) if "name" not in item else item
                name = thing.get("name") or thing.get("@value")
                if isinstance(name, list):
                    name = next(iter(name), "")
                if isinstance(name, str):
                    yield _plain(name)

    def sites(self) -> Iterator[str]:
        """The site's names: a WebSite's own, then the publisher's of the main entity."""
        for kind in ("WebSite", "Blog"):
            yield from (name for site in self._sites if kind in types_of(site) for name in self.texts(site))
        for entity in self.main:
            for key in ("publisher", "isPartOf"):
                of_site = entity.get(key)
                if isinstance(of_site, dict) and (key == "publisher" or "WebSite" in types_of(of_site)):
                    yield from self.texts(of_site)


def _plain(text: str) -> str:
    """A string of JSON-LD without the HTML that many sites leave in it."""
    return html.unescape(_TAG.sub(" ", text[:MAX_STRING]))


def rank(kind: str) -> int:
    """0 for what a page can be about, 1 for the page itself, 2 for anything else."""
    if kind in _MAIN_TYPES or kind.endswith(_MAIN_ENDINGS):
        return 0
    return 1 if kind.endswith(_PAGE_ENDINGS) else 2


def _entities(data: Iterable[object]) -> Iterator[dict[str, object]]:
    """The entities at the top of each block, of its graph, and those named as a page's main one; bounded."""
    waiting = list(data)[::-1]
    left = MAX_ENTITIES
    while waiting and left:
        left -= 1
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node[:MAX_ENTITIES][::-1])
        elif isinstance(node, dict):
            yield node
            # The questions below an article are parts of it, however they are stated.
            inner = ("@graph",) if "FAQPage" in types_of(node) else ("mainEntity", "@graph")
            waiting.extend(node[key] for key in inner if key in node)


def _the_one(entities: list[dict[str, object]], url: str) -> list[dict[str, object]]:
    """The entity that is the page's: the only one, or the one whose address is the page's."""
    if len(entities) <= 1:
        return entities
    own = address(url)
    for entity in entities:
        places = [entity.get("@id"), entity.get("url"), entity.get("mainEntityOfPage")]
        places += [place.get("@id") for place in places if isinstance(place, dict)]
        if any(isinstance(place, str) and address(place) == own for place in places):
            return [entity]
    kinds = {kind for entity in entities for kind in types_of(entity)}
    # The same thing stated twice, by the site's theme and by a plugin; a list of things has other names.
    names = {squashed(str(entity.get("headline") or entity.get("name") or "")[:MAX_STRING]) for entity in entities}
    return entities[:2] if len(names) == 1 or len(kinds) == len(entities) else []


def address(url: str) -> str:
    """Host and path, for comparing addresses that differ in scheme, `www.`, query or fragment."""
    try:
        parts = urlsplit(url[:MAX_ADDRESS].strip())
    except ValueError:
        return ""
    return parts.netloc.lower().removeprefix("www.") + parts.path.rstrip("/")


def squashed(text: str) -> str:
    """The letters and digits of a text, for comparing names that differ in case, spaces and marks."""
    return re.sub(r"[\W_]+", "", text).casefold()


# The text in it.

_SILENT_TYPES = frozenset({
    "Organization", "Corporation", "NewsMediaOrganization", "WebSite", "BreadcrumbList", "ImageObject", "Person",
    "SearchAction", "SiteNavigationElement", "WPHeader", "WPFooter", "WPSideBar", "LocalBusiness",
})  # fmt: skip
_TEXTS = ("description", "abstract", "articleBody", "text", "reviewBody", "transcript", "responsibilities")
_LISTS = ("recipeIngredient", "ingredients", "positiveNotes", "negativeNotes")
_FACTS = {
    "brand": "brand", "offers": "price", "aggregateRating": "rating", "startDate": "starts", "endDate": "ends",
    "location": "place", "hiringOrganization": "employer", "jobLocation": "place", "totalTime": "time",
    "recipeYield": "yield",
}  # fmt: skip
_PARTS = (
    "mainEntity", "acceptedAnswer", "suggestedAnswer", "recipeInstructions", "step", "steps", "itemListElement",
    "item", "hasPart", "hasVariant", "review", "comment", "@graph",
)  # fmt: skip


def readable(data: object) -> Iterator[tuple[str, str]]:
    """Titles and texts of the entities in document order: as Markdown, or as the HTML that a site left in them."""
    waiting = [data]
    left = MAX_ENTITIES
    while waiting and left:
        left -= 1
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node[:MAX_ENTITIES][::-1])
        elif isinstance(node, str):
            yield "", html.unescape(node)  # a step of a recipe may be a bare string
        elif isinstance(node, dict):
            silent = _SILENT_TYPES.intersection(types_of(node))
            if not silent:
                yield from _stated(node)
            parts = ("mainEntity", "@graph") if silent else _PARTS
            waiting.extend(node[key] for key in reversed(parts) if isinstance(node.get(key), dict | list))


def _stated(entity: dict[str, object]) -> Iterator[tuple[str, str]]:
    """One entity: its name and what is said of it, its lists and facts; a name alone is an item of a list."""
    said = [html.unescape(text) for key in _TEXTS if isinstance(text := entity.get(key), str) and text.strip()]
    said += ["\n".join(f"- {line}" for line in lines) for key in _LISTS if (lines := _strings(entity.get(key)))]
    facts = [f"- {label}: {fact}" for key, label in _FACTS.items() if (fact := _fact(entity.get(key)))]
    said += ["\n".join(facts)] if facts else []
    names = (entity.get(key) for key in ("headline", "name", "title"))
    name = next((" ".join(_plain(name).split())[:300] for name in names if isinstance(name, str) and name.strip()), "")
    if name and not said:
        said = [f"## {name}" if any(key in entity for key in _PARTS) else f"- {name}"]
        name = ""
    for text in said:
        yield name, text
        name = ""


def _strings(value: object) -> list[str]:
    lines = value if isinstance(value, list) else []
    return [" ".join(_plain(line).split()) for line in lines[:MAX_ENTITIES] if isinstance(line, str) and line.strip()]


def _fact(value: object) -> str:
    """A price, a rating, a name or a plain value in a few words."""
    if isinstance(value, list):
        return "; ".join(filter(None, map(_fact, [item for item in value[:10] if not isinstance(item, list)])))
    if not isinstance(value, dict):
        return " ".join(_plain(value)[:200].split()) if isinstance(value, str) else ""
    keys = (
        "name", "price", "lowPrice", "highPrice", "priceCurrency", "availability", "ratingValue", "reviewCount",
        "ratingCount", "addressLocality", "addressCountry",
    )  # fmt: skip
    told = [_word(key, value[key]) for key in keys if isinstance(value.get(key), str | int | float)]
    if "priceCurrency" in value and len(told) > 1:
        currency = _word("priceCurrency", value["priceCurrency"])
        told = [f"{word} {currency}" if word[:1].isdigit() else word for word in told if word != currency]
    inner = value.get("address") or value.get("priceSpecification")
    return ", ".join([*filter(None, told), *([_fact(inner)] if isinstance(inner, str) else [])])


def _word(key: str, value: object) -> str:
    text = " ".join(str(value)[:200].split())
    if key in {"reviewCount", "ratingCount"}:
        return f"{text} {'reviews' if key == 'reviewCount' else 'ratings'}"
    return text.rpartition("/")[2] if key == "availability" else text
