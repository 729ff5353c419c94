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
class Part:
    """Adjacent pieces of one kind: boxes with their blocks, and loose blocks with the box None.

    `heading` is the heading of the main part above them, "" for `PAGE_KINDS`.
    """

    kind: RestKind
    heading: str
    pieces: list[tuple[Box | None, list[TextBlock]]] = field(default_factory=list)


def find_parts(segments: Segments, is_main: list[bool]) -> list[Part]:
    """Return the parts of the rest in page order."""
    finder = _PieceFinder(segments, is_main)
    parts: list[Part] = []
    heading = ""
    for block, main in zip(segments.blocks, is_main, strict=True):
        if main:
            heading = block.text if block.box.tag in HEADINGS else heading
            continue
        box, kind = finder.find(block)
        if box is not None and parts and parts[-1].pieces[-1][0] is box:
            parts[-1].pieces[-1][1].append(block)
            continue
        last = parts[-1] if parts else None
        above = "" if kind in PAGE_KINDS else heading
        size = block.size if box is None else box.size
        is_small = size < SMALL_BYTES and last is not None and last.heading in {heading, ""}
        if last is None or not (is_small or (last.kind, last.heading) == (kind, above)):
            parts.append(Part(kind, above))
        parts[-1].pieces.append((box, [block]))
    return parts


class _PieceFinder:
    """Finds for each block of the rest the largest box around it that is a part of one kind."""

    def __init__(self, segments: Segments, is_main: list[bool]) -> None:
        self._has_main: set[Box] = set()
        self._kinds: dict[Box, RestKind | None] = {}
        self._has_kind_inside: set[Box] = set()
        for block, main in zip(segments.blocks, is_main, strict=True):
            box: Box | None = block.box
            while main and box is not None and box not in self._has_main:
                self._has_main.add(box)
                box = box.parent
        for box in reversed(segments.boxes):
            if box.block_count and box not in self._has_main:
                kind = self._kinds[box] = name_kind(box)
                if box.parent is not None and (kind is not None or box in self._has_kind_inside):
                    self._has_kind_inside.add(box.parent)

    def find(self, block: TextBlock) -> tuple[Box | None, RestKind]:
        """Return the box that the block belongs to, None for a loose block, and the kind of the box or block."""
        path: list[Box] = []
        box: Box | None = block.box
        while box is not None and box not in self._has_main:
            path.append(box)
            box = box.parent
        for box in reversed(path):
            kind = self._kinds[box]
            if kind is not None or box not in self._has_kind_inside:
                return box, kind or guess_kind(box.size, box.link_bytes)
        return None, guess_kind(block.size, block.link_bytes)


def remove_parts(parts: list[Part]) -> None:
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
