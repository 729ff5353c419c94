"""Read the links of the lists that sites have of their pages: HTML, sitemaps, llms.txt and Sphinx inventories.

Each function returns absolute addresses in the order of the list, without fragments, and skips what it cannot read.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Final

from keyhole.errors import KeyholeError
from keyhole.fetch.urls import Target, parse_target, resolve_url

# Inventories: the names that the pages of a site made by Sphinx document (objects.inv).
#
# The format has four lines of comment, then lines `name domain:role priority address title`, compressed by zlib. `$` at
# the end of an address stands for the name, and the title `-` for the name too. Source: sphinx/util/inventory.py.

SIGNATURE: Final = b"# Sphinx inventory version 2"
MAX_INVENTORY_BYTES: Final = 20_000_000
"""Bytes of the decompressed lines; that of Python's documentation has 1.3 million."""
MAX_LINE: Final = 2_000
"""Characters of a line; real names and titles have some hundred."""
_HEAD_LINES: Final = 4
_INVENTORY_LINE = re.compile(r"(\S.*?)(?<=\S)\s++([^\s:]++:\S++)\s++-?\d++\s(\S*+)\s++(\S.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class InventoryEntry:
    """One documented name. `address` is relative to the folder of the inventory."""

    name: str
    role: str
    """Domain and role, such as `py:function`; `std:doc` is a page."""
    address: str
    title: str


def parse_inventory(data: bytes) -> Iterator[InventoryEntry]:
    """Yield the entries of an inventory up to the first damaged byte. Data without the signature has no entries."""
    if not data.startswith(SIGNATURE):
        return
    packed = data.split(b"\n", _HEAD_LINES)[-1]
    try:
        text = zlib.decompressobj().decompress(packed, MAX_INVENTORY_BYTES).decode("utf-8", "replace")
    except zlib.error:
        return
    for line in text.splitlines():
        if len(line) <= MAX_LINE and (match := _INVENTORY_LINE.fullmatch(line)):
            name, role, address, title = match.groups()
            address = f"{address.removesuffix('$')}{name}" if address.endswith("$") else address
            yield InventoryEntry(name, role, address, name if title == "-" else title)


# Lists: the links of pages, sitemaps, Markdown and inventories.

MAX_BYTES: Final = 2_000_000
"""Bytes of a list that are read. An index of 10,000 pages has about one million."""
MAX_LINKS: Final = 20_000
"""Links of a list that are read; a sitemap may have 50,000."""
MAX_URL_CHARS: Final = 300
"""Characters of an address. Longer addresses are rarely pages worth naming, and could carry text."""
MAX_TITLE_CHARS: Final = 120
MAX_NAMES: Final = 400
"""Names of one page of an inventory that are compared; the longest reference pages document about as many functions."""

_SITEMAP_ENTRY = re.compile(r"<loc>\s*+(?:<!\[CDATA\[)?\s*+([^<\s\]]{1,2000})", re.IGNORECASE)
_MARKDOWN_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\(<?([^\s()<>]{1,2000}(?:\([^\s()<>]{0,200}\))?)>?[^()\n]{0,200}\)")


@dataclass(frozen=True, slots=True)
class Link:
    """An address that a list names, with the text of its link or the names that the page documents."""

    url: str
    title: str = ""


class _Links(HTMLParser):
    """Collects the links of an HTML page with their texts."""

    def __init__(self) -> None:
        super().__init__()
        self.base = ""
        self.links: list[tuple[str, str]] = []
        self._href = ""
        self._text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a link, or note the base of relative links."""
        href = next((value or "" for name, value in attrs if name == "href"), "")
        if tag == "a" and href:
            self.handle_endtag("a")
            self._href = href
        elif tag == "base" and href and not self.base:
            self.base = href

    def handle_endtag(self, tag: str) -> None:
        """End a link."""
        if tag == "a" and self._href:
            self.links.append((self._href, " ".join("".join(self._text).split())[:MAX_TITLE_CHARS]))
            self._href, self._text = "", []

    def handle_data(self, data: str) -> None:
        """Collect the text of a link."""
        if self._href and len(self._text) < MAX_TITLE_CHARS:
            self._text.append(data[:MAX_TITLE_CHARS])


def read_html_links(body: bytes, url: str) -> tuple[Link, ...]:
    """Return the links of an HTML page. `url`: its final address."""
    parser = _Links()
    with suppress(AssertionError):  # of the parser, for broken declarations; the links before them are used
        parser.feed(body[:MAX_BYTES].decode("utf-8", "replace"))
    base = parse_target(url)
    with suppress(KeyholeError):
        base = resolve_url(base, parser.base)
    return _resolve_all(base, parser.links)


def read_sitemap(body: bytes, url: str) -> tuple[Link, ...]:
    """Return the addresses of a sitemap, or of the sitemaps that an index of sitemaps lists."""
    text = body[:MAX_BYTES].decode("utf-8", "replace")
    return _resolve_all(
        parse_target(url), ((match[1].replace("&amp;", "&"), "") for match in _SITEMAP_ENTRY.finditer(text))
    )


def read_markdown_links(body: bytes, url: str) -> tuple[Link, ...]:
    """Return the links of a Markdown text, such as llms.txt."""
    text = body[:MAX_BYTES].decode("utf-8", "replace")
    return _resolve_all(parse_target(url), ((match[2], match[1]) for match in _MARKDOWN_LINK.finditer(text)))


def read_inventory_links(body: bytes, url: str) -> tuple[Link, ...]:
    """Return the pages of a Sphinx inventory (objects.inv), each with the names that it documents."""
    titles: dict[str, list[str]] = {}
    for entry in parse_inventory(body):
        named = titles.setdefault(entry.address.partition("#")[0], [])
        if entry.role == "std:doc":
            named.insert(0, entry.title)
        elif len(named) < MAX_NAMES:
            named.append(entry.name)
    return _resolve_all(parse_target(url), ((place, " ".join(names)) for place, names in titles.items()))


def _resolve_all(base: Target, links: Iterable[tuple[str, str]]) -> tuple[Link, ...]:
    return tuple(dict.fromkeys(_iter_resolved(base, links)))[:MAX_LINKS]


def _iter_resolved(base: Target, links: Iterable[tuple[str, str]]) -> Iterator[Link]:
    for number, (href, title) in enumerate(links):
        if number >= 2 * MAX_LINKS:
            return
        with suppress(KeyholeError):
            target = resolve_url(base, href.strip().partition("#")[0])
            if len(target.url) <= MAX_URL_CHARS:
                yield Link(target.url, title)
