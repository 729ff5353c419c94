"""Estimate how many tokens a text takes, without a model. Estimates are seldom too low.

A text is split into pieces much as tokenizers split it: words by script, groups of three digits, runs of signs
(punctuation and symbols) and runs of spaces. Weights are in thousandths of a token. The weight of a word or of a run of
signs depends on the least number of parts that make it up, where a part is a token of common vocabularies. Other pieces
have the usual weight of their class. If a text is cut in two, both halves together weigh at least as much as the text.

`benchmarks/budget/tokens.py --write` generates the weights and the parts, and prints the errors of the estimates.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import isqrt
from pkgutil import get_data
from typing import Final

from keyhole.budget.token_weights import WEIGHTS

TOKEN_WEIGHT: Final = 1_000
"""The weight of one token: weights are in thousandths."""
SLACK: Final = 700
"""The estimate's safety margin, in thousandths of the square root of the number of tokens. The errors of independent
pieces add up with the square root of their number."""
EXTRA_TOKENS: Final = 2
"""Tokens added to every estimate, for markers at both ends of a text."""
PARTS: Final = frozenset((get_data("keyhole.budget", "token_parts.txt") or b"").decode("utf-8").split())
"""Words, syllables, letters and runs of signs, in lower case, that are one token in o200k_base (published with tiktoken
under the MIT licence) and also in Llama 3's vocabulary."""
MAX_PART: Final = 16
"""Characters of a part, at most; the few longer tokens are left out."""
MAX_CACHED: Final = 48
"""Characters of a piece whose weight is cached, at most. Words are shorter; longer pieces seldom repeat."""

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
CJK_SIGNS: Final = "CJK signs"
SCRIPTS: Final = (
    ("Greek", 0x370, 0x400),
    ("Cyrillic", 0x400, 0x460),
    ("Hebrew", 0x5D0, 0x600),
    ("Arabic", 0x600, 0x671),
    ("Devanagari", 0x900, 0x980),
    ("Thai", 0xE00, 0xE80),
    (CJK_SIGNS, 0x3000, 0x3040),
    ("Hiragana", 0x3040, 0x30A0),
    ("Katakana", 0x30A0, 0x3100),
    ("Han", 0x4E00, 0xA000),
    ("Hangul", 0xAC00, 0xD7B0),
    (CJK_SIGNS, 0xFF00, 0xFF10),
    (CJK_SIGNS, 0xFF1A, 0xFF21),
    (CJK_SIGNS, 0xFF3B, 0xFF41),
    (CJK_SIGNS, 0xFF5B, 0xFF66),
    (CJK_SIGNS, 0xFFE0, 0xFFF0),
    *(("Arabic", ord(letter), ord(letter) + 1) for letter in "پچژکگی"),
)
"""Name, first code point and end of the ranges whose letters vocabularies combine into longer tokens. Characters in no
range are weighed one by one."""
LATIN: Final = range(0x1C0), range(0x218, 0x21C), range(0x1EA0, 0x1F00)
"""Latin letters of widely written languages, with the accents from Western Europe to Vietnam. Other Latin letters count
as rare."""
INDIC: Final = range(0x900, 0x1100)
"""From Devanagari to Georgian, where a letter seldom takes a token for each of its three bytes."""


def estimate(text: str) -> int:
    """Return an estimate of the tokens of `text`: seldom fewer than common tokenizers count, and seldom many more."""
    return _tokens(weigh(text)) if text else 0


def capacity(tokens: int) -> int:
    """Return the largest weight of a text whose estimate is at most `tokens`."""
    low, high = 0, max(0, tokens) * TOKEN_WEIGHT
    while low < high:
        middle = (low + high + 1) // 2
        if _tokens(middle) <= tokens:
            low = middle
        else:
            high = middle - 1
    return low


def _tokens(weight: int) -> int:
    """Return the estimate for a text of this weight, rounded up."""
    return -(-(weight + SLACK * isqrt(weight * TOKEN_WEIGHT) // TOKEN_WEIGHT) // TOKEN_WEIGHT) + EXTRA_TOKENS


def weigh(text: str) -> int:
    """Return the weight of a text, without slack. Both halves of a cut text weigh at least as much."""
    pieces = PIECE.findall(text)
    return sum(_cached_weight(piece) if len(piece) <= MAX_CACHED else _piece_weight(piece) for piece in pieces)


def _piece_weight(piece: str) -> int:
    """Return the weight of one piece."""
    name, more = classify_piece(piece)
    return WEIGHTS[name][0] + more * WEIGHTS[name][1]


_cached_weight = lru_cache(maxsize=1 << 14)(_piece_weight)


def classify_piece(piece: str) -> tuple[str, int]:
    """Return the class of a piece, a key of `WEIGHTS`, and the number of its units after the first."""
    first, more = ord(piece[0]), len(piece) - 1
    if piece[0].isalpha() and any(first in some for some in LATIN):
        # A single letter too. Otherwise a word in capitals might weigh more than its letters.
        return "capitals" if piece.isupper() else "Latin", _count_parts(piece) - 1
    if first < 0x80:
        return _classify_ascii(piece, more)
    script = next((name for name, start, end in SCRIPTS if start <= first < end), "")
    if script:
        return script, more if script == CJK_SIGNS or piece.isupper() else _count_parts(piece) - 1
    size = len(piece.encode("utf-8", "surrogatepass"))
    rare = "letter of " if piece.isalpha() and first not in INDIC else ""
    return f"{rare}{size} bytes", 0


def _count_parts(word: str) -> int:
    """Return the least number of parts that make up a word. A letter that is no part counts as many as its bytes."""
    word = word.lower()
    if word in PARTS:
        return 1
    least = [0]
    for end, last in enumerate(word, start=1):
        fewest = least[-1] + (1 if last < "\x80" or last in PARTS else len(last.encode("utf-8")))
        for start in range(max(0, end - MAX_PART), end - 1):
            if least[start] + 1 < fewest and word[start:end] in PARTS:
                fewest = least[start] + 1
        least.append(fewest)
    return least[-1]


def _classify_ascii(piece: str, more: int) -> tuple[str, int]:
    """Return the class and the further units of a piece of ASCII that is not a word."""
    first = piece[0]
    if first.isdigit():
        return "digits", 0
    if first in "\r\n":
        return "newlines", 0
    if first in " \t\f\v":
        return ("spaces", 0) if more else ("space", 0)
    if piece[-1] in "\r\n":
        return "signs at an end", _count_parts(piece.rstrip("\r\n")) - 1
    return "signs", _count_parts(piece) - 1
