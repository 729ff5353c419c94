"""Write the rest of a page as Markdown: each part under a line that names its kind.

Menus and footers make up half of an average page. So short blocks are written as plain lines with links, which takes a
tenth of the time of the converter for the main part. Tables, code and boxes of sentences are converted like the main
part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.boilerplate.segments import HEADINGS, Box, Segments, TextBlock, TextPlace
from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.link_resolver import LinkResolver, escape_label
from keyhole.extract.html.wordless_elements import EMBEDDED
from keyhole.text.clean import clean, has_suspect_characters
from keyhole.text.escape import escape_markdown
from keyhole.text.page_structure import RestKind, format_rest_cut, format_rest_line

# Name the kind of a part of a page's rest, from its element, its class and role, and its links.

_KINDS_BY_TAG: Final[dict[str, RestKind]] = {
    "nav": "navigation", "menu": "navigation", "form": "form", "search": "form", "dialog": "dialog",
    "figcaption": "captions", "aside": "sidebar", "address": "byline",
}  # fmt: skip
_EDGES: Final[dict[str, RestKind]] = {"header": "header", "footer": "footer"}
_SECTIONS: Final = frozenset({"article", "main", "section", "li"})
"""Elements whose `<header>` and `<footer>` are their own, not those of the page: author, date, share links."""
_ROOTS: Final = frozenset({"body", "html"})
"""Elements whose class describes the whole page."""
_KINDS_BY_ROLE: Final[dict[str, RestKind]] = {
    "navigation": "navigation", "menu": "navigation", "menubar": "navigation", "contentinfo": "footer",
    "search": "form", "form": "form", "dialog": "dialog", "alertdialog": "dialog", "complementary": "sidebar",
    "banner": "header", "directory": "navigation",
}  # fmt: skip
_WORDS_BY_KIND: Final[dict[RestKind, str]] = {
    "comments": r"\bcomments?|disqus|replies|respond|discussion",
    "related links": r"related|recommend|popular|trending|most[-_]?read|more[-_]|read[-_]next|teaser",
    "navigation": r"nav|menu|crumb|toc\b|pagina|pager|toolbar|skip|tabs\b|langs?\b|language",
    "footer": r"foot|copyright|legal|colophon|imprint",
    "advertisement": r"\bads?\b|\bad[-_]|advert|sponsor|promo",
    "dialog": r"cookie|consent|modal|popup|overlay",
    "form": r"newsletter|subscri|sign[-_]?up|log[-_]?in|search|form\b",
    "share links": r"share|sharing|social|follow",
    "byline": r"byline|author|\bmeta\b|dateline|publish|post[-_]?info|tags?\b|categor",
    "captions": r"caption|credit",
    "sidebar": r"side[-_]?bar|\baside\b|widget|rail\b",
    "header": r"header|masthead|\blogo",
}
"""The kind by the first of these words in an element's class and id, which sites of all languages write in English."""
_KINDS: Final = tuple(_WORDS_BY_KIND)
_WORDS = re.compile("|".join(f"({words})" for words in _WORDS_BY_KIND.values()))
_NAVIGATION_LINKS: Final = 0.6
"""Smallest share of links with which a part without a telling name is navigation."""


def name_kind(box: Box) -> RestKind | None:
    """Return the kind of a box by its element, role, class and id, None if they do not tell."""
    if box.tag in _EDGES:
        is_inside = any(above.tag in _SECTIONS for above in box.element.iterancestors())
        return "byline" if is_inside else _EDGES[box.tag]
    return _name_kind(box.tag, box.element.get("role") or "", box.names)


@lru_cache(maxsize=4_096)
def _name_kind(tag: str, role: str, names: str) -> RestKind | None:
    kind = _KINDS_BY_ROLE.get(role)
    if kind is None and names and tag not in _ROOTS:
        match = _WORDS.search(names)
        kind = _KINDS[(match.lastindex or 1) - 1] if match else None
    return kind or _KINDS_BY_TAG.get(tag)


def guess_kind(size: int, link_bytes: int) -> RestKind:
    """Return the kind of a part without a telling name, by the share of links in its text."""
    return "navigation" if link_bytes > _NAVIGATION_LINKS * size else "other"


# Split the blocks of a page that are not its main part into parts by kind, and remove them from the tree.

PAGE_KINDS: Final = frozenset({"navigation", "footer", "header", "dialog", "advertisement"})
"""Kinds that belong to the page as a whole, not to the heading above them."""
SMALL_BYTES: Final = 120
"""A smaller piece joins the part before it if both stand under one heading. The line that names a part is as long."""


@dataclass(slots=True)
class PagePart:
    """Adjacent pieces of one kind: boxes with their blocks, and loose blocks with the box None.

    `heading` is the heading of the main part above them, "" for `PAGE_KINDS`.
    """

    kind: RestKind
    heading: str
    pieces: list[tuple[Box | None, list[TextBlock]]] = field(default_factory=list)


