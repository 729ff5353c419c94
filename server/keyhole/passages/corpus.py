"""The windows of several texts scored together, so that a score means the same in each of them. Packs nothing.

The formula is that of one page (rank.py, feedback.py) with the statistics of all: how rare a word is, is told by the
windows of all texts. A word that fills its own page and is in no other page is rare again, as it should be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from keyhole.passages.feedback import with_feedback
from keyhole.passages.find import Hits, Index
from keyhole.passages.query import Match
from keyhole.passages.rank import Scored, looked_up, weighed


def scored_together(indexes: Sequence[Index], query: str) -> list[Scored]:
    """The windows of each text scored for a query, with one weight of each term for all texts."""
    places = [looked_up(index, query) for index in indexes]
    found: Counter[tuple[str, Match]] = Counter()
    for _, hits in places:
        for each in hits:
            found[_key(each)] += len(each.windows)
    windows = sum(index.size for index in indexes)
    return [
        with_feedback(weighed(index, parsed, hits, [found[_key(each)] for each in hits], windows))
        for index, (parsed, hits) in zip(indexes, places, strict=True)
    ]


def _key(hits: Hits) -> tuple[str, Match]:
    # Each page's language may stem a word its own way; what is asked for is the same word all the same.
    return hits.term.surface, hits.term.match
