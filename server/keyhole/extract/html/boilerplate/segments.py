"""Split a page's tree into text blocks and the boxes that contain them, with counts for each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract.html.boilerplate.structures import LISTS, is_fragment, is_structure, is_whole_list

INLINE: Final = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "img", "ins", "kbd", "label", "mark", "meter", "nobr", "output", "picture", "progress", "q", "rb", "rp", "rt",
    "ruby", "s", "samp", "small", "source", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
))  # fmt: skip
"""Elements inside a line of text (HTML standard: phrasing content), unless they hold blocks."""

HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_SPACED: Final = frozenset({"table", "figure"})
"""Structures whose texts are in different lines or cells, without white space between them in the source."""
_MARKS = re.compile(r"[.,;:!?。，、；：！？।؟،]")

PROSE_MIN_BYTES: Final = 80
PROSE_MAX_LINKS: Final = 0.3
"""A block is prose if it is longer than `PROSE_MIN_BYTES`, has a punctuation mark, and the share of its links is below
`PROSE_MAX_LINKS`."""

_MAX_NAMES: Final = 240
"""Number of characters read of each attribute with names. Meaningful names come first."""


class Place(Enum):
    """The place of a text in an element: before the first child, anywhere inside, or after the element."""

    HEAD = "head"
    INSIDE = "inside"
    TAIL = "tail"


Part = tuple[HtmlElement, Place]


@dataclass(slots=True, eq=False)
class Box:
    """An element that contains blocks, with sums over all its blocks. Sizes are bytes of text in UTF-8."""

    element: HtmlElement
    tag: str
    """The element's tag; `pre` for code that is written without it."""
    parent: Box | None
    names: str
    """Class, id, role and itemprop, in lower case."""

    is_in_link: bool
    list_box: Box | None = None
    """The outermost list that is a structure and contains this box, or is this box."""
    alike_count: int = 1
    """The number of the parent's children with the same tag and first name, including this box."""

    size: int = 0
    link_bytes: int = 0
    mark_count: int = 0
    """The number of punctuation marks."""
    prose_bytes: int = 0
    block_count: int = 0


@dataclass(slots=True, eq=False)
class TextBlock:
    """A run of text without a block inside, with its box, the parts of the tree that contain the text, and counts."""

    box: Box
    parts: list[Part]
    text: str
    size: int
    link_bytes: int
    mark_count: int

    @property
    def prose_bytes(self) -> int:
        """The size of the block if it is prose, else 0."""
        is_sentence = self.size > PROSE_MIN_BYTES and self.mark_count > 0
        return self.size if is_sentence and self.link_bytes < PROSE_MAX_LINKS * self.size else 0


@dataclass(frozen=True, slots=True)
class Segments:
    """The blocks and boxes of a page, both in page order; a box comes before those inside it."""

    blocks: list[TextBlock]
    boxes: list[Box]


def join_lists(segments: Segments) -> Segments:
    """Return the segments with one block for each list that is a structure, and without the boxes inside lists."""
    blocks: list[TextBlock] = []
    for box, items in _group_by_list(segments.blocks):
        blocks += items if box is None else [_join_blocks(box, items)]
    return Segments(blocks, [box for box in segments.boxes if box.list_box is None or box.list_box is box])


def spread_over_lists(segments: Segments, values: list[bool]) -> list[bool]:
    """Return the values of the blocks of `join_lists(segments)` for each block of `segments`."""
    rest = iter(values)
    spread: list[bool] = []
    for box, items in _group_by_list(segments.blocks):
        spread += [next(rest) for _ in items] if box is None else [next(rest)] * len(items)
    return spread


def _group_by_list(blocks: list[TextBlock]) -> Iterator[tuple[Box | None, list[TextBlock]]]:
    """Yield adjacent blocks of the same list, or outside of lists, with the box of the list."""
    for box, items in groupby(blocks, key=lambda block: block.box.list_box):
        yield box, list(items)


def _join_blocks(box: Box, blocks: list[TextBlock]) -> TextBlock:
    return TextBlock(
        box,
        [(box.element, Place.INSIDE)],
        " ".join([block.text for block in blocks]),
        sum([block.size for block in blocks]),
        sum([block.link_bytes for block in blocks]),
        sum([block.mark_count for block in blocks]),
    )


def segment(root: HtmlElement) -> Segments:
    """Return the text blocks and boxes of a pruned tree. A structure other than a list is one block."""
    scanner = _Scanner(_find_block_holders(root))
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if event == "end":
            scanner.end(element)
        elif not scanner.start(element):
            walker.skip_subtree()
    segments = Segments(scanner.blocks, scanner.boxes)
    _sum_counts(segments)
    return segments


