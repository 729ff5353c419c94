"""Choose the stretches of a large text that are ranked: its ends, and those with rare words of the query. Pure.

Ranking takes half a second for each million characters. A larger text is ranked by an excerpt, which one fast pass over
the text chooses.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from keyhole.passages.gaps import Span, merge_spans
from keyhole.text.letters import lower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

EXCERPT_CHARS: Final = 1_000_000
"""Characters of an excerpt: ranking them takes half a second."""
STRETCH_CHARS: Final = 16_384
"""Characters of a stretch, which ends with a line unless the line is longer."""
HEAD_SHARE: Final = 1 / 16
TAIL_SHARE: Final = 1 / 8
"""Shares of the excerpt for the ends of the text. The summary and the last failure are at the end."""
QUERY_SHARE: Final = 0.6
"""Share of the stretches between the ends for the words of the query; the rest is for the failure words."""
COMMON: Final = 4_096
"""A word in this many stretches is no longer searched for: it distinguishes none of them."""
MAX_COUNT: Final = 3
"""Occurrences of a word of the query in one stretch that are counted."""
SATURATION: Final = 0.5
"""BM25's k1, as in rank.py: a second word of the query counts more than a second occurrence of the first."""
NEAR_SHARE: Final = 0.3
"""Share of a stretch's score that the stretches before and after it get: an answer may begin in one and end in the
next, and its words may be in the sentences around it."""
FAILURE_WORDS: Final = (
    ("traceback", 3.0), ("panic", 3.0), ("fatal", 3.0), ("critical", 2.0), ("exception", 2.0), ("error", 2.0),
    ("fail", 2.0), ("alarm", 2.0), ("out of memory", 2.0), ("timeout", 1.0), ("timed out", 1.0), ("denied", 1.0),
    ("refused", 1.0), ("cannot", 1.0), ("could not", 1.0), ("unable to", 1.0), ("not found", 1.0),
)  # fmt: skip
"""Words of the lines that every reader looks for, and their weights. Searching 100 MB for a word takes 0.07 s."""

TRACE_WORDS: Final = frozenset({"traceback", "panic"})
TRACE_SHARE: Final = 0.8
"""If a stack trace begins in a stretch, the next one gets this share of its score: the trace ends with the error."""

Needle = tuple[str, float]
"""A lower-case text that is searched for, and its weight."""


class Excerpt(NamedTuple):
    """The ranked stretches of a large text, joined in their order."""

    text: str
    spans: tuple[Span, ...]
    """The offsets of the stretches in the whole text. Adjacent stretches are one."""
    total: int
    """Characters of the whole text."""

    @property
    def joints(self) -> tuple[Span, ...]:
        """Return the offsets in `text` where characters of the whole text are missing, and their number."""
        found, offset, position = [], 0, 0
        for start, end in [*self.spans, (self.total, self.total)]:
            if start > position:
                found.append((offset, start - position))
            offset, position = offset + end - start, end
        return tuple(found)


def query_needles(query: str) -> list[Needle]:
    """Return what is searched for to answer a query: the stems of its words."""
    if not query.strip():
        return []
    from keyhole.passages.languages import count_function_words  # a hook has no query, and no time to import them
    from keyhole.passages.query import parse_query

    terms = parse_query(query, count_function_words([]), 0).terms
    return [(term.needle, term.weight) for term in terms if len(term.needle) > 1]


def word_needles(words: str) -> list[Needle]:
    """Return what is searched for to find the words of a command, as they are written."""
    return [(word, 1.0) for word in dict.fromkeys(lower(words).split()) if len(word) > 1]


