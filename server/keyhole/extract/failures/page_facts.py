"""What soft failures are judged by, read once from the unpruned tree: title, headings, fields, visible words.

Judges nothing. All readings are bounded, so that a large page costs no more than a small one.
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

MAX_WORDS: Final = 3_000
"""Characters of visible text that are read: the pages that are looked for have a third of it."""
MAX_NODES: Final = 3_000
"""Elements that are walked for them."""
MAX_FIELDS: Final = 100
"""Form fields that are looked at; a login form has five."""

_UNSEEN: Final = frozenset({"script", "style", "template", "svg", "head", "title", "option", "textarea"})
_NO_FIELD: Final = frozenset({"hidden", "submit", "button", "image", "checkbox", "radio", "reset", "search"})
_IDENTIFIER = re.compile(
    r"(?i)\b(?:user(?:name)?|login|identifier|account|email|e-mail)\b|loginid|userid|benutzer|usuario|utilisateur"
)
_SECTIONS = re.compile(r"\s+[|\-–—·•»«›:/]\s+|\s*[|｜]\s*|:\s+")
_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,2000}\)")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Seen:
    """A page as it is judged; all words are case-folded, with straight apostrophes and single spaces."""

    root: HtmlElement
    html: str
    url: str
    requested_url: str
    markdown: str
    """What extraction made of the page, as it is."""
    title: tuple[str, ...]
    """The sections of the title, the whole first."""
    headings: tuple[str, ...]
    words: str
    """What a browser would show first, `<noscript>` too."""
    passwords: int
    identifiers: int
    """Fields for a name or an address of an account."""
    fields: int
    """All fields that a person would fill in."""
    names: frozenset[str]

    @property
    def prose(self) -> int:
        """Characters that extraction left, links counted as their words."""
        return len(_LINK.sub(r"\1", self.markdown).strip()) if len(self.markdown) < 20_000 else len(self.markdown)

    @property
    def redirected(self) -> bool:
        """Whether the address that answered is another than the one asked for."""
        return address(self.url) != address(self.requested_url)

    def rest(self, phrases: tuple[str, ...]) -> int:
        """Characters of the lines of the text that are no heading and hold none of the phrases."""
        lines = (line for line in _LINK.sub(r"\1", self.markdown[:20_000]).splitlines() if not line.startswith("#"))
        return sum(len(line) for line in map(plain, lines) if not any(phrase in line for phrase in phrases))


def see(root: HtmlElement, html: str, markdown: str, url: str, requested_url: str) -> Seen:
    """Read a page for judging: `root` is its unpruned tree, `markdown` what was made of it."""
    title = plain(_text(next(root.iter("title"), None)))
    fields = list(islice(root.iter("input"), MAX_FIELDS))
    shown = [field for field in fields if field.get("type", "text")[:20].lower() not in _NO_FIELD]
    areas = sum(1 for _ in islice(root.iter("textarea"), 10))
    return Seen(
        root=root,
        html=html,
        url=url,
        requested_url=requested_url or url,
        markdown=markdown,
        title=sections(title),
        headings=tuple(filter(None, (plain(_text(tag)) for tag in islice(root.iter("h1", "h2", "h3"), 3)))),
        words=plain(" ".join(_shown(root))),
        passwords=sum(field.get("type", "")[:20].lower() == "password" for field in fields),
        identifiers=sum(_is_identifier(field) for field in shown),
        fields=len(shown) + areas,
        names=frozenset(field.get("name", "")[:60] for field in fields),
    )


def bears(root: HtmlElement, marks: tuple[str, ...], attributes: tuple[str, ...], *tags: str) -> bool:
    """Whether an element of these tags bears one of the marks in one of its attributes."""
    for element in islice(root.iter(*tags), MAX_NODES):
        said = " ".join(element.get(name, "")[:300] for name in attributes).lower()
        if said.strip() and any(mark in said for mark in marks):
            return True
    return False


def plain(text: str) -> str:
    """Text as phrases are compared with."""
    return _SPACES.sub(" ", text.replace("\u2019", "'")).strip().casefold()


def sections(title: str) -> tuple[str, ...]:
    """A title whole and by the parts that sites join to it."""
    return (title, *(part for part in _SECTIONS.split(title[:300]) if part)) if title else ()


def address(url: str) -> tuple[str, str, str]:
    """Host without www., path without its last slash, query: what makes two addresses one page's."""
    parts = _split(url)
    return (parts.hostname or "").removeprefix("www."), parts.path.rstrip("/"), parts.query


def segments(url: str) -> tuple[str, ...]:
    """The parts of an address's path, lower-cased."""
    return tuple(part for part in _split(url).path.lower().split("/")[:20] if part)


def first_label(url: str) -> str:
    """The leftmost name of an address's host."""
    return (_split(url).hostname or "").partition(".")[0].lower()


def led_home(url: str, requested_url: str) -> bool:
    """Whether a page deep in a site was asked for and the site's first page came."""
    own, asked = address(url), address(requested_url or url)
    deep = [part for part in segments(requested_url) if part not in HOME_SEGMENTS and len(part) > 2]
    home = all(part in HOME_SEGMENTS or len(part) == 2 for part in segments(url)) and len(segments(url)) <= 1
    return own[0] == asked[0] and home and not own[2] and bool(deep)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip()[:2_000])
        _ = parts.hostname
    except ValueError:
        return SplitResult("", "", "", "", "")
    return parts


def _text(element: HtmlElement | None) -> str:
    return " ".join(islice(element.itertext(), 50))[:300] if element is not None else ""


def _is_identifier(field: HtmlElement) -> bool:
    if field.get("type", "")[:20].lower() == "password":
        return False
    said = " ".join(field.get(name, "")[:60] for name in ("name", "id", "autocomplete"))
    return _IDENTIFIER.search(said.replace("_", " ")) is not None


def _shown(root: HtmlElement) -> Iterator[str]:
    left = MAX_WORDS
    for element in islice(root.iter(), MAX_NODES):
        if left <= 0:
            return
        own = element.text if isinstance(element.tag, str) and element.tag not in _UNSEEN else ""
        for text in (own, element.tail):
            if text and not text.isspace():
                yield text[:MAX_WORDS]
                left -= len(text)
        if element.tag == "input" and element.get("type", "").lower() == "submit":
            yield element.get("value", "")[:100]
