"""Lower-case texts, and tell where words begin and end.

A hook imports this file, and has no time for the tables of passages/words.py.
"""

from __future__ import annotations

from typing import Final

from keyhole.text.lazy_pattern import lazy_pattern

# Lower case: a text keeps its length, and so its offsets.

CHUNK_CHARS: Final = 100_000
"""Characters lower-cased at a time: Python needs twelve bytes per character while it lower-cases."""


def lower(text: str) -> str:
    """Lower-case a text without changing its length: İ, the only letter with a longer lower case, becomes i."""
    if text.isascii():
        return text.lower()
    starts = range(0, len(text), CHUNK_CHARS)
    return "".join(_lower_piece(text[start : start + CHUNK_CHARS]) for start in starts)


def _lower_piece(text: str) -> str:
    low = text.lower()
    return low if len(low) == len(text) else text.replace("İ", "i").lower()


# Word borders: where words begin and end, also between scripts.

ATTACHED: Final = (
    "\u0400-\u052f\u0590-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
)
"""Scripts that Latin words and digits stand in without spaces, as in `API仕様`, `JSON은` and `IPадрес`: Cyrillic,
Hebrew, Arabic, those of India, Thai, Lao, Burmese, Khmer, Hangul, kana and Han. A word is either of these scripts or of
the others."""
IS_ATTACHED = lazy_pattern(f"[{ATTACHED}]")
"""A character of these scripts. Compiling it takes a third of the time in which Python starts."""


def is_inside_word(text: str, offset: int) -> bool:
    """Return whether the characters before and at an offset belong to one word."""
    around = text[offset - 1 : offset + 1] if offset else ""
    if len(around) < 2 or not around.isalnum():
        return False
    return around.isascii() or (IS_ATTACHED.match(around) is None) == (IS_ATTACHED.match(around, 1) is None)
