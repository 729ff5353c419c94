"""Call PDFium, a native library: open a file, read its pages, outline, labels and metadata.

Workers call it, which can be killed. It is given the bytes of the file, never a path or an address.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import Any, Final

import pypdfium2.raw as pdfium

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.documents.pdf.annotations import Annotations, mark_links, place_fields, read_annotations
from keyhole.extensions.documents.pdf.page_parts import (
    RAISED,
    RESERVED,
    RTL_LETTER,
    WORD_GAP,
    OutlineEntry,
    PdfPage,
    PdfRule,
    PdfStyle,
    PdfWord,
    is_rtl,
    split_superscript,
)
from keyhole.extensions.documents.pdf.right_to_left import Glyph, read_rtl_line
from keyhole.extract.body import Body

# Replaced text: a file may state another text for a part of a page (`/ActualText`; ISO 32000-2, section 14.9.4).
# PDFium gives that text in place of the drawn characters. Programs use it for ligatures and hyphens, but a reader of
# the page does not see it. So it is used only where it says the same as the page.

_KEY: Final = b"ActualText"
MAX_COMPARED: Final = 20_000_000
"""Characters of a page times its replaced pieces. PDFium looks at the whole page for the text of each piece, 20 ms in
all for this many. On a page with more, nothing is replaced."""
MAX_OBJECTS: Final = 50_000
"""Objects of a page that are searched for replacements, those of its forms included."""
MAX_LEVELS: Final = 8
"""Depth of forms in forms."""
MIN_SHARED: Final = 0.5
"""Smallest share of common letters with which two texts in a shaped script, such as Arabic, count as equal."""
GLYPH_CHARS: Final = 3
"""Characters that one glyph without a known character may stand for, as "ffi" does."""

_IGNORED: Final = re.compile(r"\s+|[^\w\s](?!\d)|_")
"""The characters that may differ between a replacement and the drawn text."""


def load_text(page: Any) -> Any:
    """Return PDFium's text of a page, None if it has none. Its replacements are removed unless all of them are true."""
    text = pdfium.FPDFText_LoadPage(page)
    pieces = _find_pieces(page) if text else {}
    if not pieces:
        return text
    count = sum(len(objects) for objects in pieces.values())
    is_compared = count * pdfium.FPDFText_CountChars(text) <= MAX_COMPARED
    replaced = _read_pieces(pieces, text) if is_compared else []
    for objects in pieces.values():
        for piece, mark in objects:
            pdfium.FPDFPageObjMark_RemoveParam(piece, mark, _KEY)
    drawn_text = pdfium.FPDFText_LoadPage(page)
    is_true = is_compared and all(map(says_the_same, replaced, _read_pieces(pieces, drawn_text)))
    pdfium.FPDFText_ClosePage(drawn_text if is_true else text)
    return text if is_true else drawn_text


def says_the_same(replaced: str, drawn: str) -> bool:
    """Return whether a replacement says the same as the drawn characters."""
    one, other = _letters(replaced), _letters(drawn)
    if one == other:
        return True
    if not _is_legible(drawn):  # "" may be one glyph that the font does not know
        return len(replaced) <= GLYPH_CHARS * max(1, len(drawn))
    if one.isascii() or other.isascii():
        return False
    return (Counter(one) & Counter(other)).total() >= MIN_SHARED * max(len(one), len(other))


def _letters(text: str) -> str:
    """Return letters and digits, and the signs before digits: -1.5 is not 15."""
    return _IGNORED.sub("", unicodedata.normalize("NFKD", text).casefold())


def _is_legible(text: str) -> bool:
    """Return whether every glyph has a character."""
    return "\ufffd" not in text and text != "" and all(unicodedata.category(each)[0] != "C" for each in text)


