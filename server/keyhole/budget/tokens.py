"""How many tokens a text takes, estimated without a model and on the safe side. Pure.

A text is split into pieces much as tokenizers split it: words by script, digits by three, runs of signs and of spaces.
A word or a run of signs weighs by the least number of parts that make it up and that common vocabularies hold; other
pieces weigh what such pieces usually take, in thousandths of a token. Pieces of a cut text weigh together at least what
the text does.

The weights and the parts are made by `benchmarks/budget/tokens.py --write`, which says how far off they are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import isqrt
from pkgutil import get_data
from typing import Final

from keyhole.budget.token_weights import WEIGHTS

KILO: Final = 1_000
"""Thousandths in a token."""
SLACK: Final = 700
"""Thousandths for the root of the tokens: errors of pieces add up as their number's root does."""
ENDS: Final = 2
"""Tokens around any text."""
PARTS: Final = frozenset((get_data("keyhole.budget", "token_parts.txt") or b"").decode("utf-8").split())
"""Words, syllables, letters and runs of signs, in lower case, that o200k_base (published with tiktoken under the MIT
licence) and Llama 3's vocabulary both hold as one token."""
LONGEST: Final = 16
"""Characters of a part; a few are longer and left out."""
CACHED: Final = 48
"""Characters of a piece that is remembered: words are shorter, and what is longer will hardly come again."""

PIECE: Final = re.compile(
    r"""[A-ZÀ-ÖØ-Þ]+[a-zß-öø-ƿȘ-țẠ-ỿ]* | [a-zß-öø-ƿȘ-țẠ-ỿ]+
    | [0-9]{1,3}
    | [\u0370-\u03ff]+ | [\u0400-\u045f]+ | [\u05d0-\u05ff]+
    | [\u0600-\u0670\u067e\u0686\u0698\u06a9\u06af\u06cc]+
    | [\u0900-\u097f]+ | [\u0e00-\u0e7f]+
    | [\uac00-\ud7af]+ | [\u3040-\u309f]+ | [\u30a0-\u30ff]+ | [\u4e00-\u9fff]+
    | [\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffef]{1,8}
    | [\r\n]{1,8} | [ \t](?=[0-9]|\Z) | \t{1,16} | [ \f\v]{2,80}
    | [!-/:-@\[-`{-~]+[\r\n]*
    | [^ ]""",
    re.VERBOSE,
)
SIGNS: Final = "CJK signs"
SCRIPTS: Final = (
    ("Greek", 0x370, 0x400),
    ("Cyrillic", 0x400, 0x460),
    ("Hebrew", 0x5D0, 0x600),
    ("Arabic", 0x600, 0x671),
    ("Devanagari", 0x900, 0x980),
    ("Thai", 0xE00, 0xE80),
    (SIGNS, 0x3000, 0x3040),
    ("Hiragana", 0x3040, 0x30A0),
    ("Katakana", 0x30A0, 0x3100),
    ("Han", 0x4E00, 0xA000),
    ("Hangul", 0xAC00, 0xD7B0),
    (SIGNS, 0xFF00, 0xFF10),
    (SIGNS, 0xFF1A, 0xFF21),
    (SIGNS, 0xFF3B, 0xFF41),
    (SIGNS, 0xFF5B, 0xFF66),
    (SIGNS, 0xFFE0, 0xFFF0),
    *(("Arabic", ord(letter), ord(letter) + 1) for letter in "پچژکگی"),
)
"""Code points from and to: letters that vocabularies hold with others. What stands in none weighs letter by letter."""
LATIN: Final = range(0x1C0), range(0x218, 0x21C), range(0x1EA0, 0x1F00)
"""Of the languages that many write: accents from Western Europe to Vietnam. Other letters weigh as rare ones."""
INDIC: Final = range(0x900, 0x1100)
"""From Devanagari to Georgian, where a letter seldom takes a token for each of its three bytes."""


def estimate(text: str) -> int:
    """At least as many tokens as common tokenizers make of `text`, and seldom many more."""
    return _tokens(weigh(text)) if text else 0


def capacity(tokens: int) -> int:
    """The most that a text may weigh whose estimate is at most so many tokens."""
    low, high = 0, max(0, tokens) * KILO
    while low < high:
        middle = (low + high + 1) // 2
        if _tokens(middle) <= tokens:
            low = middle
        else:
            high = middle - 1
    return low


def _tokens(weight: int) -> int:
    """The estimate for a text of that weight, rounded up."""
    return -(-(weight + SLACK * isqrt(weight * KILO) // KILO) // KILO) + ENDS


def weigh(text: str) -> int:
    """Thousandths of a token, without slack. Of no piece of a text together less than of the text."""
    return sum(_weight(piece) if len(piece) <= CACHED else _weight_of(piece) for piece in PIECE.findall(text))


def _weight_of(piece: str) -> int:
    name, more = feature_of(piece)
    return WEIGHTS[name][0] + more * WEIGHTS[name][1]


_weight = lru_cache(maxsize=1 << 14)(_weight_of)


def feature_of(piece: str) -> tuple[str, int]:
    """The name under which a piece weighs, and how many times it weighs more."""
    first, more = ord(piece[0]), len(piece) - 1
    if piece[0].isalpha() and any(first in some for some in LATIN):
        # One letter too: else a word of capitals might weigh more than what it is cut into.
        return "capitals" if piece.isupper() else "Latin", _parts(piece) - 1
    if first < 0x80:
        return _ascii(piece, more)
    script = next((name for name, start, end in SCRIPTS if start <= first < end), "")
    if script:
        return script, more if script == SIGNS or piece.isupper() else _parts(piece) - 1
    size = len(piece.encode("utf-8", "surrogatepass"))
    rare = "letter of " if piece.isalpha() and first not in INDIC else ""
    return f"{rare}{size} bytes", 0


def _parts(word: str) -> int:
    """The least number of parts that make up a word; a letter that is none counts as its bytes do."""
    word = word.lower()
    if word in PARTS:
        return 1
    least = [0]
    for end, last in enumerate(word, start=1):
        fewest = least[-1] + (1 if last < "\x80" or last in PARTS else len(last.encode("utf-8")))
        for start in range(max(0, end - LONGEST), end - 1):
            if least[start] + 1 < fewest and word[start:end] in PARTS:
                fewest = least[start] + 1
        least.append(fewest)
    return least[-1]


def _ascii(piece: str, more: int) -> tuple[str, int]:
    first = piece[0]
    if first.isdigit():
        return "digits", 0
    if first in "\r\n":
        return "newlines", 0
    if first in " \t\f\v":
        return ("spaces", 0) if more else ("space", 0)
    if piece[-1] in "\r\n":
        return "signs at an end", _parts(piece.rstrip("\r\n")) - 1
    return "signs", _parts(piece) - 1
