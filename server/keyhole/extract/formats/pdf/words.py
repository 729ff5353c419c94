"""Divide the characters of a PDF page into words: at spaces, borders of cells, gaps, and before raised numbers."""

from __future__ import annotations

import ctypes
import itertools
import re
from collections.abc import Iterator
from statistics import median
from typing import Any, Final

import pypdfium2.raw as pdfium

from keyhole.extract.formats.pdf.page_parts import RAISED, Rule, Word

DIVIDERS: Final = ("\x02", "\ufffe")
"""What PDFium gives instead of the hyphen of a word that is divided at a line's end, and of the line break."""
PADDING: Final = 14.0
"""Largest distance of a cell's border from its text, in points. LaTeX has 6, Sphinx 9."""
WORD_GAP: Final = 0.18
"""Smallest gap between two words without a space between them, in heights of a character. Letters are at most 0.05
apart, and groff leaves 0.2 to 0.25 where it draws no space."""
MIN_GAPS: Final = 0.01
"""Smallest share of words with a gap, on a page of a file whose words are all looked through."""
FIRST_CJK: Final = "\u2e80"
"""The first character of those of Chinese and Japanese."""
SMALL: Final = 0.86
"""A character of less than this share of another's height is raised or lowered. Footnote marks have 0.65 to 0.8."""
_NUMBER_AT_END = re.compile(r"(?<=[^\W\d_.,;:!?)”»’\"'])\d{1,3}$|(?<=[.,;:!?)”»’\"'])\d{1,3}$|(?<=.)[*†‡§]$")
_NUMBER_AT_START = re.compile(r"^(?:\d{1,3}|[*†‡§])(?=.)")
_SPACES = re.compile(r"[\s\x00]+|[\x02\ufffe](?![\s\x00])")

Span = tuple[int, int, bool]
"""Start and end of a word among the characters of a page, and whether it begins a line."""


class Placement:
    """The change from the coordinates of a page's content to points from the top left corner of the page as shown."""

    def __init__(self, page: Any, width: float, height: float) -> None:
        box = pdfium.FS_RECTF()
        pdfium.FPDF_GetPageBoundingBox(page, box)
        self._x, self._y = box.left, box.bottom
        self._turn = pdfium.FPDFPage_GetRotation(page)
        self.width, self.height = width, height

    def find(self, text: Any, index: int) -> tuple[float, float, float, float]:
        """Return left, top, right and bottom of a character."""
        box = _read_box(text, index)
        return self.put(box.left, box.top, box.right, box.bottom)

    def put(self, left: float, top: float, right: float, bottom: float) -> tuple[float, float, float, float]:
        """Return left, top, right and bottom of a box of the page's content."""
        left, right, top, bottom = left - self._x, right - self._x, top - self._y, bottom - self._y
        if self._turn == 0:
            return left, self.height - top, right, self.height - bottom
        if self._turn == 1:
            return bottom, left, top, right
        if self._turn == 2:
            return self.width - right, bottom, self.width - left, top
        return self.width - top, self.height - right, self.width - bottom, self.height - left


def read_characters(text: Any) -> str:
    """Return the characters of a page, one for each index. Characters that have no code are NUL."""
    count = pdfium.FPDFText_CountChars(text)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (count + 1))()
    written = pdfium.FPDFText_GetText(text, 0, count, buffer)
    string = bytes(buffer)[: 2 * max(0, written - 1)].decode("utf-16-le", "replace")
    if len(string) == count:
        return string
    return "".join([_to_character(pdfium.FPDFText_GetUnicode(text, index)) for index in range(count)])


def _to_character(code: int) -> str:
    return chr(code) if 0 < code <= 0x10FFFF and not 0xD800 <= code < 0xE000 else "\ufffd" if code else "\0"


def iter_spans(string: str) -> Iterator[Span]:
    """Yield start and end of each word, and whether it begins a line. PDFium joins the halves of a divided word."""
    begins = True
    start = 0
    for space in _SPACES.finditer(string):
        end = space.start() + (space[0] in DIVIDERS)
        if end > start:
            yield start, end, begins
            begins = False
        begins = begins or "\n" in space[0] or "\r" in space[0] or space[0] in DIVIDERS
        start = space.end()
    if start < len(string):
        yield start, len(string), begins


def split_at_borders(text: Any, span: Span, place: Placement, borders: list[Rule]) -> Iterator[Span]:
    """Yield the parts of a word before and after the borders of cells.

    PDFium joins texts without a gap, as where a long name ends just before the next cell. A part begins with another
    object of the page, near a border: a name that goes on across the border is one object.
    """
    start, end, begins = span
    last = _find_object(text, start)
    if end - start > 1 and last != _find_object(text, end - 1):
        first_left, _, _, _ = place.find(text, start)
        for index in range(start + 1, end):
            drawn = _find_object(text, index)
            if drawn != last:
                left, top, _, bottom = place.find(text, index)
                middle = (top + bottom) / 2
                if any(
                    max(first_left, left - PADDING) < r.left < left + 2 and r.top < middle < r.bottom for r in borders
                ):
                    yield start, index, begins
                    start, begins = index, False
            last = drawn
    yield start, end, begins


def _find_object(text: Any, index: int) -> int:
    """Return the address of the object of the page that draws a character, 0 if there is none."""
    return ctypes.cast(pdfium.FPDFText_GetTextObject(text, index), ctypes.c_void_p).value or 0


def split_at_gaps(text: Any, string: str, span: Span) -> Iterator[Span]:
    """Yield the parts of a word before and after the gaps in it. `string`: the characters of the page.

    PDFium joins two words between which a file has moved the pen but drawn no space. The letters of a spaced title are
    all apart, so they are one word, and Chinese and Japanese have gaps without meaning.
    """
    start, end, begins = span
    boxes = [_read_box(text, index) for index in range(start, end)]
    gaps = [second.left - first.right for first, second in itertools.pairwise(boxes)]
    if len(gaps) > 1 and max(gaps) > 0 and median(gaps) < WORD_GAP / 3 * (boxes[0].top - boxes[0].bottom):
        for index, gap in enumerate(gaps, start=start + 1):
            box = boxes[index - span[0]]
            is_wide = gap > WORD_GAP * (box.top - box.bottom)
            if is_wide and max(string[index - 1], string[index]) < FIRST_CJK:
                yield start, index, begins
                start, begins = index, False
    yield start, end, begins


def has_gaps(text: Any) -> bool:
    """Return whether some of a page's words are two words with a gap between them."""
    string = read_characters(text)
    spans = [span for span in iter_spans(string) if span[1] - span[0] > 2]
    divided = sum(len(list(split_at_gaps(text, string, span))) > 1 for span in spans)
    return divided > MIN_GAPS * len(spans)


def _read_box(text: Any, index: int) -> Any:
    box = pdfium.FS_RECTF()
    pdfium.FPDFText_GetLooseCharBox(text, index, box)
    return box


def split_superscript(word: Word, first: float, last: float) -> list[Word]:
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