def _find_block_holders(root: HtmlElement) -> set[HtmlElement]:
    """Return the inline elements that contain a block, such as a link around a card."""
    holders: set[HtmlElement] = set()
    for element in root.iter(*INLINE):
        if element in holders or not len(element) or all(child.tag in INLINE for child in element):
            continue
        holder = element
        while holder is not None and holder.tag in INLINE and holder not in holders:
            holders.add(holder)
            holder = holder.getparent()
    return holders


class _Scanner:
    """A builder of blocks and boxes during the walk, with the open box and the parts of the unfinished block."""

    def __init__(self, holders: set[HtmlElement]) -> None:
        self.blocks: list[TextBlock] = []
        self.boxes: list[Box] = []
        self._block_holders = holders
        self._box: Box | None = None
        self._run: list[Part] = []

    def start(self, element: HtmlElement) -> bool:
        """Process the start of an element and return whether to walk its content."""
        tag = element.tag
        if tag in INLINE and self._box is not None and element not in self._block_holders:
            self._run.append((element, Place.INSIDE))
            return False
        self._end_block()
        list_box = self._box.list_box if self._box is not None else None
        if tag == "div" and is_fragment(element):
            tag = "pre"
        box = Box(element, tag, self._box, _read_names(element), self._in_link(element), list_box)
        self.boxes.append(box)
        if is_structure(element):
            self._add_block(box, [(element, Place.INSIDE)])
            return False
        if box.list_box is None and tag in LISTS and is_whole_list(element):
            box.list_box = box
        self._box = box
        if element.text and not element.text.isspace():
            self._run.append((element, Place.HEAD))
        return True

    def end(self, element: HtmlElement) -> None:
        """Process the end of an element and the text after it."""
        if self._box is not None and element is self._box.element:
            self._end_block()
            self._box = self._box.parent
        # White space separates words within a run, but does not begin a run.
        if self._box is not None and element.tail and (self._run or not element.tail.isspace()):
            self._run.append((element, Place.TAIL))

    def _in_link(self, element: HtmlElement) -> bool:
        return element.tag == "a" or (self._box is not None and self._box.is_in_link)

    def _end_block(self) -> None:
        if self._run and self._box is not None:
            self._add_block(self._box, self._run)
        self._run = []

    def _add_block(self, box: Box, parts: list[Part]) -> None:
        texts: list[str] = []
        link_texts: list[str] = []
        for part in parts:
            _collect_text(part, texts, link_texts)
        text = " ".join((" " if box.tag in _SPACED else "").join(texts).split())
        if text:
            size = _measure_utf8(text)
            links = size if box.is_in_link else min(size, _measure_utf8("".join(link_texts)))
            self.blocks.append(TextBlock(box, parts, text, size, links, len(_MARKS.findall(text))))


def _collect_text(part: Part, texts: list[str], link_texts: list[str]) -> None:
    """Append the text of a part to `texts`, and the text of its links also to `link_texts`."""
    element, place = part
    if place is Place.HEAD:
        texts.append(element.text or "")
    elif place is Place.TAIL:
        texts.append(element.tail or "")
    elif element.tag == "br":
        texts.append("\n")
    elif not len(element):  # most parts are one word or link
        if text := element.text:
            texts.append(text)
            if element.tag == "a" and element.get("href"):
                link_texts.append(text)
    else:
        texts.extend(element.itertext())
        for link in element.iter("a"):
            if link.get("href"):
                link_texts.extend(link.itertext())


def _measure_utf8(text: str) -> int:
    """Return the size of a text in UTF-8. Dense scripts such as Chinese have more bytes per character."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _read_names(element: HtmlElement) -> str:
    attributes = element.attrib
    if not attributes:
        return ""
    names = (attributes.get(name) for name in ("class", "id", "role", "itemprop"))
    return " ".join([name[:_MAX_NAMES] for name in names if name]).lower()


def _sum_counts(segments: Segments) -> None:
    """Add the counts of blocks to their boxes and of boxes to their parents, and count the boxes that are alike."""
    for block in segments.blocks:
        box = block.box
        box.size += block.size
        box.link_bytes += block.link_bytes
        box.mark_count += block.mark_count
        box.prose_bytes += block.prose_bytes
        box.block_count += 1
    counts: dict[tuple[int, str, str], int] = {}
    keys = [(id(box.parent), box.tag, box.names.partition(" ")[0]) for box in segments.boxes]
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    for box, key in zip(segments.boxes, keys, strict=True):
        box.alike_count = counts[key]
    for box in reversed(segments.boxes):
        if box.parent is not None:
            box.parent.size += box.size
            box.parent.link_bytes += box.link_bytes
            box.parent.mark_count += box.mark_count
            box.parent.prose_bytes += box.prose_bytes
            box.parent.block_count += box.block_count
