"""How many tokens a text takes, estimated without a model and on the safe side. Pure.

A text is split into pieces much as tokenizers split it: words by script, digits by three, runs of signs and of spaces.
Each piece weighs what such pieces usually take, in thousandths of a token; a word of Latin letters weighs by whether
common vocabularies hold it or its beginning. Pieces of a cut text weigh together at least what the text does.

The weights and the words are fitted by `benchmarks/tokens.py --write`, which says how far off they are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import isqrt
from typing import Final

from keyhole.token_weights import WEIGHTS, WORDS

KILO: Final = 1_000
"""Thousandths in a token."""
SLACK: Final = 700
"""Thousandths for the root of the tokens: errors of pieces add up as their number's root does."""
ENDS: Final = 2
"""Tokens around any text."""
LONGEST: Final = 24
"""Characters of a piece: words are shorter, and what is not a word is weighed bit by bit."""
SEAM: Final = WEIGHTS["word"][0] + LONGEST * WEIGHTS["word"][1]
"""For a text that ends in a letter: what follows may make a long, rare word of two short ones."""

PIECE: Final = re.compile(
    r"""[A-ZÀ-ÖØ-Þ]?[a-zß-öø-ƿȘ-țẠ-ỿ]{1,24}
    | [A-ZÀ-ÖØ-Þ]{1,12}
    | [0-9]{1,3}
    | [\u0370-\u03ff]{1,24} | [\u0400-\u045f]{1,24} | [\u05d0-\u05ff]{1,24}
    | [\u0600-\u064a\u066e-\u0670\u067e\u0686\u0698\u06a9\u06af\u06cc]{1,24}
    | [\u0900-\u097f]{1,24} | [\u0e00-\u0e7f]{1,24}
    | [\uac00-\ud7af]{1,16} | [\u3040-\u309f]{1,16} | [\u30a0-\u30ff]{1,16} | [\u4e00-\u9fff]{1,16}
    | [\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffef]{1,8}
    | [\r\n]{1,8} | \t{1,16} | [ \f\v]{2,80} | [ ](?=[0-9]|\Z)
    | [!-/:-@\[-`{-~]{1,16}
    | [^ ]""",
    re.VERBOSE,
)
SCRIPTS: Final = (
    ("Greek", 0x370, 0x400),
    ("Cyrillic", 0x400, 0x460),
    ("Hebrew", 0x5D0, 0x600),
    ("Arabic", 0x600, 0x64B),
    ("Arabic", 0x66E, 0x671),
    ("Devanagari", 0x900, 0x980),
    ("Thai", 0xE00, 0xE80),
    ("CJK signs", 0x3000, 0x3040),
    ("Hiragana", 0x3040, 0x30A0),
    ("Katakana", 0x30A0, 0x3100),
    ("Han", 0x4E00, 0xA000),
    ("Hangul", 0xAC00, 0xD7B0),
    ("CJK signs", 0xFF00, 0xFF10),
    ("CJK signs", 0xFF1A, 0xFF21),
    ("CJK signs", 0xFF3B, 0xFF41),
    ("CJK signs", 0xFF5B, 0xFF66),
    ("CJK signs", 0xFFE0, 0xFFF0),
    *(("Arabic", ord(letter), ord(letter) + 1) for letter in "پچژکگی"),
)
"""Code points from and to: letters that vocabularies hold with others. What stands in none weighs letter by letter."""
LATIN: Final = range(0x1C0), range(0x218, 0x21C), range(0x1EA0, 0x1F00)
"""Of the languages that many write: accents from Western Europe to Vietnam. Other letters weigh as rare ones."""
INDIC: Final = range(0x900, 0x1100)
"""From Devanagari to Georgian, where a letter seldom takes a token for each of its three bytes."""


def estimate(text: str) -> int:
    """At least as many tokens as common tokenizers make of `text`, and seldom many more."""
    weight = weigh(text)
    return -(-(weight + SLACK * isqrt(weight * KILO) // KILO) // KILO) + ENDS if text else 0


def capacity(tokens: int) -> int:
    """The most that a text may weigh whose estimate is at most so many tokens."""
    low, high = 0, max(0, tokens) * KILO
    while low < high:
        middle = (low + high + 1) // 2
        if -(-(middle + SLACK * isqrt(middle * KILO) // KILO) // KILO) + ENDS <= tokens:
            low = middle
        else:
            high = middle - 1
    return low


def weigh(text: str) -> int:
    """Thousandths of a token, without slack. Of no piece of a text together less than of the text."""
    return sum(map(_weight, PIECE.findall(text))) + (SEAM if text[-1:].isalpha() else 0)


@lru_cache(maxsize=1 << 14)
def _weight(piece: str) -> int:
    features = features_of(piece)
    return sum(WEIGHTS[name][0] + more * WEIGHTS[name][1] for name, more in features)


def features_of(piece: str) -> tuple[tuple[str, int], ...]:
    """The names under which a piece weighs, each with how many times it weighs more."""
    first, more = ord(piece[0]), len(piece) - 1
    if piece[0].isalpha() and any(first in some for some in LATIN):
        return _latin(piece, more)
    if first < 0x80:
        return (_ascii(piece, more),)
    script = next((name for name, start, end in SCRIPTS if start <= first < end), "")
    if script:
        return ((script, more),)
    size = len(piece.encode("utf-8", "surrogatepass"))
    rare = "letter of " if piece.isalpha() and first not in INDIC else ""
    return ((f"{rare}{size} bytes", 0),)


def _latin(piece: str, more: int) -> tuple[tuple[str, int], ...]:
    if more and piece.isupper():
        return (("capitals", more - 1),)
    accents = 0 if piece.isascii() else sum(letter > "\x7f" for letter in piece)
    if more < 3:
        return (("letter", "word of 2", "word of 3")[more], 0), ("accents", accents)
    word = piece.lower()
    known = next((end for end in range(len(word), 3, -1) if word[:end] in WORDS), 0)
    if known == len(word):
        return (("known word", 0),)
    if known:
        return ("known beginning", len(word) - known - 1), ("accents", accents)
    return ("word", more - 3), ("accents", accents)


def _ascii(piece: str, more: int) -> tuple[str, int]:
    first = piece[0]
    if first.isdigit():
        return "digits", 0
    if first in "\r\n":
        return "newlines", 0
    if first == "\t":
        return "tabs", 0
    if first in " \f\v":
        return ("spaces", 0) if more else ("space", 0)
    return "signs", more
