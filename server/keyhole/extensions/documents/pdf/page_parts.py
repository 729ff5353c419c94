"""Describe the parts of a PDF page, and put its words into lines and rows in the order of reading."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Final, NamedTuple

# Parts of a page with their positions. Coordinates are points from the top left of the page as shown.

RAISED: Final = "\x05"
"""Stands before a small raised number, which may be the mark of a footnote."""
MAX_LINKS: Final = 2_000
"""Largest number of addresses of a file that its text links to."""
FIRST_SIGN: Final = "\U0010f000"
"""Stands where a link begins inside of a word. Each of the next characters stands behind the words of links to one
address."""
RESERVED: Final = re.compile(f"[{RAISED}{FIRST_SIGN}-\U0010ffff]")
"""Characters that are replaced in the text of a file."""


class PdfStyle(NamedTuple):
    """A font at one size, in points."""

    size: float
    bold: bool
    fixed: bool
    """True for a font whose characters all have one width."""


class PdfWord(NamedTuple):
    """A run of characters without spaces, and its box."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    style: PdfStyle


class PdfRule(NamedTuple):
    """A thin drawn line, horizontal if `top` equals `bottom`, or vertical."""

    left: float
    top: float
    right: float
    bottom: float


class OutlineEntry(NamedTuple):
    """An entry of the outline: its title, its level from 1, and the number of its page from 0, -1 if unknown."""

    title: str
    level: int
    page: int


@dataclass(slots=True)
class PdfLine:
    """Words on one baseline, in reading order."""

    words: tuple[PdfWord, ...]
    left: float
    top: float
    right: float
    bottom: float
    style: PdfStyle
    """The style of most of its characters."""
    text: str
    column: tuple[float, float] = (0.0, 0.0)
    """The left and right edge of the column that it stands in."""
    page: int = 0


@dataclass(frozen=True, slots=True)
class PdfTable:
    """The cells of a table by row, with its place on the page."""

    rows: tuple[tuple[str, ...], ...]
    left: float
    top: float
    right: float
    bottom: float
    page: int = 0
    columns: tuple[float, ...] = ()
    """The places of the lines between columns, empty if none are drawn."""

    def continues(self, last: PdfTable) -> bool:
        """Return whether the table goes on from the page before: with the same lines or the same header."""
        if self.page != last.page + 1 or len(self.rows[0]) != len(last.rows[0]):
            return False
        return self.rows[0] == last.rows[0] or have_same_columns(self.columns, last.columns)


def have_same_columns(first: Sequence[float], second: Sequence[float]) -> bool:
    """Return whether the lines between columns stand at the same places, within a point or two."""
    return 0 < len(first) == len(second) and all(abs(a - b) <= 2 for a, b in zip(first, second, strict=True))


@dataclass(slots=True)
class PdfPage:
    """A page: words in the order of the file, each pdfium line by itself, and drawn lines."""

    width: float
    height: float
    lines: list[list[PdfWord]] = field(default_factory=list)
    rules: list[PdfRule] = field(default_factory=list)
    image_share: float = 0.0
    """The share of the page that its largest image covers."""
    cost: int = 0
    """The work of reading it: its characters, and three for each drawn object."""
    notes: list[str] = field(default_factory=list)
    """What its readers have noted."""
    unread: bool = False
    """True if the page is damaged or has too many parts."""


WORD_GAP: Final = 0.18
"""Smallest gap between two words without a space between them, in heights of a character. Letters are at most 0.05
apart, and groff leaves 0.2 to 0.25 where it draws no space."""
RTL_LETTER = re.compile(r"[\u0590-\u065f\u066a-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LTR = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u052f]")


def is_rtl(text: str) -> bool:
    """Return whether a text is read from right to left: a third of its letters are those of Arabic or Hebrew."""
    return not text.isascii() and 2 * len(RTL_LETTER.findall(text)) > len(_LTR.findall(text))


def make_line(words: list[PdfWord], page: int = 0) -> PdfLine:
    """Return the line of words that stand on one baseline."""
    texts, lefts, tops, rights, bottoms, styles = zip(*words, strict=True)
    style = styles[0]
    if any(each is not style for each in styles):
        sizes: dict[PdfStyle, int] = {}
        for text, each in zip(texts, styles, strict=True):
            sizes[each] = sizes.get(each, 0) + len(text)
        style = max(sizes, key=lambda each: sizes[each])
    return PdfLine(tuple(words), min(lefts), min(tops), max(rights), max(bottoms), style, " ".join(texts), page=page)


SMALL: Final = 0.86
"""A character of less than this share of another's height is raised or lowered. Footnote marks have 0.65 to 0.8."""
_NUMBER_AT_END = re.compile(r"(?<=[^\W\d_.,;:!?)”»’\"'])\d{1,3}$|(?<=[.,;:!?)”»’\"'])\d{1,3}$|(?<=.)[*†‡§]$")
_NUMBER_AT_START = re.compile(r"^(?:\d{1,3}|[*†‡§])(?=.)")


