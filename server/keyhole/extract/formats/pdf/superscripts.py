"""Tell the raised number of a footnote from the word that it follows or precedes."""

from __future__ import annotations

import re
from typing import Final

from keyhole.extract.formats.pdf.page_parts import RAISED, Word

SMALL: Final = 0.86
"""A character of less than this share of another's height is raised or lowered. Footnote marks have 0.65 to 0.8."""
_NUMBER_AT_END = re.compile(r"(?<=[^\W\d_.,;:!?)”»’\"'])\d{1,3}$|(?<=[.,;:!?)”»’\"'])\d{1,3}$|(?<=.)[*†‡§]$")
_NUMBER_AT_START = re.compile(r"^(?:\d{1,3}|[*†‡§])(?=.)")


def split_superscript(word: Word, first: float, last: float) -> list[Word]:
    """Return a word and the small number at its end, or at its beginning, as words.

    `first`, `last`: the heights of its first and last character.
    """
    if first <= 0 or last <= 0 or SMALL < last / first < 1 / SMALL:
        return [word]
    match = (_NUMBER_AT_END if last < first else _NUMBER_AT_START).search(word.text)
    if match is None:
        return [word]
    scale = (word.right - word.left) / len(word.text)
    edge = word.left + scale * (match.start() or match.end())
    size = word.style.size
    normal = word.style._replace(size=size if last < first else round(size * last / first, 1))
    number = f"{RAISED}{match[0]}"
    if last < first:
        small = word.style._replace(size=round(size * last / first, 1))
        rest = word._replace(text=word.text[: match.start()], right=edge)
        return [rest, word._replace(text=number, left=edge, style=small)]
    return [
        word._replace(text=number, right=edge),
        word._replace(text=word.text[match.end() :], left=edge, style=normal),
    ]
