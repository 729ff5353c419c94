"""Select the lines of an output: those that answer the query, and those that every reader looks for. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from keyhole.passages import index_text, rank_windows, score_text
from keyhole.passages.find import Index, Span
from keyhole.passages.packing.one_text import gap_line, head_tail_order, render_spans
from keyhole.passages.rank import WindowScores
from keyhole.records import Selection
from keyhole.text.measure import Measure, fits

QUERY_SHARE: Final = 0.7
"""Share of the shown characters for the passages of the query; the rest is for the marked lines."""
LINE_SHARE: Final = 0.85
"""The same share where an output has no failures to show."""
FAILURE_WEIGHT: Final = 7.0
"""Weight from which a mark is a failure."""
LINE_WINDOWS: Final = 8
"""Windows of which the matching lines are shown before any whole window."""
MAX_LINE: Final = 300
"""Characters of a line that is shown apart from the lines around it."""
COMMAND_SHARE: Final = 0.3
"""The same share for the words of the command, if there is no query."""
WHOLE_SHARE: Final = 1 / 3
"""Share of the limit up to which a line or record is shown whole."""
MAX_CANDIDATES: Final = 3_000
"""Ranges that are tried, at most: a large budget shows some hundreds."""


def select_output(
    text: str,
    query: str | None,
    max_chars: int,
    marks: Sequence[tuple[int, int, float]],
    *,
    records: Sequence[Span] = (),
    command_words: str = "",
    measure: Measure = len,
) -> Selection:
    """Select the ranges of an output that fit `max_chars`, or the whole output if it fits.

    `marks`: the lines that every reader looks for, each with its weight. `records`: ranges that are shown whole, unless
    they are long; elsewhere lines are. `command_words`: the words of the command that printed the output, which rank
    its lines if there is no query.
    """
    index, question = index_text(text), (query or "").strip()
    words = question or command_words
    scored = score_text(text, words) if words and text else None
    matched = scored is not None and bool(scored.stages)
    marked: Iterable[Span] = [(start, end) for start, end, _ in sorted(marks, key=lambda mark: -mark[2])]
    query_share = QUERY_SHARE if any(weight >= FAILURE_WEIGHT for _, _, weight in marks) else LINE_SHARE
    share = query_share if question else COMMAND_SHARE
    order = _interleave(_passages(scored), marked, share) if scored and matched else iter(marked)
    if fits(text, max_chars, measure):
        spans = [(0, len(text))] if text else []
    else:
        orders = [order, _windows(index, head_tail_order(index))]
        whole = [_complete(text, records, each, int(max_chars * WHOLE_SHARE)) for each in orders]
        spans = _pack(index, whole, max_chars, measure)
    return Selection(
        strategy="whole" if spans == [(0, len(text))] else "passages" if matched or marks else "head_tail",
        total=len(text),
        spans=tuple(spans),
        scores=(0.0,) * len(spans),
        text=render_spans(index, spans, labelled=False),
        matched=matched,
    )


def _windows(index: Index, order: Iterable[int]) -> Iterator[Span]:
    return ((index.starts[window], index.end(window)) for window in order)


def _passages(scored: WindowScores) -> Iterator[Span]:
    """Yield the matching lines of the best windows, and then the windows."""
    index = scored.index
    ranked = list(islice(rank_windows(scored), MAX_CANDIDATES))
    for window in ranked[:LINE_WINDOWS]:
        yield from _matching_lines(scored, index.starts[window], index.end(window))
    yield from _windows(index, ranked)


def _matching_lines(scored: WindowScores, start: int, end: int) -> Iterator[Span]:
    """Yield the lines of a window with the most words of the query, if they are short."""
    text, best = scored.index.text, 0
    found: list[Span] = []
    while start < end:
        line_end = min(end, text.find("\n", start) + 1 or end)
        line = text[start:line_end].casefold()
        count = sum(hits.term.stem in line or hits.term.surface in line for hits in scored.hits if hits.count)
        if count > best:
            best, found = count, []
        if count == best and count and len(line) <= MAX_LINE:
            found.append((start, line_end))
        start = line_end
    yield from found


def _complete(text: str, records: Sequence[Span], order: Iterable[Span], longest: int) -> Iterator[Span]:
    """Yield the ranges, extended to whole lines and records of at most `longest` characters."""
    starts = [start for start, _ in records]
    for start, end in order:
        first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
        line = text.rfind("\n", 0, start) + 1
        if first >= 0 and records[first][0] <= start < records[first][1] <= records[first][0] + longest:
            start = records[first][0]
        elif start - line <= longest:
            start = line
        break_after = text.find("\n", end - 1) + 1 or len(text)
        if last >= 0 and records[last][0] < end <= records[last][1] <= records[last][0] + longest:
            end = records[last][1]
        elif break_after - end <= longest:
            end = break_after
        yield start, end


def _interleave(passages: Iterable[Span], marked: Iterable[Span], share: float) -> Iterator[Span]:
    """Yield both in their order, a `share` of the characters from the passages."""
    passages, marked = iter(passages), iter(marked)
    by_query = by_mark = 0
    while True:
        takes_passage = by_query * (1 - share) < by_mark * share or (share > 1 / 2 and not by_query)
        span = next(passages if takes_passage else marked, None) or next(marked if takes_passage else passages, None)
        if span is None:
            return
        if takes_passage:
            by_query += span[1] - span[0]
        else:
            by_mark += span[1] - span[0]
        yield span


def _pack(index: Index, orders: Sequence[Iterator[Span]], max_size: int, measure: Measure) -> list[Span]:
    """Return the ranges that fit, in order of priority. A range that does not fit is left out for a shorter one."""
    gap = measure("\n" + gap_line(len(index.text), len(index.text)))
    shown: list[Span] = []
    for order in orders:
        failed = 0
        for number, span in enumerate(order):
            pieces = _uncovered(span, shown)
            if not pieces:
                continue
            tried = _close_gaps(sorted([*shown, *pieces]), gap)
            size = sum(measure(index.text[start:end]) for start, end in tried) + gap * (len(tried) + 1)
            if size <= max_size:
                shown = tried
            else:
                failed += 1
            if failed > 8 or number >= MAX_CANDIDATES:
                break
    return shown


def _close_gaps(spans: Sequence[Span], least: int) -> list[Span]:
    """Merge ranges with at most `least` characters between them: the line for the omission would be as long."""
    closed: list[Span] = []
    for start, end in spans:
        if closed and start - closed[-1][1] <= least:
            closed[-1] = (closed[-1][0], max(end, closed[-1][1]))
        else:
            closed.append((start, end))
    return closed


def _uncovered(span: Span, shown: Sequence[Span]) -> list[Span]:
    """Return the parts of a range that are not shown yet."""
    pieces, position = [], span[0]
    for start, end in shown:
        if end <= position or start >= span[1]:
            continue
        if start > position:
            pieces.append((position, start))
        position = max(position, end)
    if position < span[1]:
        pieces.append((position, span[1]))
    return pieces
