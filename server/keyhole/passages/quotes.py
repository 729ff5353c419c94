"""Find a quote in a text: exactly, or by its letters and digits alone. Pure.

A quote that was copied from a rendered page lacks the marks and link addresses of the Markdown, and may differ in
quotation marks, dashes, line breaks, hyphenation and Unicode normalisation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from keyhole.passages.words import UNSPACED, fold
from keyhole.text.letters import is_inside_word, lower

MAX_PLACES: Final = 20
"""Places of a quote whose offsets are listed."""

MAX_COUNT: Final = 10_000
"""Places of an inexact quote that are counted."""

CUT_LETTERS: Final = 20
"""Letters and digits of a quote that may begin or end inside a word, as a careless selection does."""

_LINK_TARGET = re.compile(r"\]\((?>[^()\n]|\([^()\n]*\))*+\)")
_VOWEL_SIGNS: Final = "".join(
    char for char in map(chr, range(0x0370, 0x1D00)) if unicodedata.category(char).startswith("M")
)
"""Combining marks that distinguish words, as in Hindi, Arabic and Thai. Those of the Latin script are accents."""
_SEPARATORS = re.compile(rf"(?:[^\w{_VOWEL_SIGNS}]|_)+")
_KEPT = re.compile(rf"(?:[^\W_]|[{_VOWEL_SIGNS}])+")


@dataclass(frozen=True, slots=True)
class Quote:
    """The places of a quote in a text; `exact` is False if only its letters and digits agree."""

    places: tuple[tuple[int, int], ...]
    """The spans of the first places, at least one."""
    count: int  # all places
    exact: bool

    @property
    def start(self) -> int:
        """Return the start of the first place."""
        return self.places[0][0]

    @property
    def end(self) -> int:
        """Return the end of the first place."""
        return self.places[0][1]


def find_quote(text: str, quote: str) -> Quote | None:
    """Return the places of a quote in a text, None if it is not there. Exact places are preferred to others.

    The places do not overlap. Only the first `MAX_PLACES` have offsets; all are counted.
    """
    if not quote:
        return Quote(((0, 0),), 1, exact=True)
    count = text.count(quote)
    if count:
        starts = islice(_find_all(text, quote), MAX_PLACES)
        return Quote(tuple((start, start + len(quote)) for start in starts), count, exact=True)
    plain = plain_text(text)
    squeezed = _SEPARATORS.sub("", plain)
    for form in dict.fromkeys((quote, unicodedata.normalize("NFKC", quote))):
        letters = _SEPARATORS.sub("", plain_text(form))
        places = list(islice(_find_letters(plain, squeezed, letters), MAX_COUNT)) if letters else []
        if places:
            return Quote(tuple(places[:MAX_PLACES]), len(places), exact=False)
    return None


def plain_text(text: str) -> str:
    """Return a text in lower case, without accents, with blanks for the addresses of links. Offsets stay the same."""
    if "](" in text:
        text = _LINK_TARGET.sub(lambda match: " " * len(match.group()), text)
    return fold(lower(text))


def _find_letters(plain: str, squeezed: str, letters: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of `plain` whose letters and digits are `letters`. `squeezed`: all letters and digits of `plain`.

    The span of a short quote begins and ends with a word, except in scripts without spaces.
    """
    runs = _KEPT.finditer(plain)
    run, before = next(runs, None), 0

    def locate(position: int) -> int:
        """Return the offset in `plain` of a position in `squeezed`. Positions must not decrease."""
        nonlocal run, before
        while run is not None and before + len(run.group()) <= position:
            before += len(run.group())
            run = next(runs, None)
        return run.start() + position - before if run else len(plain)

    for position in _find_all(squeezed, letters):
        start = locate(position)
        end = locate(position + len(letters) - 1) + 1
        if len(letters) >= CUT_LETTERS or not (_is_inside_word(plain, start) or _is_inside_word(plain, end)):
            yield start, end


def _find_all(text: str, part: str) -> Iterator[int]:
    start = text.find(part)
    while start >= 0:
        yield start
        start = text.find(part, start + len(part))


def _is_inside_word(text: str, offset: int) -> bool:
    """Return whether a word of a script with spaces continues across an offset."""
    return is_inside_word(text, offset) and not UNSPACED.search(text, offset - 1, offset + 1)
