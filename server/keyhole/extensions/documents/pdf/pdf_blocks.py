"""Build the blocks of a PDF file from its lines: headings, paragraphs and list items, without furniture."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from keyhole.extensions.documents.pdf.page_parts import (
    GAP,
    MARKER,
    RAISED,
    OutlineEntry,
    PdfLine,
    PdfPage,
    PdfRow,
    PdfStyle,
    PdfTable,
    PdfWord,
    is_rtl,
    make_line,
)

# Headings and their levels, found by the size and weight of fonts and by the outline.

LARGER: Final = 1.13
"""A heading without an entry in the outline is larger than the main text by this factor, or is bold."""
MAX_CHARS: Final = 180
"""Longest line of a heading."""
MAX_LEVEL: Final = 6
_NOT_KEY = re.compile(r"[\W_]+")
_NUMBERED = re.compile(
    r"^(?:(?:chapter|appendix|part|section|kapitel|anhang|chapitre|annexe|capitolo|capítulo|apéndice|глава|приложение)\s++)?"
    r"(?:[\dA-Z]{1,4}(?:\.\d{1,3})*[.:)]?|[IVXLC]{1,6}[.:)]?|第\s*\d+\s*[章部]|제?\s*\d+\s*장)\s+", re.IGNORECASE,
)  # fmt: skip
_LEADERS = re.compile(r"(?:\. ?){4,}|…{2,}|(?:· ?){4,}")
_PAGE_NUMBER = re.compile(r"\d{1,4}|[ivxlcIVXLC]{1,6}")
_PLAIN_END = re.compile(r"[.,;]$")


class HeadingFinder:
    """The headings of one document."""

    def __init__(self, words: Iterable[PdfWord], outline: Sequence[OutlineEntry]) -> None:
        self.body_size = _find_body_size(words)
        self._outline: dict[int, dict[str, int]] = defaultdict(dict)
        for entry in outline:
            if key := _to_key(entry.title):
                self._outline[entry.page].setdefault(key, entry.level)
        self._titles = {key for entries in self._outline.values() for key in entries}

    def is_heading(self, line: PdfLine, gap: float) -> bool:
        """Return whether a line is a heading. `gap`: the distance from the line above, in usual distances."""
        if len(line.text) > MAX_CHARS or not any(char.isalnum() for char in line.text):
            return False
        if self.is_contents(line.text):
            return False
        if self.find_level(line.page, line.text) and gap > 1.1:
            return True
        first = line.words[0].style  # code in a heading may be smaller
        if max(line.style.size, first.size if first.bold else 0.0) >= LARGER * self.body_size:
            return sum(char.isalpha() for char in line.text) > 1 and not line.words[0].style.fixed
        is_bold = line.words[0].style.bold and (line.words[-1].style.bold or line.words[-1].style.fixed)
        is_separate = gap > 1.25 and not _PLAIN_END.search(line.text) and not line.words[0].style.fixed
        return is_bold and is_separate and line.style.size >= 0.95 * self.body_size and self._has_no_outline(line)

    def is_contents(self, text: str) -> bool:
        """Return whether a line is an entry of a table of contents: a title, perhaps leaders, and a page number."""
        if _LEADERS.search(text):
            return True
        title, _, number = text.rpartition(" ")
        if not title or not _PAGE_NUMBER.fullmatch(number):
            return False
        return _to_key(title) in self._titles or _to_key(_NUMBERED.sub("", title)) in self._titles

    def _has_no_outline(self, line: PdfLine) -> bool:
        """Return whether the outline does not say which lines are headings, or the line is numbered like one."""
        return not self._outline or _NUMBERED.match(line.text) is not None

    def find_level(self, page: int, text: str) -> int:
        """Return the level that the outline gives a heading, 0 if it has no such entry on this page."""
        entries = self._outline.get(page)
        if not entries:
            return 0
        return entries.get(_to_key(text), 0) or entries.get(_to_key(_NUMBERED.sub("", text)), 0)

    def is_complete(self, page: int, text: str) -> bool:
        """Return whether the outline has this whole heading."""
        return self.find_level(page, text) > 0

    def set_levels(self, headings: Sequence[tuple[int, str, PdfStyle]]) -> list[int]:
        """Return the levels of headings, given their page, text and style."""
        from_outline = [self.find_level(page, text) for page, text, _ in headings]
        by_style: dict[PdfStyle, Counter[int]] = defaultdict(Counter)
        for level, (_, _, style) in zip(from_outline, headings, strict=True):
            if level:
                by_style[style][level] += 1
        ranks = sorted({(round(style.size), style.bold) for _, _, style in headings}, reverse=True)
        deepest = max(from_outline, default=0)
        return [
            min(MAX_LEVEL, level or _guess_level(style, by_style, ranks, deepest))
            for level, (_, _, style) in zip(from_outline, headings, strict=True)
        ]


def _guess_level(
    style: PdfStyle, by_style: dict[PdfStyle, Counter[int]], ranks: list[tuple[int, bool]], deepest: int
) -> int:
    if style in by_style:
        return by_style[style].most_common(1)[0][0]
    smaller = [known for known in by_style if known.size <= style.size]
    if smaller:
        return max(1, min(min(by_style[known]) for known in smaller))
    return deepest + 1 if deepest else ranks.index((round(style.size), style.bold)) + 1


def _find_body_size(words: Iterable[PdfWord]) -> float:
    sizes: Counter[float] = Counter()
    fixed: Counter[float] = Counter()
    for word in words:
        (fixed if word.style.fixed else sizes)[word.style.size] += len(word.text)
    both = sizes or fixed
    return both.most_common(1)[0][0] if both else 10.0


def _to_key(text: str) -> str:
    return _NOT_KEY.sub("", text).casefold()


# Furniture: running heads, footers and page numbers return at the edges of pages at the same height.

EDGE: Final = 0.14
"""The share of the page's height at its top and at its bottom in which running heads and footers stand."""
MAX_EDGE_LINES: Final = 4
"""Largest number of lines of a running head or footer."""
LARGEST: Final = 1.13
"""Largest size of a running head, in sizes of the main text. A larger line is a heading at the top of its page."""
MIN_PAGES: Final = 3
"""Smallest number of pages on which a line returns; two in a document of up to four pages."""
SHORT_DOCUMENT: Final = 4
NEAR_PAGES: Final = 8
"""A line that returns within this many pages may be the running head of a chapter. Left pages may have another one."""
PLACE_SHARE: Final = 0.25
"""Minimum share of the pages that have a running head other than a chapter's, or any running head at one place."""
LEADING: Final = 0.5
"""Largest distance of two lines of one text, in sizes of the font."""
SIDE: Final = 0.1
"""The share of the page's width at its left and at its right in which turned text is no part of the page's text."""
MIN_TURNED: Final = 3
"""Smallest number of characters of a word whose box shows that it is turned."""
_NUMBER = re.compile(r"(?<![\w.,])(?:[1-9]\d{0,3}|[ivxlc]{1,7})(?!\w|[.,:]\d)", re.IGNORECASE)
"""A number that may be that of a page: no part of a longer number, and without leading zeros."""
_PAGE_WORD = re.compile(
    r"\b(?:pages?|pg?|seite|s|blatt|página|pagina|pág|side|sida|sivu|strona|stran[aa]|str|oldal|стр(?:аница)?|σελίδα|slide)"
    r"[.:]?\s*$", re.IGNORECASE,
)  # fmt: skip
"""What stands before the number of a page."""
_OF_PAGES = re.compile(r"\s?(?:/|of|von|de|sur|di|van|av|af|z|из)\s?\d", re.IGNORECASE)
"""What stands between the number of a page and the number of all pages."""
_ROMAN: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_PAGE_NUMBER_LINE = re.compile(r"[-–—\s]*(?:\d{1,4}|[ivxlc]{1,6})[-–—\s]*|\w+ \d{1,4}(?: ?/ ?\d{1,4}| \w{2,4} \d{1,4})")
"""A line that is only a page number: `2`, `- 2 -`, `iv`, `Page 2 of 9`."""
Edges = tuple[list[str], list[str]]
"""The lines of running heads, and those of footers."""
PIECE: Final = "\t"
"""Stands between two texts of a row with a wide gap between them, as at its left and at its right."""


