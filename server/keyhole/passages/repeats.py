"""Find the selected passages that the reader was shown before."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from keyhole.passages.index import Index, Span

ALWAYS_SHOWN_CHARS: Final = 3_000
"""Characters of the best passages that are shown also if an earlier call showed them. The answer is nearly always among
them if it is shown at all, and the client may have dropped the earlier result from the model's context."""
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


def skip_seen(
    index: Index,
    order: Iterable[int],
    seen: ShownSpans,
    repeated: list[Span],
    *,
    always_shown: int = ALWAYS_SHOWN_CHARS,
) -> Iterator[int]:
    """Yield the best windows of `order`, then those that were not `seen`. Add the spans of the others to `repeated`.

    `always_shown`: the characters of the best windows. These answer the query, even if an earlier call showed them for
    another query.
    """
    shown = 0
    for window in order:
        span = (index.starts[window], index.end(window))
        if shown >= always_shown and seen.covers(*span):
            repeated.append(span)
            continue
        shown += span[1] - span[0]
        yield window


def repeats_line_size(spans: Sequence[Span]) -> int:
    """Return the bytes to reserve for the line that lists repeated spans."""
    return REPEATS_LINE_BYTES + REPEAT_BYTES * len(spans) if spans else 0