def find_parts(segments: Segments, is_main: list[bool]) -> list[PagePart]:
    """Return the parts of the rest in page order."""
    pieces = _find_pieces(segments, is_main)
    parts: list[PagePart] = []
    heading = ""
    for block, main in zip(segments.blocks, is_main, strict=True):
        if main:
            heading = block.text if block.box.tag in HEADINGS else heading
            continue
        box, kind = pieces.get(block.box) or (None, guess_kind(block.size, block.link_bytes))
        if box is not None and parts and parts[-1].pieces[-1][0] is box:
            parts[-1].pieces[-1][1].append(block)
            continue
        last = parts[-1] if parts else None
        above = "" if kind in PAGE_KINDS else heading
        size = block.size if box is None else box.size
        is_small = size < SMALL_BYTES and last is not None and last.heading in {heading, ""}
        if last is None or not (is_small or (last.kind, last.heading) == (kind, above)):
            parts.append(PagePart(kind, above))
        parts[-1].pieces.append((box, [block]))
    return parts


def _find_pieces(segments: Segments, is_main: list[bool]) -> dict[Box, tuple[Box, RestKind]]:
    """Return for each box of the rest the largest box around it that is a part of one kind, with its kind.

    Boxes between parts of different kinds are left out.
    """
    has_main: set[Box] = set()
    for block, main in zip(segments.blocks, is_main, strict=True):
        if main:
            _add_with_ancestors(block.box, has_main)
    pieces: dict[Box, tuple[Box, RestKind]] = {}
    has_kind_inside: set[Box] = set()
    unnamed: list[Box] = []
    for box in segments.boxes:
        if box in has_main:
            continue
        if box.parent in pieces:
            pieces[box] = pieces[box.parent]
        elif kind := name_kind(box):
            pieces[box] = box, kind
            _add_with_ancestors(box.parent, has_kind_inside)
        else:
            unnamed.append(box)
    for box in unnamed:
        if box.parent in pieces:
            pieces[box] = pieces[box.parent]
        elif box not in has_kind_inside:
            pieces[box] = box, guess_kind(box.size, box.link_bytes)
    return pieces


def _add_with_ancestors(box: Box | None, boxes: set[Box]) -> None:
    """Add a box and all boxes around it to a set of boxes that contains the ancestors of each."""
    while box is not None and box not in boxes:
        boxes.add(box)
        box = box.parent


def remove_parts(parts: list[PagePart]) -> None:
    """Remove the pieces of all parts from their tree. Text after a removed box stays."""
    boxes = [box for part in parts for box, _ in part.pieces if box is not None]
    for ordered in {box.element.getparent() for box in boxes if box.tag == "li"}:
        _number_items(ordered)
    # Loose blocks come first: the text after a box would otherwise move when the box is removed.
    for part in parts:
        for box, blocks in part.pieces:
            if box is None:
                _remove_block(blocks[0])
    for box in boxes:
        _remove(box.element)


def _remove_block(block: TextBlock) -> None:
    for element, place in reversed(block.parts):
        if place is TextPlace.HEAD:
            element.text = None
        elif place is TextPlace.TAIL:
            element.tail = None
        else:
            _remove(element)


def _remove(element: HtmlElement) -> None:
    if element.getparent() is not None:
        element.tail = f" {element.tail or ''}"  # separates the words before and after, which are adjacent now
        element.drop_tree()


def _number_items(ordered: HtmlElement | None) -> None:
    """Write the number of each item of an ordered list into the item, since some are about to leave the list."""
    if ordered is None or ordered.tag != "ol" or ordered.get("reversed") is not None:
        return
    number = _parse_number(ordered.get("start"), 1)
    for item in ordered.iterchildren("li"):
        number = _parse_number(item.get("value"), number)
        item.set("value", str(number))
        number += 1


def _parse_number(value: str | None, default: int) -> int:
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 7 else default


# Write the rest of a page as Markdown: each part under a line that names its kind.

MAX_REST_CHARS: Final = 200_000
"""Longest rest of a page that is kept. Menus have a few thousand characters; a longer rest is a catalogue of links."""
PROSE_SHARE: Final = 0.5
"""A box with at least this share of sentences is converted like the main part."""
MAX_INLINE_DEPTH: Final = 30
"""Depth of inline elements that are searched for links. Deeper nesting comes from unclosed tags."""
_TARGET = re.compile(r"\]\(([^()\s]++)\)")
_STRUCTURE = re.compile(r"(?=#{1,6}(?:\s|$)|~{3}|(?:=+|-+)$)")
"""The start of a line that Markdown would read as a heading, a fence, or the underline of a heading."""


