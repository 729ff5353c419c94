"""Which of the chosen windows were shown before and need not be shown again. Decides only; names no call."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from keyhole.measure import Measure
from keyhole.passages.find import Index
from keyhole.passages.pack import Span

LEAST_STRETCH: Final = 150
"""Bytes. A shorter repetition costs less than the gap line that would stand for it."""
LEAST_SAVED: Final = 400
"""Bytes. Less is not worth the line that names what was left out."""
LINE: Final = 200
"""Bytes of that line: its words, a call and what it asked for."""
NAMED: Final = 40
"""Bytes by which each stretch makes it longer, and the gap line that stands for the stretch."""


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
    """The stretches of whole windows in `spans` that were shown before; none where leaving them out saves little."""
    stretches: list[Span] = []
    for start, end in spans:
        for window in range(index.window_at(start), index.window_at(end - 1) + 1):
            piece = (max(start, index.starts[window]), min(end, index.end(window)))
            if not before.covers(*piece) or piece[1] < index.end(window):
                continue
            if stretches and stretches[-1][1] == piece[0]:
                piece = (stretches.pop()[0], piece[1])
            stretches.append(piece)
    sizes = {stretch: measure(index.text[slice(*stretch)]) for stretch in stretches}
    long = [stretch for stretch in stretches if sizes[stretch] >= LEAST_STRETCH]
    return long if sum(sizes[stretch] for stretch in long) >= LEAST_SAVED + room_to_name(long) else []


def room_to_name(stretches: Sequence[Span]) -> int:
    """Bytes kept free for naming what is left out."""
    return LINE + NAMED * len(stretches) if stretches else 0
