"""Read what lies on a PDF page: values of forms, the addresses of links, and the notes of readers."""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pypdfium2.raw as pdfium

from keyhole.extensions.documents.pdf.page_parts import (
    FIRST_SIGN,
    MAX_LINKS,
    RAISED,
    RESERVED,
    PdfRule,
    PdfStyle,
    PdfWord,
)
from keyhole.extract.html.link_resolver import resolve_link

Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""

MAX_ANNOTATIONS: Final = 1_000
"""Largest number of annotations of one page. Pages of an index have some hundred links."""
MAX_TEXT_BYTES: Final = 40_000
"""Longest value or note that is read, in bytes of UTF-16."""
HIDDEN: Final = pdfium.FPDF_ANNOT_FLAG_INVISIBLE | pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
PASSWORD: Final = 1 << 13
"""The flag of a field whose value is not shown (ISO 32000-2, table 231)."""
DRAWN: Final = frozenset({pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_STAMP})
"""Kinds of annotations that draw text on the page."""
NO_NOTES: Final = frozenset({pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP})
"""Kinds of annotations whose contents describe something else."""
REACH: Final = 2.5
"""Largest distance of a check box from its text on the right, in sizes of the font."""
MAX_LABEL_GAP: Final = 200.0
"""Largest distance of a field from its label on the left, in points."""
_SCHEME = re.compile(r"(?:mailto|tel):[^\s()<>\\`]+", re.IGNORECASE)
_OPENING: Final = "([{\"'“‘«"
_CLOSING: Final = ")]}\"'”’».,;:!?"


@dataclass(slots=True)
class Annotations:
    """The annotations of a page. Boxes are in points of its content."""

    links: list[tuple[str, list[Box]]] = field(default_factory=list)
    """The address of each link, and the boxes that it covers."""
    fields: list[tuple[Box, str, bool]] = field(default_factory=list)
    """The fields of forms, each with its value and whether it is a box to check, as Markdown shows it."""
    notes: list[str] = field(default_factory=list)
    is_drawn: bool = False
    """Whether there are texts that the page's content does not draw."""


def read_annotations(document: Any, page: Any) -> Annotations:
    """Return the visible annotations of a page. Those that are not to be drawn as they are get hidden."""
    result = Annotations()
    for index in range(min(MAX_ANNOTATIONS, pdfium.FPDFPage_GetAnnotCount(page))):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if annotation:
            if not pdfium.FPDFAnnot_GetFlags(annotation) & HIDDEN:
                _add(annotation, document, result)
            pdfium.FPDFPage_CloseAnnot(annotation)
    return result


def _add(annotation: Any, document: Any, result: Annotations) -> None:
    kind = pdfium.FPDFAnnot_GetSubtype(annotation)
    box = _read_rect(annotation)
    if kind == pdfium.FPDF_ANNOT_LINK:
        if address := _read_address(annotation, document):
            result.links.append((address, list(_list_boxes(annotation)) or [box]))
    elif kind == pdfium.FPDF_ANNOT_WIDGET:
        if state := _read(annotation, b"AS"):
            pdfium.FPDFAnnot_SetFlags(annotation, pdfium.FPDF_ANNOT_FLAG_HIDDEN)
            result.fields.append((box, "[ ]" if state == "Off" else "[x]", True))
        elif _read_number(annotation, b"Ff") & PASSWORD:
            pdfium.FPDFAnnot_SetFlags(annotation, pdfium.FPDF_ANNOT_FLAG_HIDDEN)
        else:
            result.fields.append((box, _read(annotation, b"V"), False))
    is_drawn = (
        kind in DRAWN and pdfium.FPDFAnnot_GetAP(annotation, pdfium.FPDF_ANNOT_APPEARANCEMODE_NORMAL, None, 0) > 2
    )
    result.is_drawn |= is_drawn
    if not is_drawn and kind not in NO_NOTES and (text := " ".join(_read(annotation, b"Contents").split())):
        author = " ".join(_read(annotation, b"T").split())
        result.notes.append(f"(Note{' by ' if author else ''}{author}: {text})")


def _read_rect(annotation: Any) -> Box:
    rect = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(annotation, rect)
    xs, ys = (rect.left, rect.right), (rect.top, rect.bottom)
    return min(xs), max(ys), max(xs), min(ys)


def _list_boxes(annotation: Any) -> Iterator[Box]:
    """Yield the boxes of the lines that an annotation covers, if it states them."""
    points = pdfium.FS_QUADPOINTSF()
    for index in range(min(MAX_ANNOTATIONS, pdfium.FPDFAnnot_CountAttachmentPoints(annotation))):
        if pdfium.FPDFAnnot_GetAttachmentPoints(annotation, index, points):
            xs, ys = (points.x1, points.x2, points.x3, points.x4), (points.y1, points.y2, points.y3, points.y4)
            yield min(xs), max(ys), max(xs), min(ys)


def _read_address(annotation: Any, document: Any) -> str:
    """Return the address of a link, "" for a place in the file and for a script."""
    action = pdfium.FPDFLink_GetAction(pdfium.FPDFAnnot_GetLink(annotation))
    if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
        return ""
    size = pdfium.FPDFAction_GetURIPath(document, action, None, 0)
    if not 1 < size <= MAX_TEXT_BYTES:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFAction_GetURIPath(document, action, buffer, size)
    address = buffer.value.decode("utf-8", "replace").strip()
    return address if _SCHEME.fullmatch(address) else resolve_link("", address)


