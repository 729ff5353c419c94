"""Read a page's metadata: title, author, dates, language, canonical URL, site name and description.

Each value comes from the first of these sources that has it:

1. JSON-LD of the page's main entity (Article, Product, QAPage ... before WebPage), whose author and date belong to the
   page and not to a comment or a teaser;
2. OpenGraph and article:*, which sites maintain because shared links show them;
3. citation_* and Dublin Core, then plain `<meta>`, which is often the same on a whole site;
4. microdata and `<time>` marked as the publication date, if the page has only one of them;
5. `<title>` and `<h1>`, for the title only.

Dates and names are not read from running text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Final
from urllib.parse import urlsplit

from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract.html.link_resolver import resolve_link
from keyhole.records import Metadata
from keyhole.text.clean import clean
from keyhole.text.invalid_characters import unescape
from keyhole.text.refresh import Refresh, find_location, parse_refresh

# JSON-LD: parse it leniently, choose the main entity of the page, and extract the text of all entities.

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


# Metadata of a page, from all sources.

MAX_TITLE: Final = 300
MAX_DESCRIPTION: Final = 500
MAX_AUTHOR: Final = 200
MAX_SITE: Final = 100
MAX_URL: Final = 2_000
"""Largest length of each value, in characters. Longer URLs are ignored, and other values are truncated, because they
would make a list of sources unreadable."""

MAX_ELEMENTS: Final = 5_000
"""Largest number of elements read. Real pages have about 200; a few have 2,000, with a `<meta>` for every image."""
MAX_STUB: Final = 60
"""Largest number of elements and comments of a page whose scripts may set the location. Stubs have about 10."""
MAX_CANDIDATES: Final = 20
"""Largest number of titles compared with each other."""
MAX_ITEMS: Final = 200
"""Largest number of microdata properties read. Each costs a search through its ancestors."""

_TAGS = ("meta", "title", "link", "h1", "time", "script", "base")
# A single step, because unions of node sets take quadratic time in libxml2.
_ITEMS = etree.XPath("descendant::*/@itemprop")

_PROPERTIES = frozenset({"headline", "name", "author", "datePublished", "dateCreated", "dateModified", "description"})

_TITLES = ("og:title", "twitter:title", "citation_title", "dc.title", "dcterms.title", "title")
_AUTHORS = (
    "article:author", "og:article:author", "citation_author", "dc.creator", "dcterms.creator", "author",
    "parsely-author", "sailthru.author", "article.author", "byl",
)  # fmt: skip
_PUBLISHED = (
    "article:published_time", "og:article:published_time", "og:published_time", "citation_publication_date",
    "citation_date", "citation_online_date", "dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date",
    "dcterms.date", "parsely-pub-date", "sailthru.date", "article.published", "datepublished", "publish-date",
    "publish_date", "published-date", "pubdate", "date",
)  # fmt: skip
_MODIFIED = (
    "article:modified_time", "og:article:modified_time", "og:updated_time", "og:modified_time", "dcterms.modified",
    "dc.date.modified", "article.updated", "datemodified", "last-modified", "updated_at", "revised",
)  # fmt: skip
_DESCRIPTIONS = ("og:description", "description", "dc.description", "dcterms.description", "twitter:description")
_SITES = ("og:site_name", "application-name", "apple-mobile-web-app-title", "citation_journal_title")
_LANGUAGES = ("content-language", "og:locale", "dc.language", "dcterms.language", "language")

_DATE = re.compile(
    r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2})"
    r"(?:(?:T|\s+)(\d{2}:\d{2}(?::\d{2})?)(?:[.,]\d{1,9})?\s?(Z|UTC|GMT|[+-]\d{2}:?\d{2})?(?:\s[+-]\d{4})?)?)?)?",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"&#x?[0-9a-fA-F]{1,6};|(?<= )&amp;(?= )")
_LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_]([a-z]{4}))?(?:[-_]([a-z]{2}|[0-9]{3}))?", re.IGNORECASE)
_TITLE_SEPARATOR = re.compile(r"(?<!\s)\s++(?:(?:[|\-–—·•»«›‹:/~*]|::|\|\||->|<-)\s+|[|｜]\s*)|[|｜]\s*|:\s+")
_HANDLE = re.compile(r"(?i)(?:https?:|www\.|//|@)\S*|\S[^\s@]*+@\S+|[\d\s.,#-]*")
_BYLINE = re.compile(r"(?i)(?:written\s+|posted\s+|published\s+)?by:?\s+")


class _MetadataCandidates:
    """All candidates for a page's metadata: meta values by name, JSON-LD blocks, titles, headings, microdata."""

    def __init__(self, root: HtmlElement) -> None:
        self.meta: dict[str, list[str]] = {}
        self.titles: list[str] = []
        self.headings: list[str] = []
        self.canonical: list[str] = []
        self.base = ""
        self.items: dict[str, list[str]] = {}
        self.data: list[object] = []
        for element in islice(root.iter(*_TAGS), MAX_ELEMENTS):
            self._read(element)
        for name in _ITEMS(root)[:MAX_ITEMS]:
            self._read_item(name.getparent())
        if self.meta.get("parsely-type", ["post"])[0] != "post":  # a list of posts has its newest post's metadata
            self.meta = {name: values for name, values in self.meta.items() if not name.startswith("parsely-")}

    def _read(self, element: HtmlElement) -> None:
        tag = element.tag
        if tag == "meta":
            self._read_meta(element)
        elif tag == "script":
            if "ld+json" in element.get("type", "")[:100].lower():
                self.data.append(parse_lenient_json(element.text or ""))
        elif tag == "title":
            if next(element.iterancestors("svg"), None) is None:
                self.titles.append(_read_text(element))
        elif tag == "h1":
            self.headings.append(_read_text(element))
        elif tag == "link" and "canonical" in element.get("rel", "")[:100].lower().split():
            self.canonical.append(element.get("href", ""))
        elif tag == "base" and not self.base:
            self.base = element.get("href", "")
        elif tag == "time" and "datetime" in element.attrib:
            self._read_time(element)

    def _read_meta(self, element: HtmlElement) -> None:
        value = element.get("content")
        name = element.get("property") or element.get("name") or element.get("http-equiv")
        if value and name:
            self.meta.setdefault(name[:60].strip().lower(), []).append(value)

    def _read_time(self, element: HtmlElement) -> None:
        classes = element.get("class", "")[:200].split()
        published = "pubdate" in element.attrib or {"published", "entry-date", "dt-published"} & set(classes)
        name = "datePublished" if published else "dateModified" if {"updated", "dt-updated"} & set(classes) else ""
        if name:
            self.items.setdefault(name, []).append(element.get("datetime", ""))

    def _read_item(self, element: HtmlElement) -> None:
        """Read a microdata property of the main entity, but not of its parts, such as reviews and comments."""
        scope = next((up for up in element.iterancestors() if "itemscope" in up.attrib), None)
        if scope is None or scope.get("itemprop", "mainEntity") not in {"mainEntity", "blogPost"}:
            return
        kind = scope.get("itemtype", "")[:200].rstrip("/").rpartition("/")[2]
        for name in element.get("itemprop", "")[:100].split():
            if name in _PROPERTIES and rank_type(kind) == 0:
                nested = element.find(".//*[@itemprop='name']") if name == "author" else None
                value = element.get("content") or element.get("datetime") or _read_text(nested, element)
                self.items.setdefault(name, []).append(value)

    def iter_meta(self, *names: str) -> Iterator[str]:
        """Yield the values of `<meta>` elements with these names, in the order of the names."""
        for name in names:
            yield from self.meta.get(name, [])

    def iter_items(self, *names: str) -> Iterator[str]:
        """Yield the values of microdata properties with one value. Several values belong to the items of a list."""
        for name in names:
            values = dict.fromkeys(value for value in self.items.get(name, []) if value)
            if len(values) == 1:
                yield from values


