"""Estimate how many tokens a text takes, without a model.

A text is read as the bytes of its UTF-8, each as one of a few classes: vowels, consonants, capitals, digits, signs,
spaces, line feeds, and the first bytes of other characters by script. Its weight is the sum of how often each class and
each short sequence of classes occurs, times a weight. The sequences are those at which tokenizers begin a token, such
as a letter after a space, and those of rare words, such as four consonants. All counting is done by `bytes.translate`
and `bytes.count`, in 50 milliseconds for a megabyte. If a text is cut in two, both halves together weigh at least as
much.

`benchmarks/budget/tokens.py --write` generates the weights, and prints the errors of the estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from keyhole.render.token_weights import FOLDED_WEIGHTS, OTHER_WEIGHTS, START_WEIGHT, WEIGHTS

TOKEN_WEIGHT: Final = 1_000
"""The weight of one token: weights are in thousandths."""
SAMPLED_CHARS: Final = 4_096
"""Characters above which `estimate_roughly` reads only samples of a text."""
SAMPLES: Final = 16
SAMPLE_CHARS: Final = 128
"""Characters of a sample: 16 samples have half of the shortest text that is sampled."""
SAMPLE_SHARE: Final = 512
"""A sample has at least 1/512 of a text, so that 16 samples of a large text have 3 % of it."""
MAX_RESULTS: Final = 16
"""Texts whose estimate is cached, some 10 KB each: the session and the record both need the estimate of a result."""
MAX_CACHED: Final = 1 << 16
"""Estimates that are kept. A conversation is estimated again before each request of its agent."""

_SCRIPTS: Final = (
    ("N", 0xC2, 0xC3), ("L", 0xC3, 0xC4), ("M", 0xC4, 0xC9), ("W", 0xC9, 0xCA),
    ("G", 0xCE, 0xD0), ("R", 0xD0, 0xD2), ("H", 0xD4, 0xD8),
    ("A", 0xD8, 0xDC), ("I", 0xE0, 0xE1), ("V", 0xE1, 0xE2), ("S", 0xE2, 0xE3), ("J", 0xE3, 0xE4), ("K", 0xE4, 0xEA),
    ("O", 0xEA, 0xEE), ("E", 0xF0, 0x100),
)  # fmt: skip
"""Class, first byte and end of the first bytes of characters: Latin in three blocks, Greek, Cyrillic, Armenian and
Hebrew, Arabic, Indic and Thai, Ethiopic and others, symbols, Japanese, Han, Hangul, and emoji. Others have the class
`X`."""
_VIETNAMESE: Final = ((b"\xe1\xba", b"\xc9"), (b"\xe1\xbb", b"\xc9"))
"""Letters that have the first byte of rare scripts, but are in vocabularies. They get the class `W`."""


def _class_of(byte: int) -> str:
    letter = chr(byte)
    if byte >= 0x80:
        found = (name for name, start, end in _SCRIPTS if start <= byte < end)
        return "." if byte < 0xC0 else next(found, "X")
    if letter.isalpha():
        return "U" if letter.isupper() else "v" if letter in "aeiou" else "c"
    if letter.isdigit():
        return "d"
    return "n" if letter in "\r\n" else " " if letter in " \t\f\v" else "p"


CLASSES: Final = bytes(ord(_class_of(byte)) for byte in range(256))
"""The class of each byte: vowel, consonant, capital, digit, sign, space, line feed, `.` for the further bytes of a
character, and the scripts."""
_FOLD: Final = bytes(ord("a") if chr(byte) in "vc" else byte for byte in range(256))
"""Makes one class `a` of vowels and consonants."""


@lru_cache(maxsize=MAX_RESULTS)
def estimate(text: str) -> int:
    """Return an estimate of the tokens of `text`: seldom fewer than o200k makes, and seldom many more."""
    return -(-weigh(text) // TOKEN_WEIGHT) if text else 0


def capacity(tokens: int) -> int:
    """Return the largest weight of a text whose estimate is at most `tokens`."""
    return max(0, tokens) * TOKEN_WEIGHT


def weigh(text: str) -> int:
    """Return the weight of a text. If it is cut in two, the halves together weigh at least as much."""
    return START_WEIGHT + _weigh(text) if text else 0


def estimate_roughly(text: str) -> float:
    """Return an estimate of the tokens of a text within others. A long text is judged by samples of it."""
    size = len(text)
    if size <= 8:  # names and short ids
        return size / 4 + 0.5
    key = (hash(text), size)
    found = _CACHE.get(key)
    if found is None:
        if len(_CACHE) >= MAX_CACHED:
            _CACHE.clear()
        found = _CACHE[key] = _estimate_by_samples(text) if size > SAMPLED_CHARS else _weigh(text) / TOKEN_WEIGHT
    return found


_CACHE: Final[dict[tuple[int, int], float]] = {}


def _estimate_by_samples(text: str) -> float:
    size = max(SAMPLE_CHARS, len(text) // SAMPLE_SHARE)
    step = (len(text) - size) / (SAMPLES - 1)
    samples = "".join(text[(start := round(number * step)) : start + size] for number in range(SAMPLES))
    return _weigh(samples) / TOKEN_WEIGHT * len(text) / len(samples)


def _weigh(text: str) -> int:
    classes = classify(text)
    folded = classes.translate(_FOLD)
    total = _sum(classes, WEIGHTS) + _sum(folded, FOLDED_WEIGHTS)
    return total if text.isascii() else total + _sum(folded, OTHER_WEIGHTS)


def classify(text: str) -> bytes:
    """Return the classes of a line feed and of each byte of a text."""
    data = b"\n" + text.encode("utf-8", "surrogatepass")
    if b"\xe1" in data:
        for letter, simpler in _VIETNAMESE:
            data = data.replace(letter, simpler)
    return data.translate(CLASSES)


def _sum(classes: bytes, weights: Sequence[tuple[bytes, int]]) -> int:
    count = classes.count
    return sum([count(sequence) * weight for sequence, weight in weights])
