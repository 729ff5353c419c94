"""Read JSON-LD: parse it leniently, choose the entity that the page is about, and extract its text."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import urlsplit

MAX_JSON: Final = 2_000_000
"""Characters of one block of JSON: real blocks have up to 1 million; longer ones are skipped."""
MAX_ENTITIES: Final = 1_000
"""Entities read per page: real pages have about 20, long lists about 200."""
MAX_STRING: Final = 4_000
"""Characters read of a name or description."""
MAX_ADDRESS: Final = 2_000
"""Characters compared of an address."""

_SITE_TYPES = frozenset({"WebSite", "Organization", "Corporation", "NewsMediaOrganization", "Blog"})
_MAIN_TYPES = frozenset({
    "Product", "ProductGroup", "IndividualProduct", "Recipe", "HowTo", "Question", "SoftwareApplication", "Course",
    "SoftwareSourceCode", "JobPosting", "Book", "Movie", "Dataset", "Event", "Review", "APIReference", "Report",
    "Vehicle", "PodcastEpisode", "TVSeries", "Service", "Quotation", "Legislation", "MusicRecording",
})  # fmt: skip
_MAIN_ENDINGS = ("Article", "Posting")
_PAGE_ENDINGS = ("Page",)
# Strings are kept; comments, trailing commas, and the markers of CDATA and HTML comments are removed. Each alternative
# that begins also ends, at the latest at the end of the text, so matching is linear.
_STRING_OR_FLAW = re.compile(
    r'("(?:[^"\\]|\\.)*+(?:"|\Z))|/\*(?:.*?\*/|.*\Z)|//[^\n]*|,(?=\s*[}\]])|<!\[CDATA\[|\]\]>|<!--|-->', re.DOTALL
)
_TAG = re.compile(r"(?i)</?(?:p|br|b|i|em|strong|span|div|a|ul|ol|li|h[1-6]|img|font|sup|sub)\b[^<>]{0,500}>")
_VOCABULARY = re.compile(r"(?i)https?://schema\.org/|schema:")


def read_json(text: str) -> object:
    """Parse the JSON in a script; None if it is invalid. Comments, trailing commas, CDATA and entities are accepted."""
    if len(text) > MAX_JSON:
        return None
    for attempt in (str.strip, _repair):
        try:
            value, _ = _DECODER.raw_decode(attempt(text))
        except (ValueError, RecursionError):  # invalid, a number with thousands of digits, or nested too deeply
            continue
        return value
    return None


_DECODER = json.JSONDecoder(strict=False)


def _repair(text: str) -> str:
    if '"' not in text and "&quot;" in text:
        text = html.unescape(text)
    return _STRING_OR_FLAW.sub(lambda match: match[1] or " ", text).strip()


def read_types(entity: dict[str, object]) -> list[str]:
    """Return the schema.org types of an entity, without the vocabulary's address."""
    value = entity.get("@type")
    kinds = value if isinstance(value, list) else [value]
    return [_VOCABULARY.sub("", kind[:100]) for kind in kinds[:10] if isinstance(kind, str)]


class Graph:
    """The entities in a page's JSON-LD; `main` holds those that the page is about."""

    def __init__(self, data: Iterable[object], url: str) -> None:
        self._by_id: dict[str, dict[str, object]] = {}
        self._sites: list[dict[str, object]] = []
        ranked: dict[int, list[dict[str, object]]] = {0: [], 1: []}
        for entity in _iter_entities(data):
            kinds = read_types(entity)
            identifier = entity.get("@id")
            if isinstance(identifier, str) and len(entity) > 1:
                self._by_id.setdefault(identifier, entity)
            best = min(map(rank_type, kinds), default=2)
            if best < 2:
                ranked[best].append(entity)
            elif _SITE_TYPES.intersection(kinds):
                self._sites.append(entity)
        self.main = [*_choose_main(ranked[0], url), *_choose_main(ranked[1], url)]

    def values(self, *names: str) -> Iterator[str]:
        """Yield the texts of the main entities under these keys."""
        for entity in self.main:
            for name in names:
                yield from self.texts(entity.get(name))

    def texts(self, value: object) -> Iterator[str]:
        """Yield a value's text, or the names of the entities that it contains or refers to."""
        for item in (value if isinstance(value, list) else [value])[:20]:
            if isinstance(item, str):
                yield _strip_html(item)
            elif isinstance(item, dict):
                thing = self._by_id.get(str(item.get("@id")), item) if "name" not in item else item
                name = thing.get("name") or thing.get("@value")
                if isinstance(name, list):
                    name = next(iter(name), "")
                if isinstance(name, str):
                    yield _strip_html(name)

    def sites(self) -> Iterator[str]:
        """Yield the site's names: that of a WebSite entity, then that of the main entity's publisher."""
        for kind in ("WebSite", "Blog"):
            yield from (name for site in self._sites if kind in read_types(site) for name in self.texts(site))
        for entity in self.main:
            for key in ("publisher", "isPartOf"):
                of_site = entity.get(key)
                if isinstance(of_site, dict) and (key == "publisher" or "WebSite" in read_types(of_site)):
                    yield from self.texts(of_site)


def _strip_html(text: str) -> str:
    """Remove HTML tags from a string and decode its entities."""
    return html.unescape(_TAG.sub(" ", text[:MAX_STRING]))


def rank_type(kind: str) -> int:
    """Return 0 for types that a page can be about, 1 for types of pages, 2 for all others."""
    if kind in _MAIN_TYPES or kind.endswith(_MAIN_ENDINGS):
        return 0
    return 1 if kind.endswith(_PAGE_ENDINGS) else 2


