"""Collect the facts about a page with which detect.py recognises failures: title, headings, form fields, visible text.

All reads are bounded, so that a large page takes no longer than a small one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final
from urllib.parse import SplitResult, urlsplit

from lxml.html import HtmlElement

from keyhole.extract.failures.signatures import HOME_SEGMENTS

MAX_VISIBLE_CHARS: Final = 3_000
"""Characters of visible text that are read. Failure pages have a third of this."""
MAX_NODES: Final = 3_000
"""Largest number of elements visited in each search of the tree."""
MAX_FIELDS: Final = 100
"""Largest number of form fields examined. A login form has five."""

_INVISIBLE_TAGS: Final = frozenset({"script", "style", "template", "svg", "head", "title", "option", "textarea"})
_IGNORED_INPUT_TYPES: Final = frozenset({"hidden", "submit", "button", "image", "checkbox", "radio", "reset", "search"})
_IDENTIFIER = re.compile(
    r"(?i)\b(?:user(?:name)?|login|identifier|account|email|e-mail)\b|loginid|userid|benutzer|usuario|utilisateur"
)
_SECTIONS = re.compile(r"(?<!\s)\s++(?:[|\-–—·•»«›:/]\s+|[|｜]\s*)|[|｜]\s*|:\s+")
_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,2000}\)")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class PageFacts:
    """Facts about a page. `title`, `headings` and `words` are normalised by `normalise`."""

    root: HtmlElement
    html: str
    url: str
    requested_url: str
    markdown: str
    """The extracted Markdown."""
    title: tuple[str, ...]
    """The whole title, then its sections."""
    headings: tuple[str, ...]
    words: str
    """The beginning of the visible text, including `<noscript>`."""
    password_fields: int
    identifier_fields: int
    """The number of fields for a user name or e-mail address."""
    fields: int
    """The number of fields that a person fills in."""
    input_names: frozenset[str]
    """The names of all `<input>` elements."""

    @property
    def text_chars(self) -> int:
        """The length of the extracted text in characters, without the URLs of links."""
        return len(_LINK.sub(r"\1", self.markdown).strip()) if len(self.markdown) < 20_000 else len(self.markdown)

    @property
    def is_redirected(self) -> bool:
        """True if the final URL and the requested URL are different pages."""
        return url_key(self.url) != url_key(self.requested_url)

    def count_chars_without(self, phrases: tuple[str, ...]) -> int:
        """Count the characters of all lines that are not headings and contain none of the phrases."""
        lines = (line for line in _LINK.sub(r"\1", self.markdown[:20_000]).splitlines() if not line.startswith("#"))
        return sum(len(line) for line in map(normalise, lines) if not any(phrase in line for phrase in phrases))


def collect_facts(root: HtmlElement, html: str, markdown: str, url: str, requested_url: str) -> PageFacts:
    """Collect the facts about a page. `root` is its unpruned tree, `markdown` its extracted text."""
    title = normalise(_element_text(next(root.iter("title"), None)))
    fields = list(islice(root.iter("input"), MAX_FIELDS))
    fillable = [field for field in fields if field.get("type", "text")[:20].lower() not in _IGNORED_INPUT_TYPES]
    areas = sum(1 for _ in islice(root.iter("textarea"), 10))
    return PageFacts(
        root=root,
        html=html,
        url=url,
        requested_url=requested_url or url,
        markdown=markdown,
        title=split_title(title),
        headings=tuple(filter(None, (normalise(_element_text(tag)) for tag in islice(root.iter("h1", "h2", "h3"), 3)))),
        words=normalise(" ".join(_iter_visible_text(root))),
        password_fields=sum(field.get("type", "")[:20].lower() == "password" for field in fields),
        identifier_fields=sum(_is_identifier(field) for field in fillable),
        fields=len(fillable) + areas,
        input_names=frozenset(field.get("name", "")[:60] for field in fields),
    )


def has_mark(root: HtmlElement, marks: tuple[str, ...], attributes: tuple[str, ...], *tags: str) -> bool:
    """Return whether an element with one of the tags has one of the marks in one of the attributes."""
    for element in islice(root.iter(*tags), MAX_NODES):
        values = " ".join(element.get(name, "")[:300] for name in attributes).lower()
        if values.strip() and any(mark in values for mark in marks):
            return True
    return False


def normalise(text: str) -> str:
    """Case-fold the text, collapse its white space and straighten its apostrophes, for comparison with phrases."""
    return _SPACES.sub(" ", text.replace("\u2019", "'")).strip().casefold()


def split_title(title: str) -> tuple[str, ...]:
    """Return the whole title and the sections that separators divide it into."""
    return (title, *(part for part in _SECTIONS.split(title[:300]) if part)) if title else ()


def url_key(url: str) -> tuple[str, str, str]:
    """Return a key that is equal for URLs of the same page: host without `www.`, path without last slash, query."""
    parts = _split_url(url)
    return (parts.hostname or "").removeprefix("www."), parts.path.rstrip("/"), parts.query


def path_segments(url: str) -> tuple[str, ...]:
    """Return the segments of a URL's path in lower case."""
    return tuple(part for part in _split_url(url).path.lower().split("/")[:20] if part)


def first_host_label(url: str) -> str:
    """Return the leftmost label of a URL's host."""
    return (_split_url(url).hostname or "").partition(".")[0].lower()


def is_home_redirect(url: str, requested_url: str) -> bool:
    """Return whether a request for a page deep in a site ended at the site's home page."""
    final, requested = url_key(url), url_key(requested_url or url)
    deep = [part for part in path_segments(requested_url) if part not in HOME_SEGMENTS and len(part) > 2]
    is_home = (
        all(part in HOME_SEGMENTS or len(part) == 2 for part in path_segments(url)) and len(path_segments(url)) <= 1
    )
    return final[0] == requested[0] and is_home and not final[2] and bool(deep)


def _split_url(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip()[:2_000])
        _ = parts.hostname
    except ValueError:
        return SplitResult("", "", "", "", "")
    return parts


def _element_text(element: HtmlElement | None) -> str:
    return " ".join(islice(element.itertext(), 50))[:300] if element is not None else ""


def _is_identifier(field: HtmlElement) -> bool:
    if field.get("type", "")[:20].lower() == "password":
        return False
    input_names = " ".join(field.get(name, "")[:60] for name in ("name", "id", "autocomplete"))
    return _IDENTIFIER.search(input_names.replace("_", " ")) is not None


def _iter_visible_text(root: HtmlElement) -> Iterator[str]:
    chars_left = MAX_VISIBLE_CHARS
    for element in islice(root.iter(), MAX_NODES):
        if chars_left <= 0:
            return
        own = element.text if isinstance(element.tag, str) and element.tag not in _INVISIBLE_TAGS else ""
        for text in (own, element.tail):
            if text and not text.isspace():
                yield text[:MAX_VISIBLE_CHARS]
                chars_left -= len(text)
        if element.tag == "input" and element.get("type", "").lower() == "submit":
            yield element.get("value", "")[:100]
