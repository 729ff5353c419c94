"""Lower-case texts with the same offsets. A hook has no time for the tables of passages/words.py."""

from __future__ import annotations

from typing import Final

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