def read_metadata(root: HtmlElement, url: str) -> Metadata:
    """Return a page's metadata from its unpruned tree. `url` is the page's final URL. Never raises."""
    page = _MetadataCandidates(root)
    graph = Graph(page.data, url)
    site = _find_line([*page.iter_meta(*_SITES[:1]), *graph.site_names(), *page.iter_meta(*_SITES[1:])], MAX_SITE)
    base = resolve_link(url, page.base[:MAX_URL]) or url
    canonicals = (resolve_link(base, link[:MAX_URL]) for link in (*page.canonical, *page.iter_meta("og:url")))
    title = _choose_title(page, graph, site, url)
    return Metadata(
        title=title,
        author=_choose_author(page, graph, title),
        published=_find_date(
            [*graph.values("datePublished", "dateCreated", "uploadDate"), *page.iter_meta(*_PUBLISHED),
             *page.iter_items("datePublished", "dateCreated")]
        ),
        modified=_find_date(
            [*graph.values("dateModified"), *page.iter_meta(*_MODIFIED), *page.iter_items("dateModified")]
        ),
        language=_find_language(
            [str(root.get("lang") or root.get("xml:lang") or ""), *page.iter_meta(*_LANGUAGES[:2]),
             *graph.values("inLanguage"), *page.iter_meta(*_LANGUAGES[2:])]
        ),
        canonical=next((link for link in canonicals if link and len(link) <= MAX_URL), ""),
        site=site,
        description=_find_line(
            [*graph.values("description"), *page.iter_meta(*_DESCRIPTIONS), *page.iter_items("description")],
            MAX_DESCRIPTION,
        ),
        refresh=str(_find_refresh(root, page, base, url) or ""),
    )  # fmt: skip