def split_superscript(word: PdfWord, first: float, last: float) -> list[PdfWord]:
    """Return a word and the small number at its end, or at its beginning, as words.

    `first`, `last`: the heights of its first and last character.
    """
    if first <= 0 or last <= 0 or SMALL < last / first < 1 / SMALL:
        return [word]
    match = (_NUMBER_AT_END if last < first else _NUMBER_AT_START).search(word.text)
    if match is None:
        return [word]
    scale = (word.right - word.left) / len(word.text)
    edge = word.left + scale * (match.start() or match.end())
    size = word.style.size
    normal = word.style._replace(size=size if last < first else round(size * last / first, 1))
    number = f"{RAISED}{match[0]}"
    if last < first:
        small = word.style._replace(size=round(size * last / first, 1))
        rest = word._replace(text=word.text[: match.start()], right=edge)
        return [rest, word._replace(text=number, left=edge, style=small)]
    return [
        word._replace(text=number, right=edge),
        word._replace(text=word.text[match.end() :], left=edge, style=normal),
    ]


# Reading order: one column after the other, between the lines that cross them.

GAP: Final = 1.0
"""Smallest gap between two columns or cells, in sizes of the font. Words of justified text are closer."""
MIN_COLUMN_CHARS: Final = 12
"""Smallest median length of the lines of a column that is recognised by its width."""
FILLED: Final = 0.6
"""Smallest median width of the lines of such a column, as a share of its width. Cells of a table are shorter."""
MAX_CROSSING: Final = 0.6
"""Largest share of lines that cross the gap between two columns: titles and figures."""
TABLE_BORDER: Final = 14.0
"""Largest distance of a table's border from the text of its column, in points: the padding of a cell."""
MARKER: Final = re.compile(r"[•●○▪■◦‣⁃∙·−–—*✦➢►❖□-]|[\uf000-\uf0ff]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{2,5})[.)]")
"""The sign or number before a list item."""
MARKER_GAP: Final = 3.0
"""Largest distance of an item from a sign that is drawn by itself, in sizes of the font. WeasyPrint has 0.5 to 1."""

PdfRow = list[PdfLine]
"""The pieces of text on one baseline, from left to right."""


def split_line(words: Sequence[PdfWord], page: int) -> list[PdfLine]:
    """Split a line of the file at wide gaps. The sign of a list item stays with its item."""
    if RTL_LETTER.search(" ".join([word.text for word in words])):
        return [make_line(piece, page) for piece in _split_rtl(words)]
    pieces: list[list[PdfWord]] = []
    for word in words:
        last = pieces[-1][-1] if pieces else None
        is_near = last is not None and -2.0 < (word.left - last.right) / (last.style.size or 1.0) < GAP
        is_marked = last is not None and len(pieces[-1]) == 1 and MARKER.fullmatch(last.text) and word.left > last.left
        is_code = last is not None and last.style.fixed and word.style.fixed and word.left > last.left
        if is_near or is_marked or is_code:
            pieces[-1].append(word)
        else:
            pieces.append([word])
    return [make_line(piece, page) for piece in pieces]


def _split_rtl(words: Sequence[PdfWord]) -> list[list[PdfWord]]:
    """Return the words between wide gaps, in the order of the line, in which they are read."""
    pieces: list[list[int]] = []
    end = 0.0
    for number in sorted(range(len(words)), key=lambda number: words[number].left):
        if not pieces or words[number].left - end >= GAP * words[number].style.size:
            pieces.append([])
        pieces[-1].append(number)
        end = max(end, words[number].right)
    return [[words[number] for number in sorted(piece)] for piece in pieces]


Part = tuple[list[PdfRow], list[PdfTable]]
"""The rows and the tables of a part of a page, each from top to bottom."""


def order_parts(lines: Sequence[PdfLine], tables: Sequence[PdfTable]) -> list[Part]:
    """Return the parts of a page in reading order: a column, or what stands between columns."""
    parts: list[Part] = []
    for items in _order([*lines, *tables], 0):
        rows = [_join_marker(row) for row in make_rows([item for item in items if isinstance(item, PdfLine)])]
        parts.append((rows, sorted((item for item in items if isinstance(item, PdfTable)), key=_top)))
    return parts


def _join_marker(row: PdfRow) -> PdfRow:
    """Return a row whose sign of a list item, which the file draws by itself, is part of its item."""
    if len(row) < 2:
        return row
    is_turned = is_rtl(" ".join(line.text for line in row))
    marker, item = (row[-1], row[-2]) if is_turned else row[:2]
    gap = max(marker.left, item.left) - min(marker.right, item.right)
    if gap > MARKER_GAP * item.style.size or not MARKER.fullmatch(marker.text):
        return row
    line = make_line([*marker.words, *item.words], item.page)
    line.column = item.column
    return [*row[:-2], line] if is_turned else [line, *row[2:]]


