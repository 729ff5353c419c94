"""Split the tree of a page into text blocks and the boxes that contain them, with counts for each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain, groupby, islice
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.wordless_elements import EMBEDDED, ICON

# Structures: code, formulas, data tables, lists and figures, which are judged as a whole.

CODE: Final = frozenset({"pre", "listing", "xmp", "plaintext"})
_ALWAYS_WHOLE: Final = CODE | {"math"}
STRUCTURES: Final = _ALWAYS_WHOLE | {"table", "figure", "div"}
"""Elements that may be structures, other than lists."""
LISTS: Final = frozenset({"ul", "ol", "dl", "menu", "dir"})
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_LANDMARKS: Final = ("form", "article", "section", "nav", "aside", "header", "footer", "main")
_REGION_TAGS: Final = (*_HEADINGS, *_LANDMARKS)
"""Elements that begin a part of a page. A list or table that contains one arranges the page, such as a list of cards or
comments."""

_MAX_SHORT_TABLE: Final = 200
"""Largest number of characters, without white space, of a data table that has headings and only one row of several
cells."""
_ROW_GROUPS: Final = ("thead", "tbody", "tfoot")
_MAX_INNER_TABLE: Final = 400
"""Characters of the longest table that is written as lines in a cell of another table."""
_MAX_CELL: Final = 1_500
"""Characters in the longest cell of a data table. A longer cell is a post or a column of the page."""


def is_structure(element: HtmlElement) -> bool:
    """Return whether an element other than a list is a structure, which is one block: all of it is main, or none."""
    tag = element.tag
    if tag in _ALWAYS_WHOLE:
        return True
    if tag == "table":
        return _is_data_table(element)
    return is_fragment(element) or (tag == "figure" and _has_none(element, *_REGION_TAGS))


def is_fragment(element: HtmlElement) -> bool:
    """Return whether an element is code without `<pre>`, in which each line is a `<div>`, as Doxygen writes it."""
    classes = element.get("class") if element.tag == "div" else None
    if not classes or "fragment" not in classes or "fragment" not in classes.split() or not len(element):
        return False
    # Tooltips about the names in the code follow its lines.
    return (element[0].get("class") or "") == "line" and all(child.tag == "div" for child in element)


def is_whole_list(element: HtmlElement) -> bool:
    """Return whether a list element is a structure: it arranges no parts of the page, such as cards or comments."""
    return _has_none(element, *_REGION_TAGS, "table") and all(has_code(inner) for inner in element.iter("div"))


def _is_data_table(table: HtmlElement) -> bool:
    """Return whether a table contains data: at least two rows of short cells, and nothing that arranges a page.

    Cells may contain paragraphs and lists. They may contain `<div>` only if the table has header cells or a caption,
    because tables without them often place the parts of a page.
    """
    if table.get("role") in {"presentation", "none"} or not _has_none(table, *_LANDMARKS):
        return False
    if has_layout_tables(table):
        return False
    if not _has_none(table, "div") and _has_none(table, "th", "caption"):
        return False
    rows = table.iter("tr")
    if next(rows, None) is None or next(rows, None) is None:
        return False
    if not _has_none(table, *_HEADINGS) and not has_heading_rows(table):
        return False
    return all(not len(cell) or len(cell.text_content()) <= _MAX_CELL for cell in table.iter("td", "th"))


def has_layout_tables(table: HtmlElement) -> bool:
    """Return whether a table contains other tables than short ones in the cells of data.

    Data has a header and several columns in its first rows. The search ends at the first table that is too long
    or has a table inside, so that it takes linear time.
    """
    inner = table.iterdescendants("table")
    first = next(inner, None)
    if first is None:
        return False
    parts = ([part] if part.tag == "tr" else part if part.tag in _ROW_GROUPS else () for part in table)
    rows = [[cell.tag for cell in row if cell.tag in {"td", "th"}] for row in islice(chain.from_iterable(parts), 2)]
    has_header = any("th" in row for row in rows) or next(table.iterchildren("thead"), None) is not None
    is_data = has_header and len(rows) > 1 and max(map(len, rows)) > 1
    return not is_data or any(
        _is_long(each) or next(each.iterdescendants("table"), None) is not None for each in chain((first,), inner)
    )


def _is_long(table: HtmlElement) -> bool:
    """Return whether a table is too long to be the lines of a cell."""
    length = 0
    for text in table.itertext():
        length += len(text.strip())
        if length > _MAX_INNER_TABLE:
            return True
    return False


def has_heading_rows(table: HtmlElement) -> bool:
    """Return whether each heading in a table is the only text of a row above others.

    Such a heading names the rows below it, as in Doxygen's lists of members. Other headings begin parts of a page. At
    least two rows of the table must have several cells; in a short table, one is enough.
    """
    for heading in table.iter(*_HEADINGS):
        row = next(heading.iterancestors("tr", "table"), table)
        if row.tag != "tr" or row.getnext() is None or _count_signs(row) > _count_signs(heading):
            return False
    several = (row for row in table.iter("tr") if sum(cell.tag in {"td", "th"} for cell in row) > 1)
    is_short = _count_signs(table) <= _MAX_SHORT_TABLE
    return next(several, None) is not None and (is_short or next(several, None) is not None)


def _count_signs(element: HtmlElement) -> int:
    """Return the number of characters of an element's text without white space."""
    return len("".join(element.text_content().split()))


