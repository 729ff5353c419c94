"""Read the drawn characters of a page where the file replaces them by other words.

A file may state another text for a part of a page (`/ActualText`; ISO 32000-2, section 14.9.4), and PDFium gives that
text in place of the drawn characters. Programs use it for ligatures and hyphens, but a reader of the page does not see
it. So it is used only where it says the same as the page.
"""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import pypdfium2.raw as pdfium

_KEY: Final = b"ActualText"
MAX_COMPARED: Final = 20_000_000
"""Characters of a page times its replaced pieces. PDFium looks at the whole page for the text of each piece, 20 ms in
all for this many. On a page with more, nothing is replaced."""
MAX_OBJECTS: Final = 50_000
"""Objects of a page that are searched for replacements, those of its forms included."""
MAX_LEVELS: Final = 8
"""Depth of forms in forms."""
MIN_SHARED: Final = 0.5
"""Least share of letters that two texts of a script that is shaped have in common if they say the same."""
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
    """Return whether a replacement is what a reader of the drawn characters reads, too."""
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
    for piece in _iter_objects(page):
        for index in range(pdfium.FPDFPageObj_CountMarks(piece)):
            mark = pdfium.FPDFPageObj_GetMark(piece, index)
            if pdfium.FPDFPageObjMark_GetParamValueType(mark, _KEY) != pdfium.FPDF_OBJECT_UNKNOWN:
                pieces.setdefault(ctypes.addressof(mark.contents), []).append((piece, mark))
    return pieces


def _iter_objects(page: Any) -> Iterator[Any]:
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
