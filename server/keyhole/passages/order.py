"""Put the windows of a page in the order in which they are shown, which does not depend on the size limit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Final

from keyhole.passages.feedback import add_feedback, broad_feedback_scores, first_round_scores
from keyhole.passages.query_parts import divide_query
from keyhole.passages.rank import WindowScores, score_windows, sort_by_score

SCORE_ORDER_CHARS: Final = 3_000
"""Characters shown by score alone. After them, every other window comes from a different ranking of the page, because
later windows of one ranking seldom contain an answer that its first windows lack."""


def order_windows(scored: WindowScores) -> Iterator[int]:
    """Yield the windows in the order in which they are shown, for any budget.

    The parts of a question and the question as a whole get the same number of characters.
    """
    orders = [_order_by_scores(each) for each in (*_score_parts(scored), scored)]
    shown = [0] * len(orders)
    seen: set[int] = set()
    while True:
        turn = min(range(len(orders)), key=shown.__getitem__)
        window = next(orders[turn], None)
        if window is None:
            return
        shown[turn] += scored.index.end(window) - scored.index.starts[window]
        if window not in seen:
            seen.add(window)
            yield window


def _score_parts(scored: WindowScores) -> list[WindowScores]:
    """Return the scores for each part of the question; nothing if it is one."""
    counts = [len(hits.windows) for hits in scored.hits]
    return [
        add_feedback(score_windows(scored.index, part, scored.hits, counts, scored.index.size))
        for part in divide_query(scored.query)
    ]


def _order_by_scores(scored: WindowScores) -> Iterator[int]:
    """Yield the windows, best first.

    The first `SCORE_ORDER_CHARS` are by score. The rest take turns between the score, the score with broad feedback and
    the score without feedback.
    """
    main = iter(scored.order)
    seen: set[int] = set()
    shown = 0
    for window in main:
        seen.add(window)
        yield window
        shown += scored.index.end(window) - scored.index.starts[window]
        if shown >= SCORE_ORDER_CHARS:
            break
    else:
        return
    broad, first = iter(sort_by_score(broad_feedback_scores(scored))), iter(sort_by_score(first_round_scores(scored)))
    for ranking in cycle((main, broad, main, first)):
        next_window = next((window for window in ranking if window not in seen), None)
        if next_window is None:
            return
        seen.add(next_window)
        yield next_window