def _iter_entities(data: Iterable[object]) -> Iterator[dict[str, object]]:
    """Yield at most `MAX_ENTITIES` entities: those at the top of each block, in its graph, and main entities."""
    pending = list(data)[::-1]
    steps_left = MAX_ENTITIES
    while pending and steps_left:
        steps_left -= 1
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node[:MAX_ENTITIES][::-1])
        elif isinstance(node, dict):
            yield node
            # The questions of an FAQ are parts of the page, even if they are marked as its main entity.
            inner = ("@graph",) if "FAQPage" in read_types(node) else ("mainEntity", "@graph")
            pending.extend(node[key] for key in inner if key in node)


def _choose_main(entities: list[dict[str, object]], url: str) -> list[dict[str, object]]:
    """Return the page's own entity: the only one, or the one with the page's address; [] if none can be chosen."""
    if len(entities) <= 1:
        return entities
    own = normalize_address(url)
    for entity in entities:
        places = [entity.get("@id"), entity.get("url"), entity.get("mainEntityOfPage")]
        places += [place.get("@id") for place in places if isinstance(place, dict)]
        if any(isinstance(place, str) and normalize_address(place) == own for place in places):
            return [entity]
    kinds = {kind for entity in entities for kind in read_types(entity)}
    # The same entity may be there twice, from the site's theme and from a plugin. The items of a list differ in name.
    names = {fold_text(str(entity.get("headline") or entity.get("name") or "")[:MAX_STRING]) for entity in entities}
    return entities[:2] if len(names) == 1 or len(kinds) == len(entities) else []


def normalize_address(url: str) -> str:
    """Return host and path, to compare addresses that differ in scheme, `www.`, query or fragment."""
    try:
        parts = urlsplit(url[:MAX_ADDRESS].strip())
    except ValueError:
        return ""
    return parts.netloc.lower().removeprefix("www.") + parts.path.rstrip("/")


def fold_text(text: str) -> str:
    """Return the letters and digits of a text in lower case, to compare names that differ in case and punctuation."""
    return re.sub(r"[\W_]+", "", text).casefold()


# Text.

_SKIPPED_TYPES = frozenset({
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


def iter_texts(data: object) -> Iterator[tuple[str, str]]:
    """Yield titles and texts of all entities in document order. Texts are Markdown, or HTML if the site wrote HTML."""
    pending = [data]
    steps_left = MAX_ENTITIES
    while pending and steps_left:
        steps_left -= 1
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node[:MAX_ENTITIES][::-1])
        elif isinstance(node, str):
            yield "", html.unescape(node)  # a step of a recipe may be a string
        elif isinstance(node, dict):
            is_skipped = _SKIPPED_TYPES.intersection(read_types(node))
            if not is_skipped:
                yield from _describe_entity(node)
            parts = ("mainEntity", "@graph") if is_skipped else _PARTS
            pending.extend(node[key] for key in reversed(parts) if isinstance(node.get(key), dict | list))


def _describe_entity(entity: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Yield one entity's name with its first text, then its other texts, lists and facts.

    A name without texts becomes a heading if the entity has parts, else an item of a list.
    """
    texts = [html.unescape(text) for key in _TEXTS if isinstance(text := entity.get(key), str) and text.strip()]
    texts += ["\n".join(f"- {line}" for line in lines) for key in _LISTS if (lines := _read_strings(entity.get(key)))]
    facts = [f"- {label}: {fact}" for key, label in _FACTS.items() if (fact := _format_fact(entity.get(key)))]
    texts += ["\n".join(facts)] if facts else []
    names = (entity.get(key) for key in ("headline", "name", "title"))
    name = next(
        (" ".join(_strip_html(name).split())[:300] for name in names if isinstance(name, str) and name.strip()), ""
    )
    if name and not texts:
        texts = [f"## {name}" if any(key in entity for key in _PARTS) else f"- {name}"]
        name = ""
    for text in texts:
        yield name, text
        name = ""


def _read_strings(value: object) -> list[str]:
    lines = value if isinstance(value, list) else []
    return [
        " ".join(_strip_html(line).split()) for line in lines[:MAX_ENTITIES] if isinstance(line, str) and line.strip()
    ]


def _format_fact(value: object) -> str:
    """Return a price, a rating, a name or a plain value in a few words."""
    if isinstance(value, list):
        return "; ".join(filter(None, map(_format_fact, [item for item in value[:10] if not isinstance(item, list)])))
    if not isinstance(value, dict):
        return " ".join(_strip_html(value)[:200].split()) if isinstance(value, str) else ""
    keys = (
        "name", "price", "lowPrice", "highPrice", "priceCurrency", "availability", "ratingValue", "reviewCount",
        "ratingCount", "addressLocality", "addressCountry",
    )  # fmt: skip
    words = [_format_value(key, value[key]) for key in keys if isinstance(value.get(key), str | int | float)]
    if "priceCurrency" in value and len(words) > 1:
        currency = _format_value("priceCurrency", value["priceCurrency"])
        words = [f"{word} {currency}" if word[:1].isdigit() else word for word in words if word != currency]
    inner = value.get("address") or value.get("priceSpecification")
    return ", ".join([*filter(None, words), *([_format_fact(inner)] if isinstance(inner, str) else [])])


def _format_value(key: str, value: object) -> str:
    text = " ".join(str(value)[:200].split())
    if key in {"reviewCount", "ratingCount"}:
        return f"{text} {'reviews' if key == 'reviewCount' else 'ratings'}"
    return text.rpartition("/")[2] if key == "availability" else text
