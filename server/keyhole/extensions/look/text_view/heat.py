"""Compute the strip along a page that shows where its text matches a query, and which parts are shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

CELLS: Final = 200
"""Cells of a strip. In a column of 600 pixels each is 3 pixels wide."""
LEVELS: Final = 9
"""Levels of heat above none, each a class of the style sheet."""

MAX_TICKS: Final = 5
"""Parts into which ticks divide an axis: on a phone, five numbers of seven digits fit beside each other."""
CLEAR: Final = 0.15
"""Part of the axis before its end that has no tick, because the length of the text stands there."""

Weight = tuple[int, int, float]
"""A range of the text and its score."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A range of the text with the same heat: 0 for none, `LEVELS` for the greatest of the text."""

    start: int
    end: int
    level: int


def heat(total: int, weights: Iterable[Weight], cells: int = CELLS) -> tuple[Cell, ...]:
    """Return the cells of a text of `total` characters; neighbours of the same level are joined.

    A cell has the level of the greatest score that reaches into it. A score of 0 or less has no heat.
    """
    if not total:
        return ()
    count = min(cells, total)
    best = [0.0] * count
    for start, end, score in weights:
        if score <= 0 or start >= end:
            continue
        for cell in range(max(0, start) * count // total, min(count, -(-end * count // total))):
            best[cell] = max(best[cell], score)
    most = max(best, default=0.0)
    joined: list[Cell] = []
    for number, score in enumerate(best):
        level = _level(score, most)
        end = -(-(number + 1) * total // count)
        if joined and joined[-1].level == level:
            joined[-1] = Cell(joined[-1].start, end, level)
        else:
            joined.append(Cell(joined[-1].end if joined else 0, end, level))
    return tuple(joined)


def axis_ticks(total: int) -> tuple[int, ...]:
    """Return round offsets at equal distances along a text, from 0 on and clear of its end."""
    steps = (digit * 10**power for power in range(len(str(total))) for digit in (1, 2, 5))
    step = next((step for step in steps if total <= MAX_TICKS * step), max(total, 1))
    return tuple(tick for tick in range(0, total, step) if not tick or total - tick >= CLEAR * total)


def _level(score: float, most: float) -> int:
    """Return the level of a score: at least 1 for every score above 0."""
    return max(1, round(LEVELS * score / most)) if score > 0 else 0
