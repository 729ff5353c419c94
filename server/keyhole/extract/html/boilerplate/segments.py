"""A page's tree as blocks of text, each with the boxes it stands in and what can be counted of them. Judges nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

INLINE: Final = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "img", "ins", "kbd", "label", "mark", "meter", "nobr", "output", "picture", "progress", "q", "rb", "rp", "rt",
    "ruby", "s", "samp", "small", "source", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
))  # fmt: skip
"""Elements that stand inside a line of text (HTML standard: phrasing content), unless they hold blocks."""

HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_WHOLE: Final = frozenset({"pre", "math"})
_TABLE_BLOCKS: Final = ("table", "p", "div", "ul", "h1", "h2", "h3", "form")
_MARKS = re.compile(r"[.,;:!?。，、；：！？।؟،]")

PROSE_MIN_BYTES: Final = 80
PROSE_MAX_LINKS: Final = 0.3
"""Prose is a block that is longer, has a punctuation mark, and is less linked than this share."""

_MAX_NAMES: Final = 240
"""Characters of class and id that are read: names that say something come first."""


class Place(Enum):
    """Which text of an element is meant: before its first child, all inside it, or after it."""

    HEAD = "head"
    INSIDE = "inside"
    TAIL = "tail"


Part = tuple[HtmlElement, Place]


@dataclass(slots=True, eq=False)
class Box:
    """An element that holds blocks; counts are of all the blocks in it. Sizes are UTF-8 bytes of text."""

    element: HtmlElement
    parent: Box | None
    names: str
    """Class, id, role and itemprop, in lower case."""

    linked: bool
    alike: int = 1
    """How many children of the parent have this tag and first class name, itself among them."""

    size: int = 0
    links: int = 0
    marks: int = 0
    prose: int = 0
    blocks: int = 0

    @property
    def tag(self) -> str:
        """The element's name."""
        return str(self.element.tag)


@dataclass(slots=True, eq=False)
class TextBlock:
    """A stretch of text without a block inside: its box, where its text stands, and its counts."""

    box: Box
    parts: list[Part]
    text: str
    size: int
    links: int
    marks: int

    @property
    def prose(self) -> int:
        """Its size if it is prose, else 0."""
        long = self.size > PROSE_MIN_BYTES and self.marks > 0
        return self.size if long and self.links < PROSE_MAX_LINKS * self.size else 0


@dataclass(frozen=True, slots=True)
class Segments:
    """Blocks and boxes, both in page order; a box stands before those inside it."""

    blocks: list[TextBlock]
    boxes: list[Box]


def segment(root: HtmlElement) -> Segments:
    """The text blocks of a pruned tree. Code and tables of data are one block each."""
    scan = _Scan(_holders(root))
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if event == "end":
            scan.end(element)
        elif not scan.start(element):
            walker.skip_subtree()
    found = Segments(scan.blocks, scan.boxes)
    _sum(found)
    return found


def _holders(root: HtmlElement) -> set[HtmlElement]:
    """Inline elements with a block somewhere inside: cards that are one link, lines that wrap paragraphs."""
    holders: set[HtmlElement] = set()
    for element in root.iter(*INLINE):
        if element in holders or not len(element) or all(child.tag in INLINE for child in element):
            continue
        holder = element
        while holder is not None and holder.tag in INLINE and holder not in holders:
            holders.add(holder)
            holder = holder.getparent()
    return holders


class _Scan:
    """Where the walk stands: the open box and the run of text in it that no block has ended yet."""

    def __init__(self, holders: set[HtmlElement]) -> None:
        self.blocks: list[TextBlock] = []
        self.boxes: list[Box] = []
        self._holders = holders
        self._box: Box | None = None
        self._run: list[Part] = []

    def start(self, element: HtmlElement) -> bool:
        """Take an element's beginning; whether its inside is walked too."""
        tag = element.tag
        if tag in INLINE and self._box is not None and element not in self._holders:
            self._run.append((element, Place.INSIDE))
            return False
        self._close()
        box = Box(element, self._box, _names(element), self._in_link(element))
        self.boxes.append(box)
        if tag in _WHOLE or (tag == "table" and _is_data(element)):
            self._add(box, [(element, Place.INSIDE)])
            return False
        self._box = box
        if element.text and not element.text.isspace():
            self._run.append((element, Place.HEAD))
        return True

    def end(self, element: HtmlElement) -> None:
        """Take an element's end, and the text after it."""
        if self._box is not None and element is self._box.element:
            self._close()
            self._box = self._box.parent
        # White space begins no run, but parts words within one.
        if self._box is not None and element.tail and (self._run or not element.tail.isspace()):
            self._run.append((element, Place.TAIL))

    def _in_link(self, element: HtmlElement) -> bool:
        return element.tag == "a" or (self._box is not None and self._box.linked)

    def _close(self) -> None:
        if self._run and self._box is not None:
            self._add(self._box, self._run)
        self._run = []

    def _add(self, box: Box, parts: list[Part]) -> None:
        found: list[str] = []
        linked: list[str] = []
        for part in parts:
            _read(part, found, linked)
        text = " ".join((" " if box.tag == "table" else "").join(found).split())
        if text:
            size = _bytes(text)
            links = size if box.linked else min(size, _bytes("".join(linked)))
            self.blocks.append(TextBlock(box, parts, text, size, links, len(_MARKS.findall(text))))


def _read(part: Part, found: list[str], linked: list[str]) -> None:
    """Add a part's pieces of text to `found`, and those that are links also to `linked`."""
    element, place = part
    if place is Place.HEAD:
        found.append(element.text or "")
    elif place is Place.TAIL:
        found.append(element.tail or "")
    elif element.tag == "br":
        found.append("\n")
    elif not len(element):  # most parts: one word or link
        if text := element.text:
            found.append(text)
            if element.tag == "a" and element.get("href"):
                linked.append(text)
    else:
        found.extend(element.itertext())
        for link in element.iter("a"):
            if link.get("href"):
                linked.extend(link.itertext())


def _bytes(text: str) -> int:
    """Size of a text in UTF-8: a letter of a dense script says more, and counts more."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _names(element: HtmlElement) -> str:
    attributes = element.attrib
    if not attributes:
        return ""
    names = (attributes.get(name) for name in ("class", "id", "role", "itemprop"))
    return " ".join([name[:_MAX_NAMES] for name in names if name]).lower()


def _is_data(table: HtmlElement) -> bool:
    """Whether a table holds data: rows, and no blocks in its cells that say it only lays the page out."""
    if any(element is not table for element in table.iter(*_TABLE_BLOCKS)):
        return False
    rows = table.iter("tr")
    return next(rows, None) is not None and next(rows, None) is not None


def _sum(found: Segments) -> None:
    """Count blocks into their boxes and boxes into theirs, and boxes that are alike."""
    for block in found.blocks:
        box = block.box
        box.size += block.size
        box.links += block.links
        box.marks += block.marks
        box.prose += block.prose
        box.blocks += 1
    kinds: dict[tuple[int, str, str], int] = {}
    keys = [(id(box.parent), box.tag, box.names.partition(" ")[0]) for box in found.boxes]
    for key in keys:
        kinds[key] = kinds.get(key, 0) + 1
    for box, key in zip(found.boxes, keys, strict=True):
        box.alike = kinds[key]
    for box in reversed(found.boxes):
        if box.parent is not None:
            box.parent.size += box.size
            box.parent.links += box.links
            box.parent.marks += box.marks
            box.parent.prose += box.prose
            box.parent.blocks += box.blocks