class _EdgeLine(NamedTuple):
    """A row at the edge of a page."""

    is_top: bool
    height: int
    """Its height in steps of 3 points."""
    text: str
    lines: list[int]
    """The numbers of its lines on the page."""
    page: int


class _Known(NamedTuple):
    """What the pages of a document have in common at their edges."""

    lines: set[tuple[bool, int, str]]
    """The lines that return, without the number that follows the page."""
    places: set[tuple[bool, int]]
    """The places where they stand on many pages."""
    offsets: set[int]
    """The differences between the printed numbers of several pages and the numbers of these pages."""
    is_short: bool
    """True for a document with too few pages for lines that return."""


def take_furniture(pages: Sequence[PdfPage], headings: HeadingFinder) -> list[Edges]:
    """Remove the running heads and footers from the pages, and return those of each page.

    A large line with an entry in the outline is a heading at the top of its page.
    """
    sides = [_take_sides(page) for page in pages]
    candidates = [
        [each for each in _list_candidates(page, number) if not _is_heading(page, each, headings)]
        for number, page in enumerate(pages)
    ]
    known = _find_known(candidates)
    found = [_choose(page, of_page, known) for page, of_page in zip(pages, candidates, strict=True)]
    taken = [{number for each in of_page for number in each.lines} for of_page in found]
    if all(len(numbers) == len(page.lines) for page, numbers in zip(pages, taken, strict=True)):
        return [([], side) for side in sides]  # nothing else is in the file
    for page, numbers in zip(pages, taken, strict=True):
        page.lines = [line for number, line in enumerate(page.lines) if number not in numbers]
    return [
        (
            [each.text.replace(PIECE, " ") for each in of_page if each.is_top],
            [each.text.replace(PIECE, " ") for each in reversed(of_page) if not each.is_top] + side,
        )
        for of_page, side in zip(found, sides, strict=True)
    ]