def _top(item: PdfLine | PdfTable) -> float:
    return item.top


def _order(items: list[PdfLine | PdfTable], depth: int) -> list[list[PdfLine | PdfTable]]:
    lines = [item for item in items if isinstance(item, PdfLine)]
    texts = [line for line in lines if not MARKER.fullmatch(line.text)]  # a column of signs is none
    is_turned = is_rtl(" ".join(line.text for line in texts))
    gutter = (_find_gutter_turned if is_turned else _find_gutter)(texts) if texts and depth < 3 else None
    if gutter is None:
        return [items] if items else []
    parts: list[list[PdfLine | PdfTable]] = []
    between: list[PdfLine | PdfTable] = []
    left: list[PdfLine | PdfTable] = []
    right: list[PdfLine | PdfTable] = []

    sides = (right, left) if is_turned else (left, right)

    def flush() -> None:
        parts.extend(part for side in sides for part in _order([*side], depth + 1))
        left.clear()
        right.clear()

    for item in sorted(items, key=_top):
        border = TABLE_BORDER if isinstance(item, PdfTable) else 0.0
        side = left if item.right <= gutter + border else right if item.left >= gutter - 1 - border else None
        if side is not None:
            if between:
                parts.append([*between])
                between.clear()
            side.append(item)
        else:
            flush()
            between.append(item)
    flush()
    if between:
        parts.append(between)
    return parts


def _find_gutter_turned(lines: list[PdfLine]) -> float | None:
    """Return the same place for lines that are read from right to left, which begin at the right of their column."""
    gutter = _find_gutter([replace(line, left=-line.right, right=-line.left) for line in lines])
    return None if gutter is None else -gutter


def _find_gutter(lines: list[PdfLine]) -> float | None:
    """Return the left edge of the second column, None if the lines are in one column."""
    starts = Counter(round(line.left) for line in lines)
    edges = {x: starts[x - 1] + starts[x] + starts[x + 1] for x in starts}
    best: tuple[int, float] | None = None
    for x, count in edges.items():
        if count < 2 or x - 2 <= min(starts):
            continue
        left = [line for line in lines if line.right < x - 3]
        right = [line for line in lines if line.left >= x - 2]
        crossing = len(lines) - len(left) - len(right)
        if min(len(left), len(right)) < 2 or crossing > MAX_CROSSING * len(lines):
            continue
        if (best is None or crossing < best[0]) and _overlap(left, right) and _are_columns(lines, left, right):
            best = crossing, x - 1.0
    return best[1] if best else None


def _overlap(left: list[PdfLine], right: list[PdfLine]) -> bool:
    """Return whether two groups of lines stand beside each other for half of the height of the smaller."""
    tops = min(line.top for line in left), min(line.top for line in right)
    ends = max(line.bottom for line in left), max(line.bottom for line in right)
    smaller = min(ends[0] - tops[0], ends[1] - tops[1])
    return min(ends) - max(tops) > 0.5 * smaller


def _are_columns(lines: list[PdfLine], left: list[PdfLine], right: list[PdfLine]) -> bool:
    """Return whether the file draws one side after the other, or the lines of both fill their width like prose."""
    sides = {id(line): 0 for line in left} | {id(line): 1 for line in right}
    order = [sides[id(line)] for line in lines if id(line) in sides]
    switches = sum(first != second for first, second in itertools.pairwise(order))
    if switches <= max(2, 0.25 * min(len(left), len(right))):
        return True
    return (
        all(
            median(line.right - line.left for line in side)
            > FILLED * (max(x.right for x in side) - min(x.left for x in side))
            and median(len(line.text) for line in side) >= MIN_COLUMN_CHARS
            for side in (left, right)
        )
        and _is_prose(left)
        and _is_prose(right)
    )


def _is_prose(side: list[PdfLine]) -> bool:
    return sum(" " in line.text for line in side) > 0.7 * len(side)


def make_rows(lines: list[PdfLine]) -> list[PdfRow]:
    """Group the lines of a part by baseline, from top to bottom."""
    column = min((line.left for line in lines), default=0.0), max((line.right for line in lines), default=0.0)
    rows: list[PdfRow] = []
    for line in sorted(lines, key=lambda line: (line.top + line.bottom) / 2):
        line.column = column
        last = rows[-1][-1] if rows else None
        if last is not None and _share_baseline(last, line) and not any(_cover(other, line) for other in rows[-1]):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.left) for row in rows]


def _share_baseline(first: PdfLine, second: PdfLine) -> bool:
    common = min(first.bottom, second.bottom) - max(first.top, second.top)
    return common > 0.5 * min(first.bottom - first.top, second.bottom - second.top)


def _cover(first: PdfLine, second: PdfLine) -> bool:
    common = min(first.right, second.right) - max(first.left, second.left)
    return common > 0.3 * min(first.right - first.left, second.right - second.left)
