"""Word patterns by script, and folding that keeps offsets."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from keyhole.text.letters import ATTACHED, IS_ATTACHED


def _marks() -> str:
    """Return the ranges of combining marks and joiners, which are parts of words, for a regex class."""
    ranges: list[list[int]] = []
    for code in (*range(0x0300, 0x1D00), 0x200C, 0x200D):
        if unicodedata.category(chr(code))[0] == "M" or code in (0x200C, 0x200D):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


_OTHERS: Final = (
    "\x00-\u03ff\u0530-\u058f\u0f00-\u0fff\u10a0-\u10ff\u1200-\u177f\u1800-\u2e7f\ufb00-\uff65\uffdd-\U0001ffff"
    "\U00040000-\U0010ffff"
)
"""All other characters."""


def _tail(excluded: str) -> str:
    """Return a pattern of the rest of a word; linear, because each step consumes a character or ends."""
    return rf"[^\W_{excluded}]*(?:[{_marks()}]+[^\W_{excluded}]*)*"


WORD: Final = re.compile(rf"[^\W_{ATTACHED}]{_tail(ATTACHED)}|[^\W_{_OTHERS}]{_tail(_OTHERS)}")
"""A word of any script: letters and digits with their combining marks."""
_TAILS: Final = re.compile(_tail(ATTACHED)), re.compile(_tail(_OTHERS))


def word_end(text: str, offset: int) -> int:
    """Return the end of the word whose last known character stands before an offset."""
    tail = _TAILS[IS_ATTACHED.match(text, offset - 1) is not None].match(text, offset)
    return tail.end() if tail else offset


UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
"""Runs of scripts written without spaces: Thai, Lao, Burmese, Khmer, kana and Han."""

THAI_LIKE: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
HAN: Final = re.compile("[\u3005-\u3007\u3400-\u9fff\uf900-\ufaff]")
KANA: Final = re.compile("[\u3040-\u30ff]")
HANGUL: Final = re.compile("[\uac00-\ud7a3]")

_SPECIAL_FOLDS: Final = {
    "ı": "i", "đ": "d", "ł": "l", "ø": "o", "ς": "σ",
    "أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه", "ی": "ي", "ک": "ك",
}  # fmt: skip
"""Letters that writers exchange with another letter, although Unicode does not decompose them."""

_UNFOLDED: Final = "й"
"""Not folded: й and и distinguish Russian words."""


def _folds() -> tuple[tuple[str, str], ...]:
    """Return pairs of a lower-case letter and its base letter. Both are one character, so folding keeps offsets."""
    table = dict(_SPECIAL_FOLDS)
    for code in (*range(0xC0, 0x250), *range(0x386, 0x460), *range(0x1E00, 0x2000)):
        char = chr(code)
        base = unicodedata.normalize("NFD", char)[0]
        if char == char.lower() and base != char and char not in _UNFOLDED:
            table[char] = base
    for code in (*range(0xFF10, 0xFF1A), *range(0xFF41, 0xFF5B)):  # full-width digits, letters
        table[chr(code)] = chr(code - 0xFEE0)
    return tuple(table.items())


_FOLDS: Final = _folds()
_FOLD_TABLE: Final = {ord(char): base for char, base in _FOLDS}

_FOLDABLE = re.compile("[" + "".join(char for char, _ in _FOLDS) + "]")


def fold(low: str) -> str:
    """Remove the accents of a lower-case text without changing its length."""
    if low.isascii():
        return low
    for char in sorted(set(_FOLDABLE.findall(low))):  # few different letters: one fast replace for each
        low = low.replace(char, _FOLD_TABLE[ord(char)])
    return low


def fold_word(word: str) -> str:
    """Remove precomposed and combining accents of a word; its length may change."""
    if word.isascii():
        return word
    plain = unicodedata.normalize("NFC", word).translate(_FOLD_TABLE)
    return "".join(char for char in plain if not "\u0300" <= char <= "\u036f")
