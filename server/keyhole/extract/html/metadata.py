"""What a page says of itself: title, author, dates, language, canonical URL, site, description. Reads one parsed tree.

For each value the first statement in this order counts:

1. JSON-LD of the page's main entity (Article, Product, QAPage ... before WebPage): it names what it is about, so an
   author or a date there belongs to this page and not to a comment or a teaser;
2. OpenGraph and article:*, which sites fill in with care, as every shared link shows them;
3. citation_* and Dublin Core, then plain `<meta>`: the same facts, often set once for a whole site;
4. microdata and `<time>` marked as the publication date, where the page holds only one of them;
5. `<title>` and `<h1>`, for the title alone.

It never reads dates or names out of running text, and never follows or fetches anything.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract.decode import tidy
from keyhole.extract.html.jsonld import Graph, address, rank, read_json, squashed
from keyhole.extract.html.links import absolute
from keyhole.records import Metadata

MAX_TITLE: Final = 300
MAX_DESCRIPTION: Final = 500
MAX_AUTHOR: Final = 200
MAX_SITE: Final = 100
MAX_URL: Final = 2_000
"""Characters of each value. Longer ones are no titles or names; the limits keep a listing of sources readable."""

MAX_ELEMENTS: Final = 5_000
"""Elements that may hold metadata: real pages have some 200, a few with every image's `<meta>` 2,000."""
MAX_CANDIDATES: Final = 20
"""Titles that are compared with each other."""
MAX_ITEMS: Final = 200
"""Microdata properties that are read: each looks at the elements around it."""

_TAGS = ("meta", "title", "link", "h1", "time", "script", "base")
# One step and no union: uniting node sets is quadratic in libxml2.
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
_SEPARATOR = re.compile(r"\s+(?:[|\-–—·•»«›‹:/~*]|::|\|\||->|<-)\s+|\s*[|｜]\s*|:\s+")
_HANDLE = re.compile(r"(?i)(?:https?:|www\.|//|@)\S*|\S+@\S+|[\d\s.,#-]*")
_BYLINE = re.compile(r"(?i)(?:written\s+|posted\s+|published\s+)?by:?\s+")


class _Statements:
    """All that the tree states, gathered in one walk: meta values by name, JSON-LD entities, titles, headings."""

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
        if self.meta.get("parsely-type", ["post"])[0] != "post":  # a list of posts states its newest one's facts
            self.meta = {name: values for name, values in self.meta.items() if not name.startswith("parsely-")}

    def _read(self, element: HtmlElement) -> None:
        tag = element.tag
        if tag == "meta":
            self._read_meta(element)
        elif tag == "script":
            if "ld+json" in element.get("type", "")[:100].lower():
                self.data.append(read_json(element.text or ""))
        elif tag == "title":
            if next(element.iterancestors("svg"), None) is None:
                self.titles.append(_words(element))
        elif tag == "h1":
            self.headings.append(_words(element))
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
        """A microdata property of a main entity, which is not itself a part (a review, a comment) of another one."""
        scope = next((up for up in element.iterancestors() if "itemscope" in up.attrib), None)
        if scope is None or scope.get("itemprop", "mainEntity") not in {"mainEntity", "blogPost"}:
            return
        kind = scope.get("itemtype", "")[:200].rstrip("/").rpartition("/")[2]
        for name in element.get("itemprop", "")[:100].split():
            if name in _PROPERTIES and rank(kind) == 0:
                nested = element.find(".//*[@itemprop='name']") if name == "author" else None
                value = element.get("content") or element.get("datetime") or _words(nested, element)
                self.items.setdefault(name, []).append(value)

    def stated(self, *names: str) -> Iterator[str]:
        """Values of `<meta>` elements, by the order of the names."""
        for name in names:
            yield from self.meta.get(name, [])

    def item(self, *names: str) -> Iterator[str]:
        """A microdata value that the page states only once: several belong to the entries of a list."""
        for name in names:
            values = dict.fromkeys(value for value in self.items.get(name, []) if value)
            if len(values) == 1:
                yield from values


def read_metadata(root: HtmlElement, url: str) -> Metadata:
    """The metadata of a tree from `tree.parse`, before anything is pruned; `url` is the final URL. Never raises."""
    found = _Statements(root)
    graph = Graph(found.data, url)
    site = _first_line([*found.stated(*_SITES[:1]), *graph.sites(), *found.stated(*_SITES[1:])], MAX_SITE)
    base = absolute(url, found.base[:MAX_URL]) or url
    canonicals = (absolute(base, reference[:MAX_URL]) for reference in (*found.canonical, *found.stated("og:url")))
    title = _title(found, graph, site, url)
    return Metadata(
        title=title,
        author=_author(found, graph, title),
        published=_first_date(
            [*graph.values("datePublished", "dateCreated", "uploadDate"), *found.stated(*_PUBLISHED),
             *found.item("datePublished", "dateCreated")]
        ),
        modified=_first_date([*graph.values("dateModified"), *found.stated(*_MODIFIED), *found.item("dateModified")]),
        language=_first_language(
            [str(root.get("lang") or root.get("xml:lang") or ""), *found.stated(*_LANGUAGES[:2]),
             *graph.values("inLanguage"), *found.stated(*_LANGUAGES[2:])]
        ),
        canonical=next((place for place in canonicals if place and len(place) <= MAX_URL), ""),
        site=site,
        description=_first_line(
            [*graph.values("description"), *found.stated(*_DESCRIPTIONS), *found.item("description")], MAX_DESCRIPTION
        ),
    )  # fmt: skip


