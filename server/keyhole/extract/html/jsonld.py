"""Read JSON-LD: parse it leniently, choose the page's main entity, and extract the text of all entities."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import urlsplit

from keyhole.text.invalid_characters import unescape

MAX_JSON: Final = 2_000_000
"""Largest length of one block of JSON, in characters. Longer blocks are skipped. Real ones have up to 1 million."""
MAX_ENTITIES: Final = 1_000
"""Largest number of entities read per page. Real pages have about 20, long lists about 200."""
MAX_STRING: Final = 4_000
"""Number of characters read of a name or description."""
MAX_ADDRESS: Final = 2_000
"""Number of characters compared of an address."""

_SITE_TYPES = frozenset({"WebSite", "Organization", "Corporation", "NewsMediaOrganization", "Blog"})
_MAIN_TYPES = frozenset({
    "Product", "ProductGroup", "IndividualProduct", "Recipe", "HowTo", "Question", "SoftwareApplication", "Course",
    "SoftwareSourceCode", "JobPosting", "Book", "Movie", "Dataset", "Event", "Review", "APIReference", "Report",
    "Vehicle", "PodcastEpisode", "TVSeries", "Service", "Quotation", "Legislation", "MusicRecording",
})  # fmt: skip
_MAIN_ENDINGS = ("Article", "Posting")
_PAGE_ENDINGS = ("Page",)
# Strings stay; comments, trailing commas, and the markers of CDATA and HTML comments are removed. An unclosed string or
# comment matches up to the end of the text, so matching takes linear time.
_STRING_OR_FLAW = re.compile(
    r'("(?:[^"\\]|\\.)*+(?:"|\Z))|/\*(?:.*?\*/|.*\Z)|//[^\n]*|,(?=\s*[}\]])|<!\[CDATA\[|\]\]>|<!--|-->', re.DOTALL
)
_TAG = re.compile(r"(?i)</?(?:p|br|b|i|em|strong|span|div|a|ul|ol|li|h[1-6]|img|font|sup|sub)\b[^<>]{0,500}>")
_VOCABULARY = re.compile(r"(?i)https?://schema\.org/|schema:")


def parse_lenient_json(text: str) -> object:
    """Parse JSON with comments, trailing commas, CDATA marks or entities. Returns None for invalid JSON."""
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
        text = unescape(text)
    return _STRING_OR_FLAW.sub(lambda match: match[1] or " ", text).strip()


def read_types(entity: dict[str, object]) -> list[str]:
    """Return the schema.org types of an entity, without the address of the vocabulary."""
    value = entity.get("@type")
    kinds = value if isinstance(value, list) else [value]
    return [_VOCABULARY.sub("", kind[:100]) for kind in kinds[:10] if isinstance(kind, str)]


class Graph:
    """The entities in a page's JSON-LD. `main` lists the main entities, which the page is about."""

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

    def site_names(self) -> Iterator[str]:
        """Yield names of the site: those of WebSite and Blog entities, then those of the main entity's publisher."""
        for kind in ("WebSite", "Blog"):
            yield from (name for site in self._sites if kind in read_types(site) for name in self.texts(site))
        for entity in self.main:
            for key in ("publisher", "isPartOf"):
                publisher = entity.get(key)
                if isinstance(publisher, dict) and (key == "publisher" or "WebSite" in read_types(publisher)):
                    yield from self.texts(publisher)


def _strip_html(text: str) -> str:
    """Remove HTML tags from a string and decode its entities."""
    return unescape(_TAG.sub(" ", text[:MAX_STRING]))


def rank_type(kind: str) -> int:
    """Return 0 for a type that a page can be about, 1 for a type of page, 2 for any other type."""
    if kind in _MAIN_TYPES or kind.endswith(_MAIN_ENDINGS):
        return 0
    return 1 if kind.endswith(_PAGE_ENDINGS) else 2


def _iter_entities(data: Iterable[object]) -> Iterator[dict[str, object]]:
    """Yield at most `MAX_ENTITIES` entities: those at the top of each block or in its graph, and main entities."""
    pending = list(data)[::-1]
    steps_left = MAX_ENTITIES
    while pending and steps_left:
        steps_left -= 1
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node[:MAX_ENTITIES][::-1])
        elif isinstance(node, dict):
            yield node
            # The questions of an FAQ page are its parts, even if the page marks them as its main entity.
            inner = ("@graph",) if "FAQPage" in read_types(node) else ("mainEntity", "@graph")
            pending.extend(node[key] for key in inner if key in node)


def _choose_main(entities: list[dict[str, object]], url: str) -> list[dict[str, object]]:
    """Return the only entity, the one with the page's address, or duplicates of one entity; else []."""
    if len(entities) <= 1:
        return entities
    own = normalize_address(url)
    for entity in entities:
        addresses = [entity.get("@id"), entity.get("url"), entity.get("mainEntityOfPage")]
        addresses += [address.get("@id") for address in addresses if isinstance(address, dict)]
        if any(isinstance(address, str) and normalize_address(address) == own for address in addresses):
            return [entity]
    kinds = {kind for entity in entities for kind in read_types(entity)}
    # The site's theme and a plugin may each describe the same entity. The items of a list have different names.
    names = {fold_text(str(entity.get("headline") or entity.get("name") or "")[:MAX_STRING]) for entity in entities}
    return entities[:2] if len(names) == 1 or len(kinds) == len(entities) else []


def normalize_address(url: str) -> str:
    """Return the host without `www.` and the path of a URL, to compare addresses."""
    try:
        parts = urlsplit(url[:MAX_ADDRESS].strip())
    except ValueError:
        return ""
    return parts.netloc.lower().removeprefix("www.") + parts.path.rstrip("/")


def fold_text(text: str) -> str:
    """Return only the letters and digits of a text, case-folded, to compare names."""
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
    """Yield the titles and texts of all entities in document order. Texts are Markdown, or HTML as on the page."""
    pending = [data]
    steps_left = MAX_ENTITIES
    while pending and steps_left:
        steps_left -= 1
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node[:MAX_ENTITIES][::-1])
        elif isinstance(node, str):
            yield "", unescape(node)  # a step of a recipe may be a string
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
    texts = [unescape(text) for key in _TEXTS if isinstance(text := entity.get(key), str) and text.strip()]
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
    """Format a price, a rating, a name or a plain value in a few words. Returns "" for other values."""
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
