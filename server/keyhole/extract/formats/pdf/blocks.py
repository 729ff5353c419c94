"""Build the blocks of a document from the lines of its pages: headings, paragraphs, list items, code, notes, tables."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from keyhole.extract.formats.pdf.headings import HeadingFinder
from keyhole.extract.formats.pdf.page_parts import RAISED, Line, Table, make_line
from keyhole.extract.formats.pdf.reading_order import MARKER, Row

PITCH: Final = 1.2
"""Distance of the baselines of a paragraph in sizes of its font, where the document does not show it."""
PARAGRAPH_GAP: Final = 1.3
"""A larger distance of baselines, in usual distances, separates paragraphs."""
CODE_GAP: Final = 3.5
"""A larger distance of baselines, in usual distances, separates blocks of code."""
INDENT: Final = 0.8
"""A line that is indented more, in sizes of the font, begins a paragraph."""
NOTE_SIZE: Final = 0.93
"""Largest size of a footnote, as a share of the size of the main text."""
RAGGED: Final = 0.25
"""The share of the column's width that may be free at the end of a line that goes on with a small letter."""
_SENTENCE_END = re.compile(r"[.!?:;。！？：；…][)\]\"'”’»」』）]*$")
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]")
_NOTE = re.compile(rf"{RAISED}(\d{{1,3}}|[*†‡§]) ?(?=\S)")
_LEADERS = re.compile(r"(?:\. ?){4,}|…{2,}|(?:· ?){4,}")
_CHAPTER = re.compile(r"\w{4,12} (?:\d{1,3}|[A-Z]|[IVXLC]{1,6})|第 ?\d+ ?[章部]|\d{1,3} ?장")
"""A line above the title of a chapter: `Chapter 3`, `Annexe A`."""
_ITEM = re.compile(rf"({MARKER.pattern})\s+(?=\S)")

BlockKind = Literal["heading", "paragraph", "item", "code", "note", "table", "remark", "term", "definition"]


@dataclass(slots=True)
class PdfBlock:
    """A block of text: its pieces with the page of each, one piece for each line."""

    kind: BlockKind
    pieces: list[tuple[int, str]]
    level: int = 0
    """The level of a heading, or the depth of a list item from 0."""
    label: str = ""
    """The number of a list item or the mark of a footnote."""
    rows: tuple[tuple[str, ...], ...] = ()
    """The cells of a table, which has one piece without text for each row."""
    lines: list[Line] = field(default_factory=list)
    closed: bool = False
    """True if no further line belongs to it."""


PageItems = list[list[Row | Table]]
"""The rows and tables of each part of a page, in reading order."""


def build_blocks(pages: Sequence[PageItems], headings: HeadingFinder) -> list[PdfBlock]:
    """Return the blocks of a document. `pages`: the parts of each page."""
    builder = _Builder(headings, _measure_pitch(pages))
    for parts in pages:
        builder.begin_page(parts)
        for part in parts:
            builder.begin_part()
            for item in part:
                if isinstance(item, Table):
                    builder.add_table(item)
                else:
                    builder.add_line(join_row(item))
    return builder.blocks


def join_row(row: Row) -> Line:
    """Return the pieces of a row as one line."""
    if len(row) == 1:
        return row[0]
    line = make_line([word for piece in row for word in piece.words], row[0].page)
    return Line(
        line.words, line.left, line.top, line.right, line.bottom, line.style, line.text, row[0].column, line.page
    )


def _measure_pitch(pages: Sequence[PageItems]) -> float:
    """Return the usual distance of two lines, in sizes of the font."""
    distances: Counter[float] = Counter()
    for parts in pages:
        for part in parts:
            for above, below in itertools.pairwise(part):
                if isinstance(above, Table) or isinstance(below, Table) or above[0].style != below[0].style:
                    continue
                if not above[0].style.fixed and len(above[0].text) > 30:
                    distance = round((below[0].bottom - above[0].bottom) / (above[0].style.size or 1.0), 1)
                    if 0.8 < distance < 3:
                        distances[distance] += 1
    return max(PITCH, distances.most_common(1)[0][0]) if distances else PITCH