def _take_sides(page: PdfPage) -> list[str]:
    """Remove the lines that run along the left or right edge of a page, such as a stamp of an archive; return them."""
    is_side = [_runs_along_edge(line, page.width) for line in page.lines]
    if all(is_side):
        return []
    sides = [" ".join(word.text for word in line) for line, side in zip(page.lines, is_side, strict=True) if side]
    page.lines = [line for line, side in zip(page.lines, is_side, strict=True) if not side]
    return sides


def _runs_along_edge(line: Sequence[PdfWord], width: float) -> bool:
    long = [word for word in line if len(word.text) >= MIN_TURNED]
    at_edge = all(word.right < SIDE * width for word in line) or all(word.left > (1 - SIDE) * width for word in line)
    return at_edge and bool(long) and all(word.bottom - word.top > word.right - word.left for word in long)


def _find_known(candidates: Sequence[Sequence[_EdgeLine]]) -> _Known:
    """Return what the pages of a document have in common at their edges."""
    is_short = len(candidates) <= SHORT_DOCUMENT
    needed = 2 if is_short else MIN_PAGES
    pages: dict[tuple[bool, int, str], set[int]] = defaultdict(set)
    offsets: dict[int, set[int]] = defaultdict(set)
    for each in itertools.chain(*candidates):
        numbers = _find_numbers(each)
        for offset, _, _ in numbers:
            offsets[offset].add(each.page)
        for near, text in itertools.product((-1, 0, 1), (each.text, *(text for _, text, _ in numbers))):
            pages[each.is_top, each.height + near, text].add(each.page)
    lines = {key for key, found in pages.items() if _returns(found, needed, len(candidates))}
    at_place: dict[tuple[bool, int], set[int]] = defaultdict(set)
    for is_top, height, text in lines:
        at_place[is_top, height] |= pages[is_top, height, text]
    places = {place for place, found in at_place.items() if len(found) >= PLACE_SHARE * len(candidates)}
    single = {0} if len(candidates) > 1 else set(offsets)
    return _Known(
        lines, places, single | {offset for offset, found in offsets.items() if len(found) >= needed}, is_short
    )


def _find_numbers(line: _EdgeLine) -> list[tuple[int, str, bool]]:
    """Return the numbers of a row that may be its page's: less the page's, with the text without it, and if it is sure.

    Such a number begins or ends a text, or stands with the word for a page or with the number of all pages.
    """
    found = []
    for number in _NUMBER.finditer(line.text):
        before, after = line.text[: number.start()], line.text[number.end() :]
        is_named = _PAGE_WORD.search(before) is not None or _OF_PAGES.match(after) is not None
        is_start = not before.rpartition(PIECE)[2].strip("-–—[( ")
        is_end = not after.partition(PIECE)[0].strip("-–—]). ") and before.rstrip()[-1:] not in {":", "#", "№"}
        if is_named or is_start or is_end:
            offset = _to_number(number[0]) - line.page - 1
            found.append((offset, f"{before}#{offset}{after}", is_named or (is_start and is_end)))
    return found


def _to_number(text: str) -> int:
    """Return the value of an Arabic or Roman number."""
    if text.isdecimal():
        return int(text)
    values = [_ROMAN[char] for char in text.lower()]
    return sum(-value if value < max(values[n:]) else value for n, value in enumerate(values))