def _has_none(element: HtmlElement, *tags: str) -> bool:
    return next(element.iter(*tags), None) is None


def has_code(element: HtmlElement) -> bool:
    """Return whether an element contains a code block."""
    return not _has_none(element, *CODE)


# Text blocks and boxes.

INLINE: Final = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "img", "input", "ins", "kbd", "label", "mark", "meter", "nobr", "output", "picture", "progress", "q", "rb", "rp",
    "rt", "ruby", "s", "samp", "small", "source", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var",
    "wbr", EMBEDDED, ICON,
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

_NAME_ATTRIBUTES: Final = ("class", "id", "role", "itemprop")
_MAX_NAMES: Final = 240
"""Number of characters read of each attribute with names. Meaningful names come first."""


class TextPlace(Enum):
    """The place of a text in an element: before the first child, anywhere inside, or after the element."""

    HEAD = "head"
    INSIDE = "inside"
    TAIL = "tail"


_HEAD, _INSIDE, _TAIL = TextPlace  # looking a member up takes longer than comparing it
BlockPart = tuple[HtmlElement, TextPlace]


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
    """The number of the parent's children with the same tag and first name, including this box. Those without
    text do not count."""

    size: int = 0
    link_bytes: int = 0
    prose_bytes: int = 0
    block_count: int = 0


@dataclass(slots=True, eq=False)
class TextBlock:
    """A run of text without a block inside, with its box, the parts of the tree that contain the text, and counts."""

    box: Box
    parts: list[BlockPart]
    text: str
    size: int
    link_bytes: int
    mark_count: int
    """The number of punctuation marks."""
    prose_bytes: int = field(init=False)
    """The size of the block if it is prose, else 0."""

    def __post_init__(self) -> None:
        is_sentence = self.size > PROSE_MIN_BYTES and self.mark_count > 0
        self.prose_bytes = self.size if is_sentence and self.link_bytes < PROSE_MAX_LINKS * self.size else 0


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
        [(box.element, TextPlace.INSIDE)],
        " ".join([block.text for block in blocks]),
        sum([block.size for block in blocks]),
        sum([block.link_bytes for block in blocks]),
        sum([block.mark_count for block in blocks]),
    )


def segment(root: HtmlElement) -> Segments:
    """Return the text blocks and boxes of a pruned tree. A structure other than a list is one block."""
    scanner = _Scanner()
    scanner.walk(root)
    segments = Segments(scanner.blocks, scanner.boxes)
    _sum_counts(segments)
    return segments


