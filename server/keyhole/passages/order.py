"""The order in which windows are shown, whatever the budget: best first, then in turns with other opinions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

from keyhole.passages.feedback import broad_feedback, first_round
from keyhole.passages.rank import Scored, by_score

SURE_CHARS = 3_000
"""From here on, every other passage is one that another opinion of the page puts first. Before it, the best score
is the best choice; after it, more of the same score seldom finds what its beginning missed."""


def ordered(scored: Scored) -> Iterator[int]:
    """The windows by score; past the first, in turns with the score of a wider second round and of none."""
    main = iter(scored.order)
    seen: set[int] = set()
    shown = 0
    for window in main:
        seen.add(window)
        yield window
        shown += scored.index.end(window) - scored.index.starts[window]
        if shown >= SURE_CHARS:
            break
    else:
        return
    broad, first = iter(by_score(broad_feedback(scored))), iter(by_score(first_round(scored)))
    for opinion in cycle((main, broad, main, first)):
        found = next((window for window in opinion if window not in seen), None)
        if found is None:
            return
        seen.add(found)
        yield found