# Values.


def _title(found: _Statements, graph: Graph, site: str, url: str) -> str:
    """The first title that is not just the site's name, without that name before or after it."""
    headings = [_line(text, MAX_TITLE) for text in found.headings if text.strip()][:3]
    linked = [_line(text, MAX_TITLE) for text in graph.values("headline", "name")]
    others = (*islice(found.stated(*_TITLES), MAX_CANDIDATES), *found.item("headline", "name"))
    stated = [_line(text, MAX_TITLE) for text in others]
    stated += [_line(text, MAX_TITLE) for text in found.titles[:3]]
    # A headline that nothing else on the page repeats may be a label of the kind of page (as on Wikipedia).
    shown = [squashed(text) for text in (*stated, *headings)]
    linked.sort(key=lambda text: not any(squashed(text) in other for other in shown))
    candidates = [text for text in (*linked, *stated) if text]
    candidates = [_whole(text, (*candidates, *headings)) for text in candidates]
    sites = {squashed(name) for name in (site, _host_name(url), address(url).partition("/")[0])} - {""}
    known = {squashed(text) for text in (*candidates, *headings)} - sites
    home = address(url).count("/") == 0
    fallback = ""
    for candidate in (*candidates, *(headings if len(headings) == 1 or not candidates else [])):
        own = candidate if home else _without_site(candidate, known, sites)
        if home or squashed(own) not in sites:
            return own
        fallback = fallback or own
    return next((text for text in headings if squashed(text) not in sites), fallback)


def _whole(title: str, others: tuple[str, ...]) -> str:
    """A title that was cut with dots, as another statement gives it in full."""
    if not title.endswith(("...", "…")):
        return title
    start = squashed(title)
    return next((text for text in others if text != title and start and squashed(text).startswith(start)), title)


def _without_site(title: str, known: set[str], sites: set[str]) -> str:
    """A title cut at its separators: to the part that another statement gives whole, else by the site's name."""
    cuts = [(0, 0), *(match.span() for match in _SEPARATOR.finditer(title))][:12]
    pieces = [*((title[:start], title[end:]) for start, end in cuts[1:])]
    for head, tail in pieces:
        if squashed(head) in known and len(squashed(head)) > 2 and squashed(tail) not in known:
            return head.strip()
        if squashed(tail) in known and len(squashed(tail)) > 2 and squashed(head) in sites:
            return tail.strip()
    for head, tail in pieces:
        if squashed(tail) in sites and head.strip():
            return head.strip()
        if squashed(head) in sites and tail.strip():
            return tail.strip()
    return title


def _host_name(url: str) -> str:
    """The part of a host that sites are called by: `example` of www.example.co.uk."""
    labels = address(url).partition("/")[0].partition(":")[0].split(".")
    while len(labels) > 2 and len(labels[-1]) + len(labels[-2]) <= 5:
        labels.pop()
    return labels[-2] if len(labels) > 1 else labels[0]


def _author(found: _Statements, graph: Graph, title: str) -> str:
    """The names of the first statement that holds any, each once; addresses, handles and numbers are no names."""
    for values in (
        [*graph.values("author", "creator")],
        *([*found.stated(name)] for name in _AUTHORS),
        [*found.item("author")],
    ):
        names = dict.fromkeys(_BYLINE.sub("", _line(value, MAX_AUTHOR), count=1) for value in values[:20])
        kept = [name for name in names if not _HANDLE.fullmatch(name) and name != title]
        if kept:
            return _line(", ".join(kept), MAX_AUTHOR)
    return ""


def _first_date(values: list[str]) -> str:
    return next((date for date in map(_date, values) if date), "")


def _date(value: str) -> str:
    """A stated date or date-time in ISO 8601, or nothing: what is ambiguous, impossible or a zero is not a date."""
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
    # The first years are how databases write "never"; so is the first second of 1970.
    return "" if int(year) < 1400 or text.startswith("1970-01-01") else text


def _first_language(values: list[str]) -> str:
    for value in values:
        match = _LANGUAGE.fullmatch(value[:40].partition(",")[0].strip())
        if match and match[1].lower() not in {"und", "zxx", "mul"}:
            language, script, region = match.groups()
            return "-".join([language.lower(), *filter(None, [(script or "").title(), (region or "").upper()])])
    return ""


def _first_line(values: list[str], limit: int) -> str:
    return next((line for line in (_line(value, limit) for value in values) if line), "")


def _line(value: str, limit: int) -> str:
    """One tidy line of at most `limit` characters, cut at a word."""
    line = " ".join(tidy(_entities_read(value[: 8 * limit])).split())
    return line if len(line) <= limit else line[: limit - 1].rpartition(" ")[0][:limit].rstrip(" ,.;:") + "…"


def _entities_read(value: str) -> str:
    """Character references that a template encoded twice. Named ones are left, as pages on HTML speak of them."""
    return _REFERENCE.sub(lambda match: html.unescape(match[0]), value)


def _words(*elements: HtmlElement | None) -> str:
    """The text of the first element there is, as far as a title can be long."""
    element = next(element for element in elements if element is not None)
    words: list[str] = []
    for text in element.itertext():
        words.append(text[: 8 * MAX_TITLE])
        if len(words) > 100:
            break
    return " ".join(words)
