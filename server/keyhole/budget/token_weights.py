"""What pieces of text weigh. Made by benchmarks/budget/tokens.py."""

from __future__ import annotations

from typing import Final

WEIGHTS: Final = {
    "1 bytes": (1020, 0),
    "2 bytes": (1530, 0),
    "3 bytes": (2040, 0),
    "4 bytes": (3060, 0),
    "Arabic": (1053, 1024),
    "CJK signs": (1020, 0),
    "Cyrillic": (1225, 923),
    "Devanagari": (1046, 867),
    "Greek": (1210, 900),
    "Han": (1071, 1071),
    "Hangul": (1020, 1020),
    "Hebrew": (1122, 1122),
    "Hiragana": (918, 918),
    "Katakana": (1022, 814),
    "Latin": (1086, 1086),
    "Thai": (852, 852),
    "capitals": (1644, 1644),
    "digits": (1020, 0),
    "letter of 2 bytes": (2040, 0),
    "letter of 3 bytes": (3060, 0),
    "letter of 4 bytes": (4080, 0),
    "newlines": (918, 0),
    "signs": (891, 891),
    "signs at an end": (1041, 891),
    "space": (1425, 0),
    "spaces": (802, 0),
}
"""Thousandths of a token: of a piece, and of each more."""
