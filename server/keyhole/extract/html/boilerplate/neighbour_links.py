"""Find links to the next and the previous page, such as generators of manuals write at the head of each page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.boilerplate.segments import Place, Segments, TextBlock

MAX_BYTES: Final = 400
"""Longest line of such links, in bytes of UTF-8. Titles of both neighbours and of the chapter have some 200."""
MIN_LINK_SHARE: Final = 0.5
"""Smallest share of the text that is in links or names a direction, such as "Next:" before a link."""
MAX_ROWS: Final = 3
"""Maximum rows of a table with such links. DocBook writes the page's title in one row and the links in another."""
Relations = Mapping[str, frozenset[str]]
"""The relations, such as `next`, of addresses as they are written in the page."""
_NEIGHBOURS: Final = frozenset({"next", "prev", "previous"})
_RELATIONS: Final = _NEIGHBOURS | {"up", "home", "start", "contents", "index", "first", "last", "top", "search"}
_SIGNS: Final = ":[]<>«»‹›←→ "
_KEYS: Final = {
    "n": "next", "p": "prev", "u": "up", "h": "home", "c": "contents", "i": "index", "s": "search",
}  # fmt: skip
"""The relations that the access keys of DocBook and Sphinx stand for."""


def read_relations(root: HtmlElement) -> Relations:
    """Return what the head of a page says about the addresses of other pages. `root`: the tree before it is pruned."""
    return {str(link.get("href")): _relations(link) for link in root.iter("link") if link.get("href")}


def find_neighbour_links(segments: Segments, relations: Relations) -> list[bool]:
    """Return for each block whether it only leads to the pages around its page."""
    return [_leads_around(block, relations) for block in segments.blocks]


def _leads_around(block: TextBlock, relations: Relations) -> bool:
    if block.size > MAX_BYTES:
        return False
    links = list(_iter_links(block))
    found = [_relations(link) | relations.get(str(link.get("href")), frozenset()) for link in links]
    if not any(each & _NEIGHBOURS for each in found):
        return False
    named = sum(bool(each & _RELATIONS or _is_direction(link)) for link, each in zip(links, found, strict=True))
    table = block.parts[0][0]
    if table.tag == "table":
        return named == len(links) and len(list(table.iter("tr"))) <= MAX_ROWS
    directions = sum(len(word) for word in block.text.lower().split() if word.strip(_SIGNS) in _RELATIONS)
    return 2 * named >= len(links) and block.link_bytes + directions >= MIN_LINK_SHARE * block.size


def _is_direction(link: HtmlElement) -> bool:
    """Return whether the text of a link, or that of its image, is the English name of a relation."""
    names = [link.text_content(), *(image.get("alt") or "" for image in link.iter("img"))]
    return any(name.strip().lower().strip(_SIGNS) in _RELATIONS for name in names)


def _iter_links(block: TextBlock) -> Iterator[HtmlElement]:
    if block.box.is_in_link:
        yield from (each for each in (block.box.element, *block.box.element.iterancestors("a")) if each.get("href"))
    for element, place in block.parts:
        if place is Place.INSIDE:
            yield from (link for link in element.iter("a") if link.get("href"))


def _relations(link: HtmlElement) -> frozenset[str]:
    """Return the relations that a link states by its `rel` or its access key."""
    stated = frozenset((link.get("rel") or "").lower().split())
    by_key = _KEYS.get((link.get("accesskey") or "").lower())
    return stated | {by_key} if by_key else stated
