"""Passages scored by a query: stemmed TF-cosine. No budget here."""

from __future__ import annotations

import math
from collections import Counter

from keyhole.passages.words import Query, words
from keyhole.records import Passage, TermCount


def rank(text: str, passages: tuple[Passage, ...], query: Query) -> list[float]:
    """The cosine between the query's and each passage's stem counts, 0 for a passage with no term."""
    wanted = {stem for _, stem in query.terms}
    scores = []
    for passage in passages:
        counts = Counter(stem for _, stem in words(text[passage.start : passage.end]))
        dot = sum(counts[stem] for stem in wanted)
        norm = math.sqrt(sum(count * count for count in counts.values())) * math.sqrt(len(wanted) or 1)
        scores.append(dot / norm if dot else 0.0)
    return scores


def count_terms(text: str, query: Query) -> tuple[TermCount, ...]:
    """How often each query term stands in the whole text."""
    counts = Counter(stem for _, stem in words(text))
    return tuple(TermCount(word, counts[stem]) for word, stem in query.terms)