class _Scanner:
    """A builder of blocks and boxes during the walk, with the open elements.

    An element gets a box when its first block is added, so that elements without text have none.
    """

    def __init__(self) -> None:
        self.blocks: list[TextBlock] = []
        self.boxes: list[Box] = []
        self._path: list[HtmlElement] = []
        self._path_boxes: list[Box] = []
        """The boxes of the first elements of the path."""
        self._block_holders: set[HtmlElement] = set()

    def walk(self, root: HtmlElement) -> None:
        """Add the blocks and boxes of a tree."""
        path = self._path
        run: list[BlockPart] = []
        """The parts of the unfinished block."""
        levels = [iter((root,))]
        while levels:
            element = next(levels[-1], None)
            if element is None:
                levels.pop()
                if not path:
                    break
                element = self._close(run)
                run = []
            elif (tag := element.tag) in INLINE and path and not (len(element) and self._holds_block(element)):
                run.append((element, _INSIDE))
            else:
                if run:
                    self._end_block(run)
                path.append(element)
                if not (tag in STRUCTURES and is_structure(element)):
                    text = element.text
                    run = [(element, _HEAD)] if text and not text.isspace() else []
                    levels.append(iter(element))
                    continue
                self._close([(element, _INSIDE)])
                run = []
            # White space separates words within a run, but does not begin a run.
            tail = element.tail
            if tail and path and (run or not tail.isspace()):
                run.append((element, _TAIL))

    def _holds_block(self, element: HtmlElement) -> bool:
        """Return whether an inline element contains a block, such as a link around a card."""
        if element in self._block_holders:
            return True
        inner = next((inner for inner in element.iterdescendants() if inner.tag not in INLINE), None)
        while inner is not None and inner is not element:
            inner = inner.getparent()
            self._block_holders.add(inner)
        return inner is not None

    def _close(self, run: list[BlockPart]) -> HtmlElement:
        """End the innermost open element, whose last block has the parts `run`."""
        if run:
            self._end_block(run)
        if len(self._path_boxes) == len(self._path):
            self._path_boxes.pop()
        return self._path.pop()

    def _end_block(self, parts: list[BlockPart]) -> None:
        texts: list[str] = []
        link_texts: list[str] = []
        is_spaced = self._path[-1].tag in _SPACED
        for part in parts:
            _collect_text(part, texts, link_texts, is_spaced)
        text = " ".join((" " if is_spaced else "").join(texts).split())
        if text:
            box = self._open_boxes()
            size = _measure_utf8(text)
            links = size if box.is_in_link else min(size, _measure_utf8("".join(link_texts))) if link_texts else 0
            self.blocks.append(TextBlock(box, parts, text, size, links, len(_MARKS.findall(text))))

    def _open_boxes(self) -> Box:
        """Return the box of the innermost open element, after creating the boxes that the open elements lack."""
        for element in self._path[len(self._path_boxes) :]:
            box = _create_box(element, self._path_boxes[-1] if self._path_boxes else None)
            self._path_boxes.append(box)
            self.boxes.append(box)
        return self._path_boxes[-1]


def _create_box(element: HtmlElement, parent: Box | None) -> Box:
    tag = "pre" if element.tag == "div" and is_fragment(element) else element.tag
    box = Box(element, tag, parent, _read_names(element), tag == "a")
    if parent is not None:
        box.is_in_link = box.is_in_link or parent.is_in_link
        box.list_box = parent.list_box
    if box.list_box is None and tag in LISTS and is_whole_list(element):
        box.list_box = box
    return box


def _collect_text(part: BlockPart, texts: list[str], link_texts: list[str], is_spaced: bool) -> None:
    """Append the text of a part to `texts`, and the text of its links also to `link_texts`.

    With `is_spaced`, the texts of a structure's elements are appended one by one.
    """
    element, place = part
    if place is _HEAD:
        texts.append(element.text or "")
    elif place is _TAIL:
        texts.append(element.tail or "")
    elif element.tag == "br":
        texts.append("\n")
    elif not len(element):  # most parts are one word or link
        if text := element.text:
            texts.append(text)
            if element.tag == "a" and element.get("href"):
                link_texts.append(text)
    else:
        if is_spaced:
            texts.extend(element.itertext())
        else:
            texts.append(element.text_content())
        link_texts += [link.text_content() for link in element.iter("a") if link.get("href")]


def _measure_utf8(text: str) -> int:
    """Return the size of a text in UTF-8. Dense scripts such as Chinese have more bytes per character."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _read_names(element: HtmlElement) -> str:
    get = element.get
    names = [name[:_MAX_NAMES] for key in _NAME_ATTRIBUTES if (name := get(key))]
    return " ".join(names).lower() if names else ""


def _sum_counts(segments: Segments) -> None:
    """Add the counts of blocks to their boxes and of boxes to their parents, and count the boxes that are alike."""
    for block in segments.blocks:
        box = block.box
        box.size += block.size
        box.link_bytes += block.link_bytes
        box.prose_bytes += block.prose_bytes
        box.block_count += 1
    keys = [(box.parent, box.tag, box.names.partition(" ")[0]) for box in segments.boxes]
    counts = Counter(keys)
    for box, key in zip(segments.boxes, keys, strict=True):
        box.alike_count = counts[key]
    for box in reversed(segments.boxes):
        above = box.parent
        if above is not None:
            above.size += box.size
            above.link_bytes += box.link_bytes
            above.prose_bytes += box.prose_bytes
            above.block_count += box.block_count