def _returns(found: set[int], needed: int, count: int) -> bool:
    """Return whether a line returns: on several pages near each other, as within a chapter, or on many pages."""
    ordered = sorted(found)
    near = any(last - first <= NEAR_PAGES for first, last in zip(ordered, ordered[needed - 1 :], strict=False))
    return len(found) >= needed and (near or len(found) >= PLACE_SHARE * count)


def _choose(page: PdfPage, candidates: list[_EdgeLine], known: _Known) -> list[_EdgeLine]:
    """Return the running heads and footers of a page, from the outside, up to the first other line at each edge."""
    chosen: list[_EdgeLine] = []
    ended: set[bool] = set()
    returning = {n for each in candidates if (each.is_top, each.height, each.text) in known.lines for n in each.lines}
    for each in candidates:
        if each.is_top not in ended and _is_furniture(page, each, known, returning):
            chosen.append(each)
        else:
            ended.add(each.is_top)
    return chosen


def _is_furniture(page: PdfPage, line: _EdgeLine, known: _Known, returning: set[int]) -> bool:
    """Return whether a row returns: the same, or with one number that follows the page.

    `returning`: the numbers of the lines of the page that return the same. Without the word for a page, a row with a
    number stands apart from the text, and so does a row that only stands where others return.
    """
    if set(line.lines) <= returning:
        return True
    numbers = [each for each in _find_numbers(line) if each[0] in known.offsets]
    gap = _find_gap(page, line, returning)
    if any((line.is_top, line.height, text) in known.lines and (sure or gap > LEADING) for _, text, sure in numbers):
        return True
    is_number = any(known.is_short or is_sure for _, _, is_sure in numbers)
    return gap > GAP and (is_number or (line.is_top, line.height) in known.places)


def _is_heading(page: PdfPage, line: _EdgeLine, headings: HeadingFinder) -> bool:
    is_large = page.lines[line.lines[0]][0].style.size > LARGEST * headings.body_size
    return is_large and headings.find_level(line.page, line.text.replace(PIECE, " ")) > 0


def _list_candidates(page: PdfPage, number: int) -> list[_EdgeLine]:
    """Return the rows at the edges of a page, from the outside. A page number may also be the last row elsewhere."""
    rows: dict[int, list[int]] = defaultdict(list)
    for index, line in enumerate(page.lines):
        rows[round((line[0].top + line[0].bottom) / 6)].append(index)
    last = max(rows, default=0)
    for height in [height for height in rows if EDGE * page.height <= 3 * height <= (1 - EDGE) * page.height]:
        if height != last or not _PAGE_NUMBER_LINE.fullmatch(_read_row(page, rows[height])):
            del rows[height]
    ordered = [
        _EdgeLine(3 * height < page.height / 2, height, _read_row(page, rows[height]), rows[height], number)
        for height in sorted(rows)
    ]
    tops = [each for each in ordered if each.is_top]
    ends = [each for each in reversed(ordered) if not each.is_top]
    return tops[:MAX_EDGE_LINES] + ends[:MAX_EDGE_LINES]


def _read_row(page: PdfPage, lines: Sequence[int]) -> str:
    """Return the text of the lines with these numbers, which stand at one height, from left to right."""
    words = sorted((word for n in lines for word in page.lines[n]), key=lambda word: word.left)
    gaps = [below.left - above.right > GAP * above.style.size for above, below in itertools.pairwise(words)]
    return words[0].text + "".join(
        (PIECE if gap else " ") + word.text for gap, word in zip(gaps, words[1:], strict=True)
    )


def _find_gap(page: PdfPage, line: _EdgeLine, returning: set[int]) -> float:
    """Return the distance of a row from the next row that does not return, in sizes of its font."""
    own = [word for number in line.lines for word in page.lines[number]]
    skipped = returning.union(line.lines)
    others = [each[0] for number, each in enumerate(page.lines) if number not in skipped]
    edge = max(word.bottom for word in own) if line.is_top else min(word.top for word in own)
    gaps = [other.top - edge if line.is_top else edge - other.bottom for other in others]
    return min((gap for gap in gaps if gap > -1), default=1_000.0) / (own[0].style.size or 1.0)


