"""Find the selected passages that the reader was shown before."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from keyhole.passages.find import Index, Span
from keyhole.text.measure import Measure

MIN_REPEAT_BYTES: Final = 150
"""Minimum bytes of a repeated span: a shorter one costs less than the gap line that would replace it."""
MIN_SAVED_BYTES: Final = 400
"""Minimum bytes saved: less is not worth the line that lists the repeated spans."""
REPEATS_LINE_BYTES: Final = 100
"""Bytes of that line without its spans."""
REPEAT_BYTES: Final = 72
"""Maximum bytes of a span in that line: its offsets, the call that showed it, and the query of the call."""


class ShownSpans:
    """The spans of one text that the reader was shown."""

    def __init__(self, spans: Sequence[Span]) -> None:
        ordered = sorted(spans)
        self._starts = [start for start, _ in ordered]
        self._furthest_ends = list(accumulate((end for _, end in ordered), max))

    def covers(self, start: int, end: int) -> bool:
        """Return whether one span contains all of `text[start:end]`; an overlap is not enough."""
        place = bisect_right(self._starts, start) - 1
        return place >= 0 and self._furthest_ends[place] >= end


def find_repeated(index: Index, spans: Sequence[Span], seen: ShownSpans, measure: Measure) -> list[Span]:
    """Return the parts of `spans` in windows that were `seen` before; empty if omitting them saves too little."""
    repeated: list[Span] = []
    for start, end in spans:
        for window in range(index.window_at(start), index.window_at(end - 1) + 1):
            if not seen.covers(index.starts[window], index.end(window)):
                continue
            piece = (index.starts[window], min(end, index.end(window)))
            if repeated and repeated[-1][1] == piece[0]:
                piece = (repeated.pop()[0], piece[1])
            repeated.append(piece)
    sizes = {span: measure(index.text[slice(*span)]) for span in repeated}
    long = [span for span in repeated if sizes[span] >= MIN_REPEAT_BYTES or _ends_inside_window(index, span)]
    return long if sum(sizes[span] for span in long) >= MIN_SAVED_BYTES + repeats_line_size(long) else []


def _ends_inside_window(index: Index, span: Span) -> bool:
    """Return whether a span ends with the first sentences of a window."""
    return index.end(index.window_at(span[1] - 1)) > span[1]


def repeats_line_size(spans: Sequence[Span]) -> int:
    """Return the bytes to reserve for the line that lists repeated spans."""
    return REPEATS_LINE_BYTES + REPEAT_BYTES * len(spans) if spans else 0