def _find_pieces(page: Any) -> dict[int, list[tuple[Any, Any]]]:
    """Return the objects with a replacement, each with its mark, by the address of the mark."""
    pieces: dict[int, list[tuple[Any, Any]]] = {}
    for piece in _iter_text_objects(page):
        for index in range(pdfium.FPDFPageObj_CountMarks(piece)):
            mark = pdfium.FPDFPageObj_GetMark(piece, index)
            if pdfium.FPDFPageObjMark_GetParamValueType(mark, _KEY) != pdfium.FPDF_OBJECT_UNKNOWN:
                pieces.setdefault(ctypes.addressof(mark.contents), []).append((piece, mark))
    return pieces


def _iter_text_objects(page: Any) -> Iterator[Any]:
    """Yield the text objects of a page and of its forms."""
    budget = MAX_OBJECTS
    stack = [(page, 0)]
    while stack:
        holder, level = stack.pop()
        count, get = pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject
        if level:
            count, get = pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject
        for index in range(min(count(holder), budget)):
            budget -= 1
            piece = get(holder, index)
            kind = pdfium.FPDFPageObj_GetType(piece)
            if kind == pdfium.FPDF_PAGEOBJ_TEXT:
                yield piece
            elif kind == pdfium.FPDF_PAGEOBJ_FORM and level < MAX_LEVELS:
                stack.append((piece, level + 1))


def _read_pieces(pieces: dict[int, list[tuple[Any, Any]]], text: Any) -> list[str]:
    return ["".join(_read_object(piece, text) for piece, _ in objects) for objects in pieces.values()]


