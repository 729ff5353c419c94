"""Order the lines of an output for a reader who asks nothing: lines that name the command's words, and both ends. Pure.

Nothing is indexed, so this takes a few milliseconds for an output of 100,000 characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import Final

from keyhole.text.output import Span

MIN_WORD: Final = 2
"""Characters of the shortest word that is looked for."""
MAX_LINES: Final = 3_000
"""Lines with one word that are examined: a word on more lines distinguishes none."""
MAX_LINE: Final = 400
"""Characters of a line that are taken. A longer one is mostly data."""
STRETCH: Final = 350
"""Characters of the stretches from the ends."""
HEAD_PARTS: Final = 3
"""Characters of the beginning for each character of the end."""


def lines_with(text: str, words: str) -> Iterator[Span]:
    """Yield the lines that contain any of the words, those with more and rarer ones first."""
    low, lines = _lower(text), text.count("\n") + 1
    weights: dict[int, float] = {}
    for word in dict.fromkeys(_lower(words).split()):
        starts = _starts(low, word) if len(word) >= MIN_WORD else []
        for start in starts:
            weights[start] = weights.get(start, 0.0) + log(1 + lines / len(starts))
    for start in sorted(weights, key=lambda start: (-weights[start], start))[:MAX_LINES]:
        yield start, min(text.find("\n", start) + 1 or len(text), start + MAX_LINE)


def _starts(low: str, word: str) -> list[int]:
    """Return the starts of the first lines that contain a word."""
    starts: list[int] = []
    place = low.find(word)
    while place >= 0 and len(starts) < MAX_LINES:
        starts.append(low.rfind("\n", 0, place) + 1)
        end = low.find("\n", place)
        place = low.find(word, end) if end >= 0 else -1
    return starts


def _lower(text: str) -> str:
    """Return the text in lower case, with the same offsets."""
    if text.isascii():
        return text.lower()
    from keyhole.passages.words import lower

    return lower(text)


def ends_first(text: str) -> Iterator[Span]:
    """Yield stretches of whole lines from both ends towards the middle; a long line is cut."""
    head, tail = 0, len(text)
    while head < tail:
        if head <= HEAD_PARTS * (len(text) - tail):
            end = text.find("\n", head + STRETCH, tail) + 1 or tail
            end = end if end - head <= 2 * STRETCH else min(tail, head + STRETCH)
            yield head, end
            head = end
        else:
            start = text.rfind("\n", head, max(head, tail - STRETCH)) + 1
            start = start if start > head and tail - start <= 2 * STRETCH else max(head, tail - STRETCH)
            yield start, tail
            tail = start