def _read(annotation: Any, key: bytes) -> str:
    size = pdfium.FPDFAnnot_GetStringValue(annotation, key, None, 0)
    if not 2 < size <= MAX_TEXT_BYTES:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFAnnot_GetStringValue(annotation, key, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return RESERVED.sub("\ufffd", buffer.raw[: size - 2].decode("utf-16-le", "replace").rstrip("\0"))


def _read_number(annotation: Any, key: bytes) -> int:
    value = ctypes.c_float()
    return int(value.value) if pdfium.FPDFAnnot_GetNumberValue(annotation, key, value) else 0


def place_fields(
    lines: list[list[PdfWord]], marks: Annotations, put: Callable[..., Box], borders: Sequence[PdfRule]
) -> None:
    """Put the value of each field behind its label, and each check box before its text.

    A value that is not drawn is added. `borders`: the vertical lines of the page, across which no label is sought.
    """
    styles = Counter(word.style for line in lines for word in line) if marks.fields else None
    style = styles.most_common(1)[0][0] if styles else PdfStyle(10.0, False, False)
    for box, value, is_check in marks.fields:
        area = put(*box)
        drawn = [word for line in lines for word in line if _is_inside(word, area)]
        words = drawn if drawn and not is_check else _spread(value, area, style)
        if not words or max(word.top for word in words) > words[0].bottom:
            continue  # nothing, or several lines
        if (place := _find_label(lines, area, borders, is_check=is_check)) is None:
            if words is not drawn:
                lines.append(words)
            continue
        label = lines[place[0]][place[1]]
        gap = 0.3 * label.style.size
        width = words[-1].right - words[0].left
        left = label.left - gap - width if is_check and place[2] else label.right + gap
        moved = [
            word._replace(left=word.left - words[0].left + left, right=word.right - words[0].left + left,
                          top=label.top, bottom=label.bottom)
            for word in words
        ]  # fmt: skip
        index = place[1] + (not place[2])
        lines[place[0]][index:index] = moved
        old = set(map(id, drawn))
        lines[:] = [kept for line in lines if (kept := [word for word in line if id(word) not in old])]


def _spread(value: str, area: Box, style: PdfStyle) -> list[PdfWord]:
    """Return the words of a value that is not drawn, in the lowest line of its box."""
    left, top, right, bottom = area
    step = (right - left) / max(len(value), 1)
    top = max(top, bottom - 1.5 * style.size)
    return [
        PdfWord(match[0], left + step * match.start(), top, left + step * match.end(), bottom, style)
        for match in re.finditer(r"\[ \]|\S+", value)
    ]


def _find_label(
    lines: Sequence[Sequence[PdfWord]], area: Box, borders: Sequence[PdfRule], *, is_check: bool
) -> tuple[int, int, bool] | None:
    """Return the place of the word beside a field, as numbers of line and word, and whether it is on the right."""
    left, top, right, bottom = area
    middle = (top + bottom) / 2
    near = []
    for number, line in enumerate(lines):
        for index, word in enumerate(line):
            if word.top < middle < word.bottom:
                behind, ahead = word.left - right, left - word.right
                if is_check and -2 < behind < REACH * word.style.size:
                    near.append((False, behind, number, index, True))
                elif -2 < ahead < MAX_LABEL_GAP and not any(
                    word.right < rule.left < left + 2 and rule.top < middle < rule.bottom for rule in borders
                ):
                    near.append((is_check, ahead, number, index, False))
    return min(near)[2:] if near else None


def _is_inside(word: PdfWord, box: Box) -> bool:
    x, y = (word.left + word.right) / 2, (word.top + word.bottom) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def mark_links(
    lines: list[list[PdfWord]], links: Sequence[tuple[str, list[Box]]], put: Callable[..., Box], urls: dict[str, str]
) -> None:
    """Add a sign of its address to each word of a link. `urls`: the signs of the addresses so far, which grow."""
    words = sorted(
        ((word.top + word.bottom) / 2, number, index)
        for number, line in enumerate(lines)
        for index, word in enumerate(line)
    )
    for address, boxes in links:
        if address not in urls and len(urls) == MAX_LINKS:
            continue
        sign = urls.setdefault(address, chr(ord(FIRST_SIGN) + 1 + len(urls)))
        for box in boxes:
            left, top, right, bottom = put(*box)
            for _, number, index in words[bisect_left(words, (top,)) : bisect_left(words, (bottom,))]:
                lines[number][index] = _mark(lines[number][index], left, right, sign)


def _mark(word: PdfWord, left: float, right: float, sign: str) -> PdfWord:
    """Return a word with a sign behind the part of it that a link covers, and one before it if it begins inside."""
    text, width = word.text, word.right - word.left
    covered = min(right, word.right) - max(left, word.left)
    if width <= 0 or covered < min(0.5 * width, word.style.size) or text[0] == RAISED or max(text) >= FIRST_SIGN:
        return word
    step = width / len(text)
    start, end = (round((x - word.left) / step) for x in (max(left, word.left), min(right, word.right)))
    core = len(text) - len(text.lstrip(_OPENING)), len(text.rstrip(_CLOSING))
    if core[0] < core[1] and max(abs(start - core[0]), abs(end - core[1])) <= 1:  # signs are narrower than letters
        start, end = core
    start = 0 if left < word.left + 0.2 * step else start
    end = len(text) if right > word.right - 0.2 * step else end
    while start > 0 and _is_inside_word(text, start):
        start -= 1
    while end < len(text) and _is_inside_word(text, end):
        end += 1
    begin = text[:start] + FIRST_SIGN if start else ""
    return word._replace(text=f"{begin}{text[start:end]}{sign}{text[end:]}") if end > start else word


def _is_inside_word(text: str, place: int) -> bool:
    """Return whether a place is inside of a Latin word, which a link does not divide."""
    return text[place - 1 : place + 1].isascii() and text[place - 1 : place + 1].isalnum()
