"""Cover every word of a list in a question, such as "the defaults of X and Y", before words are repeated. Pure.

Asked of all rare words of a question instead of the listed ones, seven variants of this rule lost .7 to 1.6 of 81.4
answers in a hundred at 2,000 characters: most words of a sentence only describe the passage that has the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from keyhole.passages.query_parts import listed_terms
from keyhole.passages.rank import WindowScores

MIN_RARITY_SHARE: Final = 0.5
"""A listed word is covered if it weighs at least this share of the question's rarest word on the page."""

MAX_PLACES: Final = 4
"""Windows that hold such a word, at most: of a more frequent word the best windows are rarely without."""


def cover_lists(scored: WindowScores, order: Sequence[int]) -> Iterator[int]:
    """Yield the windows of `order`, some of them twice.

    A window that adds no listed word waits until each listed word is in a window before it.
    """
    listed, rarest = listed_terms(scored.query), max(scored.idf)
    missing = [
        (idf, hits.windows.keys())
        for idf, hits in zip(scored.idf, scored.hits, strict=True)
        if hits.term.needle in listed and idf >= MIN_RARITY_SHARE * rarest and 0 < len(hits.windows) <= MAX_PLACES
    ]
    for number, window in enumerate(order):
        while number and missing and not any(window in places for _, places in missing):
            gains = {place: 0.0 for _, places in missing for place in places}
            for idf, places in missing:
                gains |= {place: gains[place] + idf for place in places}
            best = max(gains, key=lambda place: (gains[place], scored.scores[place], -place))
            missing = [each for each in missing if best not in each[1]]
            yield best
        missing = [each for each in missing if window not in each[1]]
        yield window
