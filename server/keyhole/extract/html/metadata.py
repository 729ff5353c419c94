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

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract.html.jsonld import Graph, fold_text, normalize_address, parse_lenient_json, rank_type
from keyhole.extract.html.links import resolve_link
from keyhole.records import Metadata
from keyhole.text.clean import clean
from keyhole.text.invalid_characters import unescape

MAX_TITLE: Final = 300
MAX_DESCRIPTION: Final = 500
MAX_AUTHOR: Final = 200
MAX_SITE: Final = 100
MAX_URL: Final = 2_000
"""Largest length of each value, in characters. Longer URLs are ignored, and other values are truncated, because they
would make a list of sources unreadable."""

MAX_ELEMENTS: Final = 5_000
"""Largest number of elements read. Real pages have about 200; a few have 2,000, with a `<meta>` for every image."""
MAX_CANDIDATES: Final = 20
"""Largest number of titles compared with each other."""
MAX_ITEMS: Final = 200
"""Largest number of microdata properties read. Each costs a search through its ancestors."""

_TAGS = ("meta", "title", "link", "h1", "time", "script", "base")
# A single step, because unions of node sets take quadratic time in libxml2.
_ITEMS = etree.XPath("descendant::*[@itemprop]")

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
        for element in _ITEMS(root)[:MAX_ITEMS]:
            self._read_item(element)
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
    )  # fmt: skip


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