def _read_object(piece: Any, text: Any) -> str:
    size = pdfium.FPDFTextObj_GetText(piece, text, None, 0)
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFTextObj_GetText(piece, text, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace").strip("\0")


# Divide the characters of a PDF page into words: at spaces, borders of cells, gaps, and before raised numbers.

DIVIDERS: Final = ("\x02", "\ufffe")
"""Characters that PDFium gives instead of the hyphen of a word divided at a line's end, and of the line break."""
PADDING: Final = 14.0
"""Largest distance of a cell's border from its text, in points. LaTeX has 6, Sphinx 9."""
MIN_GAPS: Final = 0.01
"""Smallest share of words with a gap, on one page of a file, for which all words of the file are searched for gaps."""
_LONG_WORD = re.compile(r"[^\W_]{3,20}")
"""A word that shows in which direction a page is read."""
SAMPLED_WORDS: Final = 40
"""Number of words of a page that are looked at to see in which direction it is read."""
FIRST_CJK: Final = "\u2e80"
"""The first character of those of Chinese and Japanese."""
_SPACES = re.compile(r"[\s\x00]+|[\x02\ufffe](?![\s\x00])")

CharSpan = tuple[int, int, bool]
"""Start and end of a word among the characters of a page, and whether it begins a line."""


class Placement:
    """The change from the coordinates of a page's content to points from the top left corner of the page as it is
    read.
    """

    def __init__(self, page: Any, width: float, height: float) -> None:
        box = pdfium.FS_RECTF()
        pdfium.FPDF_GetPageBoundingBox(page, box)
        self._x, self._y = box.left, box.bottom
        self._turn = int(pdfium.FPDFPage_GetRotation(page))
        self.width, self.height = width, height

    def find(self, text: Any, index: int) -> tuple[float, float, float, float]:
        """Return left, top, right and bottom of a character."""
        box = _read_box(text, index)
        return self.put(box.left, box.top, box.right, box.bottom)

    @property
    def is_upright(self) -> bool:
        """Whether the page is shown as its content is drawn."""
        return self._turn == 0

    @property
    def is_on_side(self) -> bool:
        """Whether the page is shown on its left or right side."""
        return self._turn % 2 == 1

    def shows(self, word: PdfWord) -> bool:
        """Return whether a part of a word is on the page."""
        return word.right > 0 and word.bottom > 0 and word.left < self.width and word.top < self.height

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


def iter_spans(string: str) -> Iterator[CharSpan]:
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


def split_at_borders(text: Any, span: CharSpan, place: Placement, borders: list[PdfRule]) -> Iterator[CharSpan]:
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


def split_at_gaps(text: Any, string: str, span: CharSpan) -> Iterator[CharSpan]:
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


def split_at_heights(text: Any, span: CharSpan) -> Iterator[CharSpan]:
    """Yield the parts of a word on several lines, as where PDFium joins the numbers of fields below each other."""
    start, end, begins = span
    boxes = [_read_box(text, index) for index in range(start, end)]
    for index, (one, other) in enumerate(itertools.pairwise(boxes), start=start + 1):
        distance = max(one.bottom - other.top, other.bottom - one.top)
        if distance > WORD_GAP * max(one.top - one.bottom, one.right - one.left):
            yield start, index, begins
            start, begins = index, True
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


# Call PDFium, a native library: open a file, read its pages, outline, labels and metadata.

MAX_PAGE_CHARS: Final = 200_000
"""Largest number of characters read of one page. A dense page of a newspaper has 20,000."""
MAX_PAGE_OBJECTS: Final = 20_000
"""Largest number of drawn objects of one page that are searched for lines. A detailed map has more."""
SAMPLED_PAGES: Final = 8
"""Number of pages whose characters are all looked at, to see whether words are joined."""
MAX_OUTLINE_ENTRIES: Final = 5_000
"""Largest number of outline entries read, which also bounds a circular outline."""
MAX_OUTLINE_LEVELS: Final = 6
"""Number of levels of the outline that are read."""
MAX_TITLE_BYTES: Final = 4_000
"""Longest string read from the file's metadata and outline, in bytes of UTF-16."""
THICKNESS: Final = 2.5
"""Largest thickness of a drawn line, in points. A thicker box is a background."""
MIN_RULE: Final = 6.0
"""Shortest drawn line, in points."""
_BOLD = re.compile(r"bold|black|heavy|demi|semib|cmb|sfbx|sfrb|cmssbx|ecbx|[-,]B(?:d|I)?$|Medi$", re.IGNORECASE)
_FIXED = re.compile(
    r"mono|courier|consol|menlo|typewriter|cmtt|sftt|ectt|lmtt|cmsltt|txtt|nimbusmon|lucidasanstyp|inconsol|sourcecode|"
    r"firacode|hack|\bCour\b|cmitt|pcrr|fixed", re.IGNORECASE,
)  # fmt: skip
_FIXED_FLAG: Final = 1
_FORCE_BOLD_FLAG: Final = 1 << 18


def find_turn(text: Any, turn: int) -> int:
    """Return the turn, in quarters to the right, with which most words of a page run from left to right.

    A page may be shown on its side. `turn`: that of a page without words. Words from right to left have no vote.
    """
    string = read_characters(text) if 0 < pdfium.FPDFText_CountChars(text) <= MAX_PAGE_CHARS else ""
    votes: Counter[int] = Counter()
    for place in range(0, len(string), len(string) // SAMPLED_WORDS + 1):
        word = _LONG_WORD.search(string, place)
        if word and not is_rtl(word[0]):
            first, last = _read_box(text, word.start()), _read_box(text, word.end() - 1)
            right, up = last.left - first.left, last.bottom - first.bottom
            along = (0 if right > 0 else 2) if abs(right) > abs(up) else (1 if up > 0 else 3)
            votes[along] += len(word[0])
    return votes.most_common(1)[0][0] if votes else turn


class PdfFile:
    """An open PDF file. Raises KeyholeError for damaged files and for files with a password."""

    def __init__(self, body: Body) -> None:
        pdfium.FPDF_InitLibrary()
        self._data = body.data  # PDFium reads it until the file is closed
        self._document = pdfium.FPDF_LoadMemDocument64(self._data, len(self._data), None)
        if not self._document:
            raise _open_error(pdfium.FPDF_GetLastError(), body)
        self._styles: dict[tuple[int, float], PdfStyle] = {}
        self._fonts: dict[int, tuple[bool, bool]] = {}
        self._joins_words: bool | None = None
        self.links: dict[str, str] = {}
        """The addresses that the pages read so far link to, with their signs."""
        self.page_count: int = pdfium.FPDF_GetPageCount(self._document)

    def close(self) -> None:
        """Free the file."""
        pdfium.FPDF_CloseDocument(self._document)

    def read_page(self, number: int) -> PdfPage:
        """Return a page. A page that cannot be read, or has too many characters, is `unread`."""
        page = pdfium.FPDF_LoadPage(self._document, number)
        if not page:
            return PdfPage(0, 0, unread=True)
        marks = read_annotations(self._document, page)
        if marks.is_drawn and pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS:
            pdfium.FPDF_ClosePage(page)
            page = pdfium.FPDF_LoadPage(self._document, number)
        text = load_text(page)
        turn = pdfium.FPDFPage_GetRotation(page)
        if text and (turn := find_turn(text, turn)) != pdfium.FPDFPage_GetRotation(page):
            pdfium.FPDFPage_SetRotation(page, turn)  # PDFium puts the characters of an upright page in order
            pdfium.FPDFText_ClosePage(text)
            pdfium.FPDF_ClosePage(page)
            page = pdfium.FPDF_LoadPage(self._document, number)
            text = load_text(page)
        try:
            return self._read_parts(page, text, marks)
        finally:
            if text:
                pdfium.FPDFText_ClosePage(text)
            pdfium.FPDF_ClosePage(page)

    def _read_parts(self, page: Any, text: Any, marks: Annotations) -> PdfPage:
        """Return the words, lines and images of a page. `text`: its characters, None if they cannot be read."""
        width, height = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
        result = PdfPage(width, height, notes=marks.notes, unread=not text)
        if text:
            count = pdfium.FPDFText_CountChars(text)
            result.cost = count + 3 * pdfium.FPDFPage_CountObjects(page)
            result.unread = count > MAX_PAGE_CHARS
        if not result.unread:
            place = Placement(page, width, height)
            result.rules, result.image_share = _read_drawings(page, place)
            borders = [rule for rule in result.rules if rule.left == rule.right]
            result.lines = self._read_lines(text, place, borders)
            place_fields(result.lines, marks, place.put, borders)
            mark_links(result.lines, marks.links, place.put, self.links)
        return result

    def _read_lines(self, text: Any, place: Placement, borders: list[PdfRule]) -> list[list[PdfWord]]:
        """Return the words of each line. `borders`: the vertical lines of the page, which words do not cross."""
        string = RESERVED.sub("\ufffd", read_characters(text).replace(RAISED, "\0"))
        spans, values = self._find_spans(text, string, place, borders)
        lines: list[list[PdfWord]] = []
        extents: list[tuple[int, int]] = []
        style, height = PdfStyle(0.0, False, False), 0.0
        for number, (start, end, begins) in enumerate(spans):
            left, top, right, bottom, end_left, end_top, end_right, end_bottom = values[8 * number : 8 * number + 8]
            ends = number + 1 == len(spans) or spans[number + 1][2]
            size, end_height = top - bottom, end_top - end_bottom
            if place.is_on_side:
                size, end_height = right - left, end_right - end_left
            if begins or ends or size != height:  # within a line, a font differs by its height
                style, height = self._find_style(text, start, (left, top, right, bottom)), size
            box = place.put(
                left if left < end_left else end_left, top if top > end_top else end_top,
                right if right > end_right else end_right, bottom if bottom < end_bottom else end_bottom,
            )  # fmt: skip
            word = PdfWord(string[start:end], *box, style)
            if begins and lines and _goes_on(lines[-1][-1], word):
                if word.left - lines[-1][-1].right < WORD_GAP * style.size:
                    last = lines[-1].pop()
                    word = word._replace(text=last.text + word.text, left=last.left)
            elif begins:
                lines.append([])
                extents.append((start, end))
            extents[-1] = extents[-1][0], end
            lines[-1] += [word] if end_height == height else split_superscript(word, height, end_height)
        if RTL_LETTER.search(string):
            lines = self._turn_lines(text, string, lines, extents, place, borders)
        return [seen for line in lines if (seen := [word for word in line if place.shows(word)])]

    def _turn_lines(
        self, text: Any, string: str, lines: list[list[PdfWord]], extents: list[tuple[int, int]], place: Placement,
        borders: list[PdfRule],
    ) -> list[list[PdfWord]]:  # fmt: skip
        """Return the lines of a page, those with Arabic or Hebrew words in reading order. `extents`: of each line."""
        is_page_rtl = is_rtl(string)
        signs = ".)" if is_page_rtl else ""  # before the number of a list item
        turned: list[list[PdfWord]] = []
        at = 0
        while at < len(lines):
            end = at + 1
            while is_page_rtl and end < len(lines) and _are_level(lines[end - 1], lines[end]):
                end += 1  # PDFium puts accents into a line of their own
            span = extents[at][0], extents[end - 1][1]
            if RTL_LETTER.search(string, *span) or string[span[0]] in signs:
                turned.append(self._read_rtl(text, string, span, place, borders, is_page_rtl=is_page_rtl))
            else:
                turned += lines[at:end]
            at = end
        return turned

    def _read_rtl(
        self, text: Any, string: str, span: tuple[int, int], place: Placement, borders: list[PdfRule],
        *, is_page_rtl: bool,
    ) -> list[PdfWord]:  # fmt: skip
        """Return the words of a line with Arabic or Hebrew words. `span`: its start and end among the characters."""
        spaces = itertools.accumulate(map(str.isspace, string[slice(*span)]))
        glyphs = [
            Glyph(string[index], *place.find(text, index), part, index)
            for index, part in zip(range(*span), spaces, strict=True)
            if string[index] not in "\0\r\n"
        ]
        style = self._find_style(text, glyphs[0].number, glyphs[0].box)
        words: list[PdfWord] = []
        for read in read_rtl_line(glyphs, style.size, borders, is_page_rtl=is_page_rtl):
            first, last = read.glyphs[0], read.glyphs[-1]
            word = PdfWord(read.text, *read.box, self._find_style(text, first.number, first.box))
            words += split_superscript(word, first.bottom - first.top, last.bottom - last.top)
        return words

    def _find_spans(
        self, text: Any, string: str, place: Placement, borders: list[PdfRule]
    ) -> tuple[list[CharSpan], list[float]]:
        """Return the words of a page, and the sides of the first and the last character of each."""
        spans = list(iter_spans(string))
        if self._has_gaps():
            spans = [part for span in spans for part in split_at_gaps(text, string, span)]
        if borders:
            spans = [part for span in spans for part in split_at_borders(text, span, place, borders)]
        values = _read_ends(text, spans)
        if any(values[n + 5] < values[n + 3] or values[n + 7] > values[n + 1] for n in range(0, len(values), 8)):
            spans = [part for span in spans for part in split_at_heights(text, span)]
            values = _read_ends(text, spans)
        return spans, values

    def _has_gaps(self) -> bool:
        """Return whether words of the file are joined where it draws no space, as a few of its pages show."""
        if self._joins_words is None:
            step = max(1, self.page_count // SAMPLED_PAGES)
            self._joins_words = any(self._page_has_gaps(number) for number in range(0, self.page_count, step))
        return self._joins_words

    def _page_has_gaps(self, number: int) -> bool:
        page = pdfium.FPDF_LoadPage(self._document, number)
        text = pdfium.FPDFText_LoadPage(page) if page else None
        try:
            return bool(text) and pdfium.FPDFText_CountChars(text) <= MAX_PAGE_CHARS and has_gaps(text)
        finally:
            if text:
                pdfium.FPDFText_ClosePage(text)
            if page:
                pdfium.FPDF_ClosePage(page)

    def _find_style(self, text: Any, index: int, box: tuple[float, float, float, float]) -> PdfStyle:
        """Return the style of a character. Characters of one font and height have one style."""
        text_object = pdfium.FPDFText_GetTextObject(text, index)
        font = pdfium.FPDFTextObj_GetFont(text_object) if text_object else None
        address = ctypes.addressof(font.contents) if font else 0
        key = address, round(max(abs(box[1] - box[3]), abs(box[2] - box[0]) / 4), 1)
        style = self._styles.get(key)
        if style is None:
            matrix = pdfium.FS_MATRIX()
            pdfium.FPDFText_GetMatrix(text, index, matrix)
            size = pdfium.FPDFText_GetFontSize(text, index) * (math.hypot(matrix.c, matrix.d) or 1.0)
            if address not in self._fonts:
                self._fonts[address] = _describe_font(font) if font else (False, False)
            size = round(size, 1) if math.isfinite(size) and 0 < size < 10_000 else 10.0
            style = self._styles[key] = PdfStyle(size, *self._fonts[address])
        return style

    def read_label(self, number: int) -> str:
        """Return the label of a page, "" if the file gives none."""
        return _read_string(lambda buffer, size: pdfium.FPDF_GetPageLabel(self._document, number, buffer, size))

    def read_metadata(self, name: str) -> str:
        """Return a value of the file's information dictionary, or ""."""
        key = name.encode()
        return _read_string(lambda buffer, size: pdfium.FPDF_GetMetaText(self._document, key, buffer, size))

    def read_language(self) -> str:
        """Return the language that the file states, or ""."""
        kind = ctypes.POINTER(ctypes.c_ushort)
        return _read_string(
            lambda buffer, size: pdfium.FPDFCatalog_GetLanguage(
                self._document, ctypes.cast(buffer, kind) if buffer else None, size
            )
        )

    def read_outline(self) -> list[OutlineEntry]:
        """Return the entries of the outline in order."""
        entries: list[OutlineEntry] = []
        self._add_outline(None, 1, entries)
        return entries

    def _add_outline(self, parent: Any, level: int, entries: list[OutlineEntry]) -> None:
        bookmark = pdfium.FPDFBookmark_GetFirstChild(self._document, parent)
        while bookmark and len(entries) < MAX_OUTLINE_ENTRIES:
            title = _read_string(
                lambda buffer, size, bookmark=bookmark: pdfium.FPDFBookmark_GetTitle(bookmark, buffer, size)
            )
            target = pdfium.FPDFBookmark_GetDest(self._document, bookmark)
            page = pdfium.FPDFDest_GetDestPageIndex(self._document, target) if target else -1
            entries.append(OutlineEntry(title, level, page))
            if level < MAX_OUTLINE_LEVELS:
                self._add_outline(bookmark, level + 1, entries)
            bookmark = pdfium.FPDFBookmark_GetNextSibling(self._document, bookmark)


def _read_ends(text: Any, spans: list[CharSpan]) -> list[float]:
    """Return left, top, right and bottom of the first and the last character of each word."""
    boxes = (pdfium.FS_RECTF * (2 * len(spans)))()
    read_box = pdfium.FPDFText_GetLooseCharBox
    for number, (start, end, _) in enumerate(spans):
        read_box(text, start, boxes[2 * number])
        read_box(text, end - 1, boxes[2 * number + 1])
    return [float(value) for value in memoryview(boxes).cast("B").cast("f")] if spans else []


def _are_level(one: list[PdfWord], other: list[PdfWord]) -> bool:
    """Return whether two lines stand at one height. The boxes of accented letters may reach only into the line."""
    top, bottom = min(word.top for word in one), max(word.bottom for word in one)
    other_top, other_bottom = min(word.top for word in other), max(word.bottom for word in other)
    common = min(bottom, other_bottom) - max(top, other_top)
    smallest = min(bottom - top, other_bottom - other_top)
    return common > (0 if smallest < 0.4 * max(bottom - top, other_bottom - other_top) else smallest / 2)


def _goes_on(last: PdfWord, word: PdfWord) -> bool:
    """Return whether a word that begins a line goes on with the last one's, as where PDFium takes text for vertical."""
    size = word.style.size
    return last.style is word.style and last.bottom == word.bottom and -WORD_GAP < (word.left - last.right) / size < 0.4


def _open_error(code: int, body: Body) -> KeyholeError:
    if code == pdfium.FPDF_ERR_PASSWORD:
        return KeyholeError(Code.ENCRYPTED_DOCUMENT, f"the PDF is encrypted with a password, {body.size_text}")
    if code == pdfium.FPDF_ERR_SECURITY:
        return KeyholeError(Code.ENCRYPTED_DOCUMENT, f"the PDF's encryption is not supported, {body.size_text}")
    return KeyholeError(
        Code.EXTRACTION_FAILED, f"the PDF is damaged and its pages cannot be found, {body.size_text}",
        bytes=len(body.data),
    )  # fmt: skip


def _describe_font(font: Any) -> tuple[bool, bool]:
    """Return whether a font is bold, and whether its characters all have one width."""
    flags = pdfium.FPDFFont_GetFlags(font)
    buffer = ctypes.create_string_buffer(200)
    pdfium.FPDFFont_GetBaseFontName(font, buffer, 200)
    name = buffer.value.decode("latin-1").partition("+")[2] or buffer.value.decode("latin-1")
    bold = bool(_BOLD.search(name)) or (flags > 0 and bool(flags & _FORCE_BOLD_FLAG))
    return bold, bool(_FIXED.search(name)) or (flags > 0 and bool(flags & _FIXED_FLAG))


def _read_drawings(page: Any, place: Placement) -> tuple[list[PdfRule], float]:
    """Return the drawn lines of a page, and the share of the page that its largest image covers."""
    rules: list[PdfRule] = []
    largest = 0.0
    area = max(1.0, place.width * place.height)
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for drawn, kind in _iter_objects(page):
        pdfium.FPDFPageObj_GetBounds(drawn, left, bottom, right, top)
        box = place.put(left.value, top.value, right.value, bottom.value)
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            largest = max(largest, (box[2] - box[0]) * (box[3] - box[1]) / area)
        else:
            rules += _list_rules(drawn, box, place)
    return rules, largest


def _iter_objects(page: Any) -> Iterator[tuple[Any, int]]:
    """Yield the paths and images of a page, and those of its forms, which are not placed."""
    count = pdfium.FPDFPage_CountObjects(page)
    for index in range(min(count, MAX_PAGE_OBJECTS)):
        drawn = pdfium.FPDFPage_GetObject(page, index)
        kind = pdfium.FPDFPageObj_GetType(drawn)
        if kind in {pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_IMAGE}:
            yield drawn, kind


def _list_rules(path: Any, box: tuple[float, float, float, float], place: Placement) -> list[PdfRule]:
    """Return the lines of a path: the path itself if it is thin, or the sides of a rectangle that is drawn."""
    left, top, right, bottom = box
    if bottom - top <= THICKNESS:
        middle = (top + bottom) / 2
        return [PdfRule(left, middle, right, middle)] if right - left >= MIN_RULE else []
    if right - left <= THICKNESS:
        middle = (left + right) / 2
        return [PdfRule(middle, top, middle, bottom)] if bottom - top >= MIN_RULE else []
    stroked, fill = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroked)
    is_whole_page = right - left > 0.9 * place.width and bottom - top > 0.9 * place.height
    if is_whole_page or not (stroked.value or fill.value) or pdfium.FPDFPath_CountSegments(path) > 6:
        return []
    return [
        PdfRule(left, top, right, top), PdfRule(left, bottom, right, bottom),
        PdfRule(left, top, left, bottom), PdfRule(right, top, right, bottom),
    ]  # fmt: skip


def _read_string(call: Any) -> str:
    """Return the string that a function of PDFium writes into a buffer as UTF-16."""
    size = call(None, 0)
    if not 2 < size <= MAX_TITLE_BYTES:
        return ""
    buffer = ctypes.create_string_buffer(size)
    call(buffer, size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace").rstrip("\0")