# Blocks of a document: headings, paragraphs, list items, code, notes and tables.

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
_CHAPTER = re.compile(r"\w{4,12} (?:\d{1,3}|[A-Z]|[IVXLC]{1,6})|第 ?\d+ ?[章部]|\d{1,3} ?장")
"""A line above the title of a chapter: `Chapter 3`, `Annexe A`."""
_ITEM = re.compile(rf"({MARKER.pattern})\s+(?=\S)")

PdfBlockKind = Literal["heading", "paragraph", "item", "code", "note", "table", "remark", "term", "definition"]


@dataclass(slots=True)
class PdfBlock:
    """A block of text: its pieces with the page of each, one piece for each line."""

    kind: PdfBlockKind
    pieces: list[tuple[int, str]]
    level: int = 0
    """The level of a heading, or the depth of a list item from 0."""
    label: str = ""
    """The number of a list item or the mark of a footnote."""
    rows: tuple[tuple[str, ...], ...] = ()
    """The cells of a table, which has one piece without text for each row."""
    lines: list[PdfLine] = field(default_factory=list)
    closed: bool = False
    """True if no further line belongs to it."""


PageItems = list[list[PdfRow | PdfTable]]
"""The rows and tables of each part of a page, in reading order."""


def build_blocks(pages: Sequence[PageItems], headings: HeadingFinder) -> list[PdfBlock]:
    """Return the blocks of a document. `pages`: the parts of each page."""
    builder = _Builder(headings, _measure_pitch(pages))
    for parts in pages:
        builder.begin_page(parts)
        for part in parts:
            builder.begin_part()
            for item in part:
                if isinstance(item, PdfTable):
                    builder.add_table(item)
                else:
                    builder.add_line(join_row(item))
    return builder.blocks


def join_row(row: PdfRow) -> PdfLine:
    """Return the pieces of a row as one line."""
    if len(row) == 1:
        return row[0]
    pieces = row[::-1] if is_rtl(" ".join(piece.text for piece in row)) else row
    line = make_line([word for piece in pieces for word in piece.words], row[0].page)
    return PdfLine(
        line.words, line.left, line.top, line.right, line.bottom, line.style, line.text, row[0].column, line.page
    )


def _measure_pitch(pages: Sequence[PageItems]) -> float:
    """Return the usual distance of two lines, in sizes of the font."""
    distances: Counter[float] = Counter()
    for parts in pages:
        for part in parts:
            for above, below in itertools.pairwise(part):
                if isinstance(above, PdfTable) or isinstance(below, PdfTable) or above[0].style != below[0].style:
                    continue
                if not above[0].style.fixed and len(above[0].text) > 30:
                    distance = round((below[0].bottom - above[0].bottom) / (above[0].style.size or 1.0), 1)
                    if 0.8 < distance < 3:
                        distances[distance] += 1
    return max(PITCH, distances.most_common(1)[0][0]) if distances else PITCH


