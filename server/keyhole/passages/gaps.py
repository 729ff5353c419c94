"""Find and name the ranges of a text that are not shown. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter

from keyhole.text.escape import escape_gap_lines

Span = tuple[int, int]
"""Start and end offsets."""

_start, _end = itemgetter(0), itemgetter(1)


def gap_line(start: int, end: int, label: str = "") -> str:
    """Return the line that replaces `text[start:end]`. `read_artifact(id, offset=start, limit=end-start)` shows it."""
    return f"[…{start}:{end}]{escape_gap_lines(label)}\n"


def shown_part(text: str, start: int, end: int) -> str:
    """Return a range of a text, escaped so that nothing in it looks like a gap line. A whole text is unchanged."""
    part = text[start:end]
    return part if len(part) == len(text) else escape_gap_lines(part)


def find_gaps(total: int, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges of a text of `total` characters that are outside of the spans, which are in order."""
    edges = [0, *(edge for span in spans for edge in span), total]
    return [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]


def next_gap(
    total: int,
    spans: Sequence[tuple[int, int]],
    scores: Sequence[float],
    known: Sequence[tuple[int, int]] = (),
) -> tuple[int, int] | None:
    """Return the omitted range to read next, None if nothing is omitted.

    This is the first omitted range after the span with the best score, or else the last one. Without spans, it is the
    first one. The ranges in `known` do not count as omitted.
    """
    gaps = find_gaps(total, sorted((*spans, *known)))
    if not gaps or not spans:
        return gaps[0] if gaps else None
    best_end = spans[scores.index(max(scores))][1]
    return next((gap for gap in gaps if gap[0] >= best_end), gaps[-1])


def insert_span(spans: Sequence[Span], span: Span, least: int) -> list[Span]:
    """Return ranges in order with one more, merged with those that are at most `least` characters away from it.

    A gap line for `least` characters or fewer would be as long as the characters that it omits.
    """
    start, end = span
    first = bisect_left(spans, span)
    if first and start - spans[first - 1][1] <= least:
        first -= 1
        start, end = spans[first][0], max(end, spans[first][1])
    last = first
    while last < len(spans) and spans[last][0] - end <= least:
        end = max(end, spans[last][1])
        last += 1
    return [*spans[:first], (start, end), *spans[last:]]


def merge_spans(spans: Iterable[Span], least: int = 0) -> list[Span]:
    """Return ranges in order, merged where they overlap or are at most `least` characters away from each other."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start - merged[-1][1] <= least:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def uncovered(span: Span, shown: Sequence[Span]) -> list[Span]:
    """Return the parts of a range that are not shown yet. `shown` is in order."""
    pieces, position = [], span[0]
    for start, end in shown[bisect_right(shown, position, key=_end) : bisect_left(shown, span[1], key=_start)]:
        if start > position:
            pieces.append((position, start))
        position = max(position, end)
    if position < span[1]:
        pieces.append((position, span[1]))
    return pieces
