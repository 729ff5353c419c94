"""Rank artifacts by BM25 from posting lists (Robertson and Zaragoza, 2009).

There is a list for each term and frequency, so a search knows how often a term occurs without reading a text.
Frequencies are rounded down to those of `FREQUENCIES`, which changes a score by a tenth at most.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from keyhole.store.term_lookup import TITLE_WEIGHT, split_words

K1: Final = 1.2
B: Final = 0.75
"""BM25's k1 and b, at their usual values, which SQLite's bm25() has too."""
FREQUENCIES: Final = (1, 2, 3, 4, 6, 9, 14, 25)
"""The frequencies that posting lists distinguish. Their number is a power of two: see `_make_hasher` in search.py."""
MIN_RARITY: Final = 1e-6
"""The weight of a term that more than half of the artifacts contain, as in SQLite's bm25()."""


@dataclass(frozen=True, slots=True)
class PostingList:
    """The keys of the artifacts that contain a term with a frequency, and the rarity of the term."""

    rarity: float
    frequency: int
    keys: frozenset[int]


def count_terms(words: str) -> Iterator[tuple[str, int]]:
    """Yield the distinct terms of an artifact, each with the index of its frequency in `FREQUENCIES`. `words`: as in
    `Store.put`.

    A term of the title counts `TITLE_WEIGHT` times.
    """
    title, body = split_words(words)
    counts = Counter[str](body)
    for term in title:
        counts[term] += int(TITLE_WEIGHT)
    for term, count in counts.items():
        yield term, bisect_right(FREQUENCIES, count) - 1


def rarity(count: int, total: int) -> float:
    """Return the inverse document frequency of a term that `count` of `total` artifacts contain."""
    return max(MIN_RARITY, math.log((total - count + 0.5) / (count + 0.5)))


def sum_scores(lists: Sequence[PostingList]) -> Mapping[int, float]:
    """Return the scores of all artifacts in the lists, as if they had the same length."""
    scores: dict[int, float] = {}
    get_score = scores.get
    for each in lists:
        weight = _weigh(each, 1.0)
        for key in each.keys:
            scores[key] = get_score(key, 0.0) + weight
    return scores


def rank_by_length(lists: Sequence[PostingList], lengths: Mapping[int, int]) -> list[int]:
    """Return the keys of artifacts with these lengths, best first; of equal scores, the highest key first."""
    average = max(1.0, sum(lengths.values()) / max(1, len(lengths)))
    scores = {
        key: sum(_weigh(each, length / average) for each in lists if key in each.keys)
        for key, length in lengths.items()
    }
    return sorted(scores, key=lambda key: (-scores[key], -key))


def sort_best_first(scores: Mapping[int, float], count: int) -> list[int]:
    """Return the `count` keys with the highest scores, best first; of equal scores, the highest key first."""
    # Sorting floats alone is ten times as fast as sorting pairs, and excludes most keys.
    minimum = sorted(scores.values(), reverse=True)[min(count, len(scores)) - 1] if scores and count else math.inf
    best = (key for key, score in scores.items() if score >= minimum)
    return sorted(best, key=lambda key: (-scores[key], -key))[:count]


def _weigh(list_: PostingList, length: float) -> float:
    """Return what a term adds to the score of a text. `length`: the text's, as a multiple of the average."""
    return list_.rarity * list_.frequency * (K1 + 1) / (list_.frequency + K1 * (1 - B + B * length))