class _Builder:
    """A builder of blocks from the lines of a document in reading order."""

    def __init__(self, headings: HeadingFinder, pitch: float) -> None:
        self.blocks: list[PdfBlock] = []
        self._headings = headings
        self._pitch = pitch
        self._last: PdfLine | None = None
        """The last line of the last block, None after a table."""
        self._last_table: PdfTable | None = None
        self._same_part = False
        self._edges: dict[tuple[float, float], float] = {}
        self._notes_from = 0.0

    def begin_page(self, parts: PageItems) -> None:
        """Begin a page: find where its footnotes begin."""
        self._notes_from = _find_notes(parts, self._headings.body_size)

    def begin_part(self) -> None:
        """Begin a column or another part of a page."""
        self._same_part = False

    def add_table(self, table: PdfTable) -> None:
        """Add a table, or the rows of a table that goes on from the page before, without its repeated header."""
        last = self._last_table
        if last is not None and self.blocks[-1].kind == "table" and table.continues(last):
            rows = table.rows[1:] if table.rows[0] == self.blocks[-1].rows[0] else table.rows
            self.blocks[-1].rows += rows
            self.blocks[-1].pieces += [(table.page, "")] * len(rows)
        else:
            self.blocks.append(PdfBlock("table", [(table.page, "")] * len(table.rows), rows=table.rows))
        self._last, self._last_table = None, table

    def add_line(self, line: PdfLine) -> None:
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

    def _begin(self, block: PdfBlock, line: PdfLine) -> None:
        block.lines.append(line)
        self.blocks.append(block)

    def _gap(self, line: PdfLine) -> float:
        """Return the distance from the line above in usual distances, infinite at the top of a part."""
        if self._last is None or not self._same_part:
            return float("inf")
        return (line.bottom - self._last.bottom) / (self._pitch * (min(line.style.size, self._last.style.size) or 1.0))

    def _add_heading(self, line: PdfLine, block: PdfBlock | None, gap: float) -> None:
        if block is not None and block.kind == "heading" and self._is_one_heading(line, block, gap):
            block.pieces.append((line.page, line.text))
            block.lines.append(line)
            return
        self._begin(PdfBlock("heading", [(line.page, line.text)]), line)

    def _is_one_heading(self, line: PdfLine, block: PdfBlock, gap: float) -> bool:
        """Return whether a heading goes on: in its next line, or after a line with only the number of a chapter."""
        first = block.lines[0]
        text = " ".join(text for _, text in block.pieces)
        if _CHAPTER.fullmatch(text) and first.page == line.page and self._same_part:
            return not self._headings.is_complete(first.page, text)
        if gap >= 1.6 or len(block.pieces) > 3 or self._headings.is_complete(first.page, text):
            return False
        last = block.lines[-1]
        return abs(last.style.size - line.style.size) < 0.5 and last.style.bold == line.style.bold

    def _add_note(self, line: PdfLine, block: PdfBlock | None) -> None:
        match = _NOTE.match(line.text)
        if match:
            self._begin(PdfBlock("note", [(line.page, line.text[match.end() :])], label=match[1]), line)
        elif block is not None and block.kind == "note":
            block.pieces.append((line.page, line.text))
        else:
            self._begin(PdfBlock("paragraph", [(line.page, line.text)]), line)

    def _is_code(self, line: PdfLine, block: PdfBlock | None, gap: float) -> bool:
        if not line.style.fixed or not all(word.style.fixed for word in line.words):
            return False
        is_in_text = block is not None and block.kind in {"paragraph", "item"} and self._goes_on(line, block, gap)
        return not is_in_text or (block is not None and line.left > block.lines[0].left + line.style.size)

    def _add_code(self, line: PdfLine, block: PdfBlock | None, gap: float) -> None:
        if block is not None and block.kind == "code" and (gap < CODE_GAP or not self._same_part):
            if gap > 1.75 and self._same_part:
                block.pieces.append((line.page, ""))
                block.lines.append(line)
            block.pieces.append((line.page, line.text))
            block.lines.append(line)
        else:
            self._begin(PdfBlock("code", [(line.page, line.text)]), line)

    def _is_middle(self, line: PdfLine, block: PdfBlock | None, gap: float) -> bool:
        """Return whether a line that begins with a number is the middle of a sentence."""
        if block is None or block.kind != "paragraph" or not line.words[0].text[0].isalnum():
            return False
        return abs(line.left - block.lines[-1].left) < 2 and self._goes_on(line, block, gap)

    def _goes_on(self, line: PdfLine, block: PdfBlock, gap: float) -> bool:
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
        start = _find_start(block.lines[1] if len(block.lines) > 1 else last)
        if block.kind == "item":
            return _find_start(line) > _find_start(block.lines[0]) + 2 or (is_lower and _is_full(last, line))
        if _find_start(line) > start + INDENT * size:
            return len(block.lines) == 1 and _is_full(last, line) and not ends
        return _is_full(last, line) or (is_lower and not ends and _is_full(last, line, RAGGED))


def _find_start(line: PdfLine) -> float:
    """Return the place where the reading of a line begins, which grows with its indentation."""
    return -line.right if is_rtl(line.text) else line.left


def _is_full(line: PdfLine, below: PdfLine, allowance: float = 0.0) -> bool:
    """Return whether a line had no room for the first word of the line below it.

    `allowance`: a share of the column's width that may be free besides.
    """
    free = line.left - line.column[0] if is_rtl(line.text) else line.column[1] - line.right
    room = free - allowance * (line.column[1] - line.column[0])
    if _CJK.search(line.text[-1:]) and _CJK.search(below.text[:1]):
        return room < 2.5 * line.style.size
    first = below.words[0]
    return room < (first.right - first.left) + 0.4 * line.style.size


def _find_notes(parts: PageItems, body_size: float) -> float:
    """Return the top of the first footnote of a page, infinite if it has none."""
    lines = [item[0] for part in parts for item in part if not isinstance(item, PdfTable)]
    top = float("inf")
    for line in sorted(lines, key=lambda line: -line.top):
        if line.style.size > NOTE_SIZE * body_size:
            break
        if _NOTE.match(line.text):
            top = line.top - 1
    return top
