"""Decide how many of a page's ranked windows a result shows: it ends where the evidence ends. Pure.

A size limit bounds a result, but is not its target. On the development questions of `benchmarks.ranking.passages`, this
rule shows a quarter of what fills 8,000 characters, and loses 0.5 of 94.9 answers in a hundred.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Final

from keyhole.passages.gaps import Span
from keyhole.passages.index import Index
from keyhole.passages.rank import WindowScores

NEXT_WINDOWS: Final = 10
"""Windows after the shown ones whose scores decide. A single window says little."""

MIN_MEAN_SHARE: Final = 0.115
"""The evidence ends where the next windows have a mean score below this share of the best score. A larger share ends
earlier: 0.15 loses 1.6 answers in a hundred instead of 0.4, and shows a quarter less."""

WEAK_MIN_MEAN_SHARE: Final = 0.2
"""The same share for a match that lacks names of the query. On development pages it loses 0.1 answers in a hundred, and
shows a third less of pages without the answer."""

MIN_FIRST_MEAN_SHARE: Final = 0.05
"""The evidence also ends where the next windows have a mean score before feedback below this share of the best one.
Rows of a table share so many words with the best row that feedback raises them all."""

MIN_SHOWN_CHARS: Final = 1_200
"""Characters shown before the rule applies: four windows. The best one alone often lacks a sentence."""

NEAREST_PLACES: Final = 2
"""Places shown of a page that probably does not contain the answer."""


def end_with_evidence(
    scored: WindowScores, order: Iterable[int], min_chars: int = MIN_SHOWN_CHARS, min_share: float = MIN_MEAN_SHARE
) -> Iterator[int]:
    """Yield the windows of `order` up to where the evidence ends.

    `min_chars`: the characters shown in any case. `min_share`: `MIN_MEAN_SHARE`, or `WEAK_MIN_MEAN_SHARE`.
    """
    index, scores, first = scored.index, scored.scores, dict(scored.stages)["form"]
    lowest = NEXT_WINDOWS * min_share * max(scores)
    lowest_first = NEXT_WINDOWS * MIN_FIRST_MEAN_SHARE * max(first)
    remaining = iter(order)
    coming = deque(islice(remaining, NEXT_WINDOWS))
    chars = 0
    while coming:
        if chars >= min_chars:
            is_poor = sum(scores[window] for window in coming) < lowest
            if is_poor or sum(first[window] for window in coming) < lowest_first:
                return
        window = coming.popleft()
        coming.extend(islice(remaining, 1))
        yield window
        chars += index.end(window) - index.starts[window]


def nearest_places(order: Iterable[int]) -> Iterator[int]:
    """Yield the best windows of different places, for a page that probably does not contain the answer."""
    shown: list[int] = []
    for window in order:
        if all(abs(window - other) > 1 for other in shown):
            shown.append(window)
            yield window
            if len(shown) == NEAREST_PLACES:
                return


def take_chars(index: Index, order: Iterable[int], chars: int) -> Iterator[int]:
    """Yield the first windows of `order` that have `chars` characters together, and at least one."""
    shown = 0
    for window in order:
        yield window
        shown += index.end(window) - index.starts[window]
        if shown >= chars:
            return


def count_more(scored: WindowScores, spans: Sequence[Span], shown_before: Iterable[int] = ()) -> int:
    """Count the passages that match the query, apart from the `spans` and the windows `shown_before`.

    Adjacent windows that hold a word of the query count as one passage.
    """
    index, words = scored.index, dict(scored.stages)["words"]
    lowest = MIN_MEAN_SHARE * max(scored.scores)
    shown = set(shown_before)
    for start, end in spans:
        shown.update(range(index.window_at(start), index.window_at(end - 1) + 1))
    matching = [
        window
        for window, score in enumerate(scored.scores)
        if score >= lowest and words[window] > 0 and window not in shown
    ]
    return sum(1 for before, window in pairwise((-1, *matching)) if window - before > 1 or before < 0)
