"""Clean the characters of PDF files, and join lines: hyphenated words, and scripts without spaces. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from keyhole.extract.formats.pdf.page_parts import RAISED
from keyhole.text.clean import clean

HYPHENS: Final = "-\u00ad\u2010\x02\ufffe"
"""Characters at a line's end that divide a word. PDFium gives the last two for hyphens that it recognised."""
_HYPHENATED = re.compile(rf"([^\W\d_]{{2,40}})[{HYPHENS}]$")
_BEGINNING = re.compile(r"[^\W\d_]{2,40}")
_HYPHENATED_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]++(?:-[^\W\d_]++)+")
_SURE_HYPHEN = re.compile("[\u00ad\x02\ufffe]$")
_LIGATURES = str.maketrans(
    {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st", 0x02: "-",
     0xFFFE: "-", 0xA0: " "}
)  # fmt: skip
# The first TeX fonts draw accents as separate characters before the letter.
_ACCENTS = {"¨": "\u0308", "´": "\u0301", "˚": "\u030a", "ˇ": "\u030c", "˘": "\u0306", "˜": "\u0303", "ˆ": "\u0302"}
_ACCENTED = re.compile(f"([{''.join(_ACCENTS)}])([A-Za-zı])")
_WIDE = re.compile(r"[\u2e80-\u303f\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
"""Chinese and Japanese characters, which have no spaces between them. Korean has spaces."""


def clean_piece(text: str) -> str:
    """Return text without invisible characters, with ligatures and accents as letters."""
    if text.isascii() and "\x02" not in text:
        return text if text.isprintable() else clean(text.replace(RAISED, "")) if RAISED not in text else _clean(text)
    return _clean(text)


def _clean(text: str) -> str:
    parts = text.translate(_LIGATURES).split(RAISED)
    cleaned = RAISED.join(clean(part) for part in parts)
    return unicodedata.normalize("NFC", _ACCENTED.sub(_compose_accent, cleaned))


def _compose_accent(pair: re.Match[str]) -> str:
    """Return the accented letter, or the pair unchanged if Unicode has no such letter."""
    letter = unicodedata.normalize("NFC", pair[2].replace("ı", "i") + _ACCENTS[pair[1]])
    return letter if len(letter) == 1 else pair[0]


def collect_hyphenated(texts: Iterable[str]) -> frozenset[str]:
    """Return the words with a hyphen that stand within lines."""
    return frozenset(word for text in texts if "-" in text for word in _HYPHENATED_WORD.findall(text))


def join_lines(pieces: Sequence[tuple[int, str]], hyphenated: frozenset[str]) -> tuple[str, list[tuple[int, int]]]:
    """Return the lines of a paragraph as one text, and the offset of the first text of each page.

    A hyphen at a line's end stays if the document has the hyphenated word elsewhere.
    """
    text = ""
    starts: list[tuple[int, int]] = []
    for page, piece in pieces:
        divided = _HYPHENATED.search(text)
        begins = _BEGINNING.match(piece)
        cleaned = clean_piece(piece)
        if divided and begins and (begins[0][0].islower() or _SURE_HYPHEN.search(text)):
            keep = f"{divided[1]}-{begins[0]}" in hyphenated
            text = text[:-1] + ("-" if keep else "")
        elif text and not (_WIDE.match(text[-1]) and _WIDE.match(cleaned)):
            text += " "
        if not starts or starts[-1][0] != page:
            starts.append((page, len(text)))
        text += cleaned[:-1] + piece[-1] if piece and piece[-1] in HYPHENS and cleaned else cleaned
    return text.translate(_LIGATURES), starts