class ExcerptChooser:
    """Chooses the stretches of a text that is added piece by piece."""

    def __init__(
        self, needles: Sequence[Needle], stretch_chars: int = STRETCH_CHARS, failures: Sequence[Needle] = FAILURE_WORDS
    ) -> None:
        """Create a chooser. `needles`: what is searched for beside the words of `failures`."""
        self._queried = len(needles)
        self._needles = [*needles, *failures]
        self._stretch_chars = stretch_chars
        self._ends: list[int] = []
        self._found: list[dict[int, int]] = [{} for _ in self._needles]
        """The stretches that contain each needle, and how often: up to `MAX_COUNT`, for a word of failures once."""

    def add(self, piece: str) -> None:
        """Add the next piece of the text."""
        base, first = self._ends[-1] if self._ends else 0, len(self._ends)
        start = 0
        while start < len(piece):
            end = min(len(piece), start + self._stretch_chars)
            if end < len(piece):
                end = piece.rfind("\n", start, end) + 1 or end
            self._ends.append(base + end)
            start = end
        low = lower(piece)
        for place, ((needle, _), found) in enumerate(zip(self._needles, self._found, strict=True)):
            offset = low.find(needle) if len(found) < COMMON else -1
            number, most = first, MAX_COUNT if place < self._queried else 1
            while offset >= 0:
                while self._ends[number] <= base + offset:
                    number += 1
                found[number] = count = found.get(number, 0) + 1
                offset = low.find(needle, offset + len(needle) if count < most else self._ends[number] - base)

    def choose(self, max_chars: int = EXCERPT_CHARS) -> tuple[Span, ...]:
        """Return the offsets of the chosen stretches in order, adjacent ones as one."""
        size = len(self._ends)
        count = max(1, max_chars // self._stretch_chars)
        head, tail = math.ceil(count * HEAD_SHARE), math.ceil(count * TAIL_SHARE)
        chosen = dict.fromkeys([*range(min(head, size)), *range(max(0, size - tail), size)])
        queried = _sorted(_with_neighbours(self._scores(range(self._queried))))
        failed = _sorted(self._scores(range(self._queried, len(self._needles))))
        left = count - len(chosen)
        for order, limit in ((queried, int(left * QUERY_SHARE) if queried else 0), (failed, left), (queried, left)):
            taken = [number for number in order if number not in chosen][: max(0, min(limit, count - len(chosen)))]
            chosen |= dict.fromkeys(taken)
        chosen |= dict.fromkeys(range(min(size, head + max(0, count - len(chosen)))))
        stretches = ((self._ends[number - 1] if number else 0, self._ends[number]) for number in chosen)
        return tuple(merge_spans(stretches))

    def _scores(self, needles: Iterable[int]) -> dict[int, float]:
        """Return the scores of the stretches with any of the needles, as BM25 computes them."""
        scores: dict[int, float] = {}
        for needle in needles:
            found = self._found[needle]
            word, own = self._needles[needle]
            weight = own * _rarity(len(found), len(self._ends))
            for number, count in found.items():
                saturated = count * (SATURATION + 1) / (count + SATURATION)
                scores[number] = scores.get(number, 0.0) + weight * saturated
                if word in TRACE_WORDS and number + 1 < len(self._ends):
                    scores[number + 1] = scores.get(number + 1, 0.0) + weight * TRACE_SHARE
        return scores


def _with_neighbours(scores: Mapping[int, float]) -> dict[int, float]:
    """Return the scores with a share of those of the stretches before and after each."""
    return {
        number: score + NEAR_SHARE * (scores.get(number - 1, 0.0) + scores.get(number + 1, 0.0))
        for number, score in scores.items()
    }


def _sorted(scores: Mapping[int, float]) -> list[int]:
    """Return the stretches by score, of equal ones the earliest first."""
    return sorted(scores, key=lambda number: (-scores[number], number))


def make_excerpt(spans: Sequence[Span], total: int, read: Callable[[int, int], str]) -> Excerpt:
    """Return the excerpt of the chosen stretches. `read` returns a range of the whole text."""
    return Excerpt("".join(read(start, end) for start, end in spans), tuple(spans), total)


def _rarity(count: int, size: int) -> float:
    """Return the weight of a word that `count` of `size` stretches contain, as in BM25."""
    return math.log(1 + (size - count + 0.5) / (count + 0.5))
