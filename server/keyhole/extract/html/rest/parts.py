"""Split the blocks of a page that are not its main part into parts by kind, and remove them from the tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.boilerplate.segments import HEADINGS, Box, Place, Segments, TextBlock
from keyhole.extract.html.rest.kinds import guess_kind, name_kind
from keyhole.text.rest import RestKind

PAGE_KINDS: Final = frozenset({"navigation", "footer", "header", "dialog", "advertisement"})
"""Kinds that belong to the page as a whole, not to the heading above them."""
SMALL_BYTES: Final = 120
"""A smaller piece joins the part before it if it stands under the same heading. A line of its own would be as long."""


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
        if place is Place.HEAD:
            element.text = None
        elif place is Place.TAIL:
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