def _find_refresh(root: HtmlElement, page: _MetadataCandidates, base: str, url: str) -> Refresh | None:
    """Return where a page sends its reader: another address in a `<meta>`, or in a script of a page without content."""
    refreshes = [*filter(None, map(parse_refresh, page.iter_meta("refresh")))]
    if sum(1 for _ in islice(root.iter(), MAX_STUB + 1)) <= MAX_STUB:
        scripts = filter(None, (find_location(script.text or "") for script in root.iter("script")))
        named = {resolve_link(base, link) for link in (*page.canonical, *(a.get("href", "") for a in root.iter("a")))}
        # A condition counts for nothing if the page names the same address as its own or in a link.
        refreshes += [Refresh(0, to) if resolve_link(base, to) in named else Refresh(at, to) for at, to in scripts]
    # A file without an address has no base, and its target is named as it is written.
    resolved = (Refresh(at, resolve_link(base, target) or ("" if url else target)) for at, target in refreshes)
    own = url.partition("#")[0]
    return next((each for each in resolved if each.target.partition("#")[0] not in {"", own}), None)


# Values.


def _choose_title(page: _MetadataCandidates, graph: Graph, site: str, url: str) -> str:
    """Return the first title that is not just the site's name, and remove the site's name from it."""
    headings = [_clean_line(text, MAX_TITLE) for text in page.headings if text.strip()][:3]
    from_graph = [_clean_line(text, MAX_TITLE) for text in graph.values("headline", "name")]
    others = (*islice(page.iter_meta(*_TITLES), MAX_CANDIDATES), *page.iter_items("headline", "name"))
    from_page = [_clean_line(text, MAX_TITLE) for text in others]
    from_page += [_clean_line(text, MAX_TITLE) for text in page.titles[:3]]
    # Headlines that the page does not repeat elsewhere come last: they may name the kind of page, as on Wikipedia.
    shown = [fold_text(text) for text in (*from_page, *headings)]
    from_graph.sort(key=lambda text: not any(fold_text(text) in other for other in shown))
    candidates = [text for text in (*from_graph, *from_page) if text]
    candidates = [_complete_title(text, (*candidates, *headings)) for text in candidates]
    sites = {fold_text(name) for name in (site, _find_host_name(url), normalize_address(url).partition("/")[0])} - {""}
    known = {fold_text(text) for text in (*candidates, *headings)} - sites
    is_home = normalize_address(url).count("/") == 0
    fallback = ""
    for candidate in (*candidates, *(headings if len(headings) == 1 or not candidates else [])):
        own = candidate if is_home else _strip_site(candidate, known, sites)
        if is_home or fold_text(own) not in sites:
            return own
        fallback = fallback or own
    return next((text for text in headings if fold_text(text) not in sites), fallback)


def _complete_title(title: str, others: tuple[str, ...]) -> str:
    """Return the full form of a title that ends in an ellipsis, if another source has it."""
    if not title.endswith(("...", "…")):
        return title
    start = fold_text(title)
    return next((text for text in others if text != title and start and fold_text(text).startswith(start)), title)


