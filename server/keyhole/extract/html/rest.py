"""Move the blocks of a page that are not its main part into a tree of their own, the rest.

Nothing is deleted: the two trees together have every word of the page. The rest keeps the order of the page. It is
split into parts by kind, such as navigation or footer, and each part stands under a heading line that names its kind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from lxml import html
from lxml.html import HtmlElement

from keyhole.extract.html.boilerplate.segments import HEADINGS, Box, Place, Segments, TextBlock
from keyhole.extract.html.rest_kinds import guess_kind, name_kind
from keyhole.text.rest import RestKind, format_rest_line

_PAGE_KINDS: Final = frozenset({"navigation", "footer", "header", "dialog", "advertisement"})
"""Kinds that belong to the page as a whole, not to the heading above them."""


SMALL_BYTES: Final = 120
"""A smaller piece joins the part before it if it stands under the same heading. A line of its own would be as long."""


@dataclass(slots=True)
class _Part:
    """Adjacent boxes and loose blocks of one kind, under the same heading of the main part."""

    kind: RestKind
    heading: str
    pieces: list[Box | TextBlock] = field(default_factory=list)


def move_rest(segments: Segments, is_main: list[bool]) -> HtmlElement | None:
    """Move the blocks that are not main out of their tree and return the tree of the rest, None if all are main."""
    parts = _find_parts(segments, is_main)
    if not parts:
        return None
    # Loose blocks are moved first, because a text after a box would move with the box.
    pieces = [piece for part in parts for piece in part.pieces]
    for ordered in {piece.element.getparent() for piece in pieces if isinstance(piece, Box) and piece.tag == "li"}:
        _number_items(ordered)
    loose = {piece: _move_block(piece) for piece in pieces if isinstance(piece, TextBlock)}
    rest = html.Element("div")
    for part in parts:
        line = html.Element("h1")
        line.text = format_rest_line(part.kind, part.heading).removeprefix("# ")
        elements = [loose[piece] if isinstance(piece, TextBlock) else _detach(piece.element) for piece in part.pieces]
        for heading in (inner for element in elements for inner in element.iter("h1")):
            heading.tag = "h2"  # the page's headings stand below the line of their part
        rest.append(line)
        for element in elements:
            _append_element(rest, element)
    return rest


def _find_parts(segments: Segments, is_main: list[bool]) -> list[_Part]:
    """Return the parts of the rest in page order."""
    finder = _PieceFinder(segments, is_main)
    parts: list[_Part] = []
    heading = ""
    seen: Box | None = None
    for block, main in zip(segments.blocks, is_main, strict=True):
        if main:
            heading = block.text if block.box.tag in HEADINGS else heading
            continue
        piece, kind = finder.find(block)
        if piece is seen:
            continue
        seen = piece if isinstance(piece, Box) else None
        above = "" if kind in _PAGE_KINDS else heading
        last = parts[-1] if parts else None
        is_small = piece.size < SMALL_BYTES and last is not None and heading in {last.heading, ""}
        if last is None or not (is_small or (last.kind, last.heading) == (kind, above)):
            parts.append(_Part(kind, above))
        parts[-1].pieces.append(piece)
    return parts


class _PieceFinder:
    """Finds for each block of the rest the largest box around it that is one part, or the loose block itself."""

    def __init__(self, segments: Segments, is_main: list[bool]) -> None:
        self._has_main: dict[Box, bool] = dict.fromkeys(segments.boxes, False)
        self._has_kind_inside: dict[Box, bool] = dict.fromkeys(segments.boxes, False)
        for block, main in zip(segments.blocks, is_main, strict=True):
            self._has_main[block.box] |= main
        for box in reversed(segments.boxes):
            if box.parent is not None:
                self._has_main[box.parent] |= self._has_main[box]
                self._has_kind_inside[box.parent] |= self._has_kind_inside[box] or name_kind(box) is not None

    def find(self, block: TextBlock) -> tuple[Box | TextBlock, RestKind]:
        """Return the box or the block that is moved, and its kind."""
        path: list[Box] = []
        box: Box | None = block.box
        while box is not None and not self._has_main[box]:
            path.append(box)
            box = box.parent
        for box in reversed(path):
            kind = name_kind(box)
            if kind is not None or not self._has_kind_inside[box]:
                return box, kind or guess_kind(box.size, box.link_bytes)
        return block, guess_kind(block.size, block.link_bytes)


def _move_block(block: TextBlock) -> HtmlElement:
    """Move the parts of a block into a new paragraph."""
    paragraph = html.Element("p")
    inside = {element for element, place in block.parts if place is Place.INSIDE}
    tails = {element for element, place in block.parts if place is Place.TAIL}
    for element, place in block.parts:
        if place is Place.HEAD:
            paragraph.text = (paragraph.text or "") + (element.text or "")
            element.text = None
        elif place is Place.INSIDE:
            paragraph.append(_detach(element, with_tail=element in tails))
        elif element not in inside:
            _append_text(paragraph, element.tail or "")
            element.tail = None
    return paragraph


def _append_element(rest: HtmlElement, element: HtmlElement) -> None:
    """Append an element to the rest. List items without their list get a list."""
    if element.tag != "li":
        rest.append(element)
        return
    tag = "ul" if element.get("value") is None else "ol"
    if rest[-1].tag != tag or rest[-1].attrib:
        rest.append(html.Element(tag))
    rest[-1].append(element)


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


def _append_text(parent: HtmlElement, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def _detach(element: HtmlElement, *, with_tail: bool = False) -> HtmlElement:
    """Take an element out of its tree. The text after it stays in the tree, unless `with_tail`."""
    parent = element.getparent()
    if parent is None:
        return element
    if with_tail:
        parent.remove(element)
        return element
    element.tail = f" {element.tail or ''}"  # separates the words before and after, which are adjacent now
    element.drop_tree()
    element.tail = None
    return element