class _Builder:
    """Adds the lines of a document to blocks, in reading order."""

    def __init__(self, headings: HeadingFinder, pitch: float) -> None:
        self.blocks: list[PdfBlock] = []
        self._headings = headings
        self._pitch = pitch
        self._last: Line | None = None
        """The last line of the last block, None after a table."""
        self._last_table: Table | None = None
        self._same_part = False
        self._edges: dict[tuple[float, float], float] = {}
        self._notes_from = 0.0

    def begin_page(self, parts: PageItems) -> None:
        """Begin a page: find where its footnotes begin."""
        self._notes_from = _find_notes(parts, self._headings.body_size)

    def begin_part(self) -> None:
        """Begin a column or another part of a page."""
        self._same_part = False

    def add_table(self, table: Table) -> None:
        """Add a table, or the rows of a table that goes on from the page before, without its repeated header."""
        last = self._last_table
        if last is not None and self.blocks[-1].kind == "table" and table.continues(last):
            rows = table.rows[1:] if table.rows[0] == self.blocks[-1].rows[0] else table.rows
            self.blocks[-1].rows += rows
            self.blocks[-1].pieces += [(table.page, "")] * len(rows)
        else:
            self.blocks.append(PdfBlock("table", [(table.page, "")] * len(table.rows), rows=table.rows))
        self._last, self._last_table = None, table

    def add_line(self, line: Line) -> None:
        """Add a line to the last block, or begin a block with it."""
        block = self.blocks[-1] if self.blocks and self._last else None
        gap = self._gap(line)
        if line.top >= self._notes_from:
            self._add_note(line, block)
        elif self._headings.is_contents(line.text):
            text = _LEADERS.sub("… ", line.text)
            self._begin(PdfBlock("item", [(line.page, text)], label="-"), line)
            self.blocks[-1].closed = True
        elif self._headings.is_heading(line, gap):
            self._add_heading(line, block, gap)
        elif self._is_code(line, block, gap):
            self._add_code(line, block, gap)
        elif (item := _ITEM.match(line.text)) and not self._is_middle(line, block, gap):
            self._begin(PdfBlock("item", [(line.page, line.text[item.end() :])], label=item[1]), line)
        elif block is not None and block.kind in {"paragraph", "item"} and self._goes_on(line, block, gap):
            block.pieces.append((line.page, line.text))
            block.lines.append(line)
        else:
            self._begin(PdfBlock("paragraph", [(line.page, line.text)]), line)
        self._last = line
        self._same_part = True

    def _begin(self, block: PdfBlock, line: Line) -> None:
        block.lines.append(line)
        self.blocks.append(block)

    def _gap(self, line: Line) -> float:
        """Return the distance from the line above in usual distances, infinite at the top of a part."""
        if self._last is None or not self._same_part:
            return float("inf")
        return (line.bottom - self._last.bottom) / (self._pitch * (min(line.style.size, self._last.style.size) or 1.0))

    def _add_heading(self, line: Line, block: PdfBlock | None, gap: float) -> None:
        if block is not None and block.kind == "heading" and self._is_one_heading(line, block, gap):
            block.pieces.append((line.page, line.text))
            block.lines.append(line)
            return
        self._begin(PdfBlock("heading", [(line.page, line.text)]), line)

    def _is_one_heading(self, line: Line, block: PdfBlock, gap: float) -> bool:
        """Return whether a heading goes on: in its next line, or after a line with only the number of a chapter."""
        first = block.lines[0]
        text = " ".join(text for _, text in block.pieces)
        if _CHAPTER.fullmatch(text) and first.page == line.page and self._same_part:
            return not self._headings.is_complete(first.page, text)
        if gap >= 1.6 or len(block.pieces) > 3 or self._headings.is_complete(first.page, text):
            return False
        last = block.lines[-1]
        return abs(last.style.size - line.style.size) < 0.5 and last.style.bold == line.style.bold

    def _add_note(self, line: Line, block: PdfBlock | None) -> None:
        match = _NOTE.match(line.text)
        if match:
            self._begin(PdfBlock("note", [(line.page, line.text[match.end() :])], label=match[1]), line)
        elif block is not None and block.kind == "note":
            block.pieces.append((line.page, line.text))
        else:
            self._begin(PdfBlock("paragraph", [(line.page, line.text)]), line)

    def _is_code(self, line: Line, block: PdfBlock | None, gap: float) -> bool:
        if not line.style.fixed or not all(word.style.fixed for word in line.words):
            return False
        is_in_text = block is not None and block.kind in {"paragraph", "item"} and self._goes_on(line, block, gap)
        return not is_in_text or (block is not None and line.left > block.lines[0].left + line.style.size)

    def _add_code(self, line: Line, block: PdfBlock | None, gap: float) -> None:
        if block is not None and block.kind == "code" and (gap < CODE_GAP or not self._same_part):
            if gap > 1.75 and self._same_part:
                block.pieces.append((line.page, ""))
                block.lines.append(line)
            block.pieces.append((line.page, line.text))
            block.lines.append(line)
        else:
            self._begin(PdfBlock("code", [(line.page, line.text)]), line)

    def _is_middle(self, line: Line, block: PdfBlock | None, gap: float) -> bool:
        """Return whether a line that begins with a number only goes on in a sentence."""
        if block is None or block.kind != "paragraph" or not line.words[0].text[0].isalnum():
            return False
        return abs(line.left - block.lines[-1].left) < 2 and self._goes_on(line, block, gap)

    def _goes_on(self, line: Line, block: PdfBlock, gap: float) -> bool:
        """Return whether a line continues a paragraph or list item."""
        if block.closed:
            return False
        last = block.lines[-1]
        size = last.style.size or 1.0
        if abs(line.style.size - size) > 0.12 * size:
            return False
        ends = bool(_SENTENCE_END.search(last.text))
        is_lower = line.text[:1].islower()
        if not self._same_part:  # the top of a column or page
            return _is_full(last, line) and (is_lower or not ends) and not line.words[0].text[0].isdigit()
        if not 0.3 < gap < PARAGRAPH_GAP:
            return False
        left = block.lines[1].left if len(block.lines) > 1 else last.left
        if block.kind == "item":
            return line.left > block.lines[0].left + 2 or (is_lower and _is_full(last, line))
        if line.left > left + INDENT * size:
            return len(block.lines) == 1 and _is_full(last, line) and not ends
        return _is_full(last, line) or (is_lower and not ends and _is_full(last, line, RAGGED))


def _is_full(line: Line, below: Line, allowance: float = 0.0) -> bool:
    """Return whether a line had no room for the first word of the line below it.

    `allowance`: a share of the column's width that may be free besides.
    """
    room = (line.column[1] - line.right) - allowance * (line.column[1] - line.column[0])
    if _CJK.search(line.text[-1:]) and _CJK.search(below.text[:1]):
        return room < 2.5 * line.style.size
    first = below.words[0]
    return room < (first.right - first.left) + 0.4 * line.style.size


def _find_notes(parts: PageItems, body_size: float) -> float:
    """Return the top of the first footnote of a page, infinite if it has none."""
    lines = [item[0] for part in parts for item in part if not isinstance(item, Table)]
    top = float("inf")
    for line in sorted(lines, key=lambda line: -line.top):
        if line.style.size > NOTE_SIZE * body_size:
            break
        if _NOTE.match(line.text):
            top = line.top - 1
    return top
