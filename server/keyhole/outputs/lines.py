"""Order the lines of an output for a reader who asks nothing: lines that name the command's words, and both ends. Pure.

Nothing is indexed, so this takes a few milliseconds for an output of 100,000 characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from math import log
from typing import Final

from keyhole.passages.gaps import Span
from keyhole.text.letters import is_inside_word, lower

MIN_WORD: Final = 3
"""Characters of the shortest word that is looked for."""
MAX_LINES: Final = 3_000
"""Maximum number of lines with a word that are examined: a word on more lines distinguishes none."""
MAX_LINE: Final = 400
"""Characters of a line that are taken. A longer one is mostly data."""
STRETCH: Final = 350
"""Characters of the stretches from the ends."""
HEAD_SHARE: Final = 0.75
"""Share of the shown characters that come from the beginning."""


def lines_with(text: str, words: str) -> Iterator[Span]:
    """Yield the lines with any of the words, those with more and rarer ones first; equal lines once, long ones cut."""
    low, lines = lower(text), text.count("\n") + 1
    weights: dict[int, float] = {}
    places: dict[int, int] = {}
    seen: set[str] = set()
    for word in dict.fromkeys(lower(words).split()):
        starts = _starts(low, word) if len(word) >= MIN_WORD else {}
        for start, place in starts.items():
            weights[start] = weights.get(start, 0.0) + log(1 + lines / len(starts))
            places.setdefault(start, place)
    for start in sorted(weights, key=lambda start: (-weights[start], start))[:MAX_LINES]:
        end = text.find("\n", start) + 1 or len(text)
        start = start if end - start <= MAX_LINE else max(start, places[start] - MAX_LINE // 4)
        end = min(end, start + MAX_LINE)
        if text[start:end] not in seen:
            seen.add(text[start:end])
            yield start, end


def _starts(low: str, word: str) -> dict[int, int]:
    """Return the starts of the first lines that contain a word, each with the word's offset."""
    found = islice(find_in_lines(low, word, lambda place: not is_inside_word(low, place)), MAX_LINES)
    return {low.rfind("\n", 0, place) + 1: place for place, _ in found}


def find_in_lines(text: str, word: str, is_found: Callable[[int], object], start: int = 0) -> Iterator[Span]:
    """Yield the first place of a word in each line from `start` for which `is_found` is true, and the line's end."""
    place = text.find(word, start)
    while place >= 0:
        after = place + len(word)
        if is_found(place):
            after = text.find("\n", after)
            after = len(text) if after < 0 else after
            yield place, after
        place = text.find(word, after)


def ends_first(text: str, start: int = 0, end: int | None = None, head_share: float = HEAD_SHARE) -> Iterator[Span]:
    """Yield stretches of whole lines from both ends of a range towards its middle; a long line is cut.

    `head_share`: the share of the characters that are of the beginning.
    """
    first, last = start, len(text) if end is None else end
    head, tail = first, last
    while head < tail:
        if (head - first) * (1 - head_share) <= head_share * (last - tail):
            stop = text.find("\n", head + STRETCH, tail) + 1 or tail
            stop = stop if stop - head <= 2 * STRETCH else min(tail, head + STRETCH)
            yield head, stop
            head = stop
        else:
            begin = text.rfind("\n", head, max(head, tail - STRETCH)) + 1
            begin = begin if begin > head and tail - begin <= 2 * STRETCH else max(head, tail - STRETCH)
            yield begin, tail
            tail = begin