def _strip_site(title: str, known: set[str], sites: set[str]) -> str:
    """Return the part of a title that is also a title in another source, else the title without the site's name."""
    cuts = [(0, 0), *(match.span() for match in _TITLE_SEPARATOR.finditer(title))][:12]
    pieces = [*((title[:start], title[end:]) for start, end in cuts[1:])]
    for head, tail in pieces:
        if fold_text(head) in known and len(fold_text(head)) > 2 and fold_text(tail) not in known:
            return head.strip()
        if fold_text(tail) in known and len(fold_text(tail)) > 2 and fold_text(head) in sites:
            return tail.strip()
    for head, tail in pieces:
        if fold_text(tail) in sites and head.strip():
            return head.strip()
        if fold_text(head) in sites and tail.strip():
            return tail.strip()
    return title


def _find_host_name(url: str) -> str:
    """Return the label of a URL's host that names the site, such as `example` for www.example.co.uk."""
    labels = normalize_address(url).partition("/")[0].partition(":")[0].split(".")
    while len(labels) > 2 and len(labels[-1]) + len(labels[-2]) <= 5:
        labels.pop()
    return labels[-2] if len(labels) > 1 else labels[0]


def _choose_author(page: _MetadataCandidates, graph: Graph, title: str) -> str:
    """Return the authors' names from the first source with names. Addresses, handles and numbers are not names."""
    for values in (
        [*graph.values("author", "creator")],
        *([*page.iter_meta(name)] for name in _AUTHORS),
        [*page.iter_items("author")],
    ):
        names = dict.fromkeys(_BYLINE.sub("", _clean_line(value, MAX_AUTHOR), count=1) for value in values[:20])
        valid = [name for name in names if not _HANDLE.fullmatch(name) and name != title]
        if valid:
            return _clean_line(", ".join(valid), MAX_AUTHOR)
    return ""


def _find_date(values: list[str]) -> str:
    return next((date for date in map(_parse_date, values) if date), "")


def _parse_date(value: str) -> str:
    """Return a date or date-time in ISO 8601, or "" if it is ambiguous, impossible or a zero value."""
    match = _DATE.fullmatch(value[:60].strip())
    if match is None:
        return ""
    year, month, day, clock, zone = match.groups()
    date = "-".join([year, *(part.zfill(2) for part in (month, day) if part)])
    text = date
    if clock:
        zone = "Z" if zone and zone.upper() in {"Z", "UTC", "GMT"} else zone or ""
        text += f"T{clock}{zone if len(zone) != 5 else zone[:3] + ':' + zone[3:]}"
    try:
        datetime.fromisoformat(text if day else f"{date}-01" if month else f"{date}-01-01")
    except ValueError:
        return ""
    # A missing date in a database appears as a year near 0 or as the first second of 1970.
    return "" if int(year) < 1400 or text.startswith("1970-01-01") else text


def _find_language(values: list[str]) -> str:
    for value in values:
        match = _LANGUAGE.fullmatch(value[:40].partition(",")[0].strip())
        if match and match[1].lower() not in {"und", "zxx", "mul"}:
            language, script, region = match.groups()
            return "-".join([language.lower(), *filter(None, [(script or "").title(), (region or "").upper()])])
    return ""


def _find_line(values: list[str], limit: int) -> str:
    return next((line for line in (_clean_line(value, limit) for value in values) if line), "")


def _clean_line(value: str, limit: int) -> str:
    """Clean a text and return it as one line of at most `limit` characters, truncated between words."""
    line = " ".join(clean(_decode_references(value[: 8 * limit])).split())
    return line if len(line) <= limit else line[: limit - 1].rpartition(" ")[0][:limit].rstrip(" ,.;:") + "…"


def _decode_references(value: str) -> str:
    """Decode character references that a template encoded twice. Named references stay, because pages about HTML
    write them."""
    return _REFERENCE.sub(lambda match: unescape(match[0]), value)


def _read_text(*elements: HtmlElement | None) -> str:
    """Return the text of the first element that is not None, truncated well beyond the length of a title."""
    element = next(element for element in elements if element is not None)
    words: list[str] = []
    for text in element.itertext():
        words.append(text[: 8 * MAX_TITLE])
        if len(words) > 100:
            break
    return " ".join(words)