def take_rest(root: HtmlElement, segments: Segments, is_main: list[bool], links: LinkResolver) -> str:
    """Remove the blocks that are not main from the tree and return them as Markdown, "" if all blocks are main.

    The files and pages that the removed parts embed follow as a list.

    A rest longer than `MAX_REST_CHARS` is shortened and ends with a line that says so.
    """
    parts = find_parts(segments, is_main)
    if not parts:
        return ""
    has_suspects = has_suspect_characters("".join([block.text for block in segments.blocks]))
    writer = _RestWriter(links, _escape_suspect if has_suspects else escape_markdown)
    rest = "\n".join(map(writer.write_part, parts))
    embedded = list(root.iter(EMBEDDED))
    remove_parts(parts)
    kept = set(root.iter(EMBEDDED))
    rest += writer.write_embedded([each for each in embedded if each not in kept], rest)
    if len(rest) <= MAX_REST_CHARS:
        return rest
    end = rest.rfind("\n", 0, MAX_REST_CHARS) + 1 or MAX_REST_CHARS
    return f"{rest[:end]}\n{format_rest_cut(len(rest) - end)}\n"


class _RestWriter:
    """A writer of the parts of one page."""

    def __init__(self, links: LinkResolver, escape: Callable[[str], str]) -> None:
        self._links = links
        self._escape = escape

    def write_part(self, part: PagePart) -> str:
        """Return a part as Markdown that ends with a line break."""
        line = self._escape(format_rest_line(part.kind, part.heading))
        texts = [text for box, blocks in part.pieces for text in self._write_piece(box, blocks)]
        return f"{line}\n\n{_join_lines(texts)}\n"

    def write_embedded(self, embedded: list[HtmlElement], rest: str) -> str:
        """Return a list of embedded files and pages without those that the rest names already, "" for none."""
        known = set(_TARGET.findall(rest))
        lines: dict[str, str] = {}
        for element in embedded:
            address = self._links.resolve(element.get("href") or "")
            if address and address not in known:
                lines[address] = f"- [{escape_label(self._escape(element.get('title') or ''))}]({address})"
        return f"\n{format_rest_line('embedded files')}\n\n" + "\n".join(lines.values()) + "\n" if lines else ""

    def _write_piece(self, box: Box | None, blocks: list[TextBlock]) -> Iterator[str]:
        if box is not None and box.prose_bytes >= PROSE_SHARE * box.size:
            yield self._convert(box.element)
            return
        for block in blocks:
            element, place = block.parts[0]
            if place is TextPlace.INSIDE and element is block.box.element:  # a table, code or another structure
                yield self._convert(element)
            elif text := self._write_block(block):
                yield _begin_line(block.box) + (f"\\{text}" if _STRUCTURE.match(text) else text)

    def _convert(self, element: HtmlElement) -> str:
        """Return an element as Markdown. Its headings of level 1 become level 2, below the line of the part."""
        for heading in element.iter("h1"):
            heading.tag = "h2"
        return to_markdown(element, self._links).rstrip("\n")

    def _write_block(self, block: TextBlock) -> str:
        """Return the text of a block in one line, with its links."""
        if not block.link_bytes:
            return self._escape(block.text)
        if address := self._find_link(block):
            return f"[{escape_label(self._escape(block.text))}]({address})"
        return " ".join("".join([self._write_block_part(*part) for part in block.parts]).split())

    def _write_block_part(self, element: HtmlElement, place: TextPlace) -> str:
        if place is TextPlace.INSIDE:
            return self._write_inline(element, 0)
        return self._escape((element.text if place is TextPlace.HEAD else element.tail) or "")

    def _find_link(self, block: TextBlock) -> str:
        """Return the address of the link around a block, or ""."""
        box: Box | None = block.box
        while box is not None and box.is_in_link:
            if href := box.element.get("href"):
                return self._links.resolve(href)
            box = box.parent
        return ""

    def _write_inline(self, element: HtmlElement, depth: int) -> str:
        """Return the text of an inline element, with its links."""
        tag = element.tag
        if tag == "br":
            return " "
        if tag == "a" and (address := self._links.resolve(element.get("href") or "")):
            text = " ".join(_read_text(element).split())
            return f"[{escape_label(self._escape(text))}]({address})" if text else ""
        if depth >= MAX_INLINE_DEPTH or not len(element):
            return self._escape(_read_text(element))
        texts = [self._escape(element.text or "")]
        for child in element:
            texts += self._write_inline(child, depth + 1), self._escape(child.tail or "")
        return "".join(texts)


def _read_text(element: HtmlElement) -> str:
    # Most elements of a menu have no children, and `text` takes a tenth of the time of `text_content`.
    return element.text_content() if len(element) else element.text or ""


def _escape_suspect(text: str) -> str:
    # Clean before escaping: two signs become adjacent if a character between them is removed.
    return escape_markdown(clean(text))


def _begin_line(box: Box) -> str:
    """Return the Markdown before a block in this box: the sign of a heading or of a list item."""
    if box.tag in HEADINGS:
        return "#" * max(2, int(box.tag[1])) + " "
    above: Box | None = box
    while above is not None and above.block_count == 1:
        if above.tag == "li":
            return "- "
        above = above.parent
    return ""


def _join_lines(texts: list[str]) -> str:
    """Join blocks by blank lines, and adjacent list items by line breaks."""
    pieces: list[str] = []
    was_item = False
    for text in texts:
        is_item = text.startswith("- ")
        if pieces:
            pieces.append("\n" if is_item and was_item else "\n\n")
        pieces.append(text)
        was_item = is_item
    return "".join(pieces)
