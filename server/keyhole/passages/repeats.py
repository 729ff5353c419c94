"""Which of the chosen windows were shown before and need not be shown again. Decides only; names no call."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from keyhole.passages.find import Index
from keyhole.passages.pack import Span
from keyhole.text.measure import Measure

LEAST_STRETCH: Final = 150
"""Bytes. A shorter repetition costs less than the gap line that would stand for it."""
LEAST_SAVED: Final = 400
"""Bytes. Less is not worth the line that names what was left out."""
LINE: Final = 100
"""Bytes of the words of that line."""
NAMED: Final = 72
"""Bytes by which a stretch makes it longer at most: its offsets, a call, and what that asked for."""


class Before:
    """Stretches of one text that were shown before."""

    def __init__(self, spans: Sequence[Span]) -> None:
        ordered = sorted(spans)
        self._starts = [start for start, _ in ordered]
        self._furthest = list(accumulate((end for _, end in ordered), max))

    def __bool__(self) -> bool:
        return bool(self._starts)

    def covers(self, start: int, end: int) -> bool:
        """Whether one of them holds all of this: an overlap is no repetition."""
        place = bisect_right(self._starts, start) - 1
        return place >= 0 and self._furthest[place] >= end


def repeated(index: Index, spans: Sequence[Span], before: Before, measure: Measure) -> list[Span]:
    """What of `spans` stands in windows that were shown before; nothing where leaving it out saves little."""
    stretches: list[Span] = []
    for start, end in spans:
        for window in range(index.window_at(start), index.window_at(end - 1) + 1):
            if not before.covers(index.starts[window], index.end(window)):
                continue
            piece = (index.starts[window], min(end, index.end(window)))
            if stretches and stretches[-1][1] == piece[0]:
                piece = (stretches.pop()[0], piece[1])
            stretches.append(piece)
    sizes = {stretch: measure(index.text[slice(*stretch)]) for stretch in stretches}
    long = [each for each in stretches if sizes[each] >= LEAST_STRETCH or _ends_within_a_window(index, each)]
    return long if sum(sizes[stretch] for stretch in long) >= LEAST_SAVED + room_to_name(long) else []


def _ends_within_a_window(index: Index, stretch: Span) -> bool:
    """Whether it is the first sentences of a window, which would be shown alone."""
    return index.end(index.window_at(stretch[1] - 1)) > stretch[1]


def room_to_name(stretches: Sequence[Span]) -> int:
    """Bytes kept free for naming what is left out."""
    return LINE + NAMED * len(stretches) if stretches else 0
