"""Select the lines of an output: those that answer the query, and those that every reader looks for. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from keyhole.passages import index_text, rank_windows, score_text
from keyhole.passages.find import Index, Span
from keyhole.passages.packing.one_text import gap_line, head_tail_order
from keyhole.passages.packing.output_text import OutputText
from keyhole.passages.rank import WindowScores
from keyhole.records import Selection
from keyhole.text.measure import Measure, fits
from keyhole.text.output import Output

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

_DIGIT = re.compile(r"\d")


def select_output(
    output: Output,
    query: str | None,
    max_chars: int,
    *,
    command_words: str = "",
    measure: Measure = len,
) -> Selection:
    """Select the ranges of an output that fit `max_chars`, or the whole output if it fits.

    `command_words`: the words of the command that printed the output, which rank its lines if there is no query.
    """
    text = output.text
    if fits(text, max_chars, measure):
        spans = [(0, len(text))] if text else []
        return Selection("whole", len(text), tuple(spans), (0.0,) * len(spans), text)
    question = (query or "").strip()
    words = question or command_words
    scored = score_text(text, words) if words else None
    matched = scored is not None and bool(scored.stages)
    index, shown = index_text(text), OutputText(output, max_chars)
    marked: Iterable[Span] = [(start, end) for start, end, _ in sorted(output.marks, key=lambda mark: -mark[2])]
    query_share = QUERY_SHARE if any(weight >= FAILURE_WEIGHT for _, _, weight in output.marks) else LINE_SHARE
    share = query_share if question else COMMAND_SHARE
    order = _interleave(_passages(output, scored), marked, share) if scored and matched else iter(marked)
    rest = _unrepeated(output, _windows(index, head_tail_order(index)))
    whole = [_complete(text, output.records, each, int(max_chars * WHOLE_SHARE)) for each in (order, rest)]
    spans = _pack(shown, text, whole, max_chars - shown.summary_chars, measure)
    return Selection(
        strategy="passages" if matched or output.marks else "head_tail",
        total=len(text),
        spans=tuple(spans),
        scores=(0.0,) * len(spans),
        text=shown.render(spans),
        matched=matched,
    )


def _windows(index: Index, order: Iterable[int]) -> Iterator[Span]:
    return ((index.starts[window], index.end(window)) for window in order)


def _unrepeated(output: Output, spans: Iterable[Span]) -> Iterator[Span]:
    """Yield the ranges without the lines that repeat others."""
    repeats = output.repeats
    for start, end in spans:
        first = bisect_right(repeats, start, key=lambda repeat: repeat[1])
        last = bisect_left(repeats, end, key=lambda repeat: repeat[0])
        yield from _uncovered((start, end), repeats[first:last])


def _passages(output: Output, scored: WindowScores) -> Iterator[Span]:
    """Yield the matching lines of the best windows, and then the windows."""
    index = scored.index
    ranked = list(islice(rank_windows(scored), MAX_CANDIDATES))
    for window in ranked[:LINE_WINDOWS]:
        yield from _matching_lines(output, scored, index.starts[window], index.end(window))
    yield from _unrepeated(output, _windows(index, ranked))


def _matching_lines(output: Output, scored: WindowScores, start: int, end: int) -> Iterator[Span]:
    """Yield the lines of a window with the most words of the query, if they are short.

    A line that repeats another except for numbers is one of them only if it has a number of the query.
    """
    text, best = scored.index.text, 0
    found: list[Span] = []
    while start < end:
        line_end = min(end, text.find("\n", start) + 1 or end)
        line = text[start:line_end].casefold()
        terms = [
            hits.term for hits in scored.hits if hits.count and (hits.term.stem in line or hits.term.surface in line)
        ]
        if len(terms) > best:
            best, found = len(terms), []
        if len(terms) == best and terms and len(line) <= MAX_LINE:
            is_new = any(_DIGIT.search(term.surface) for term in terms)
            found += [(start, line_end)] if is_new else _unrepeated(output, [(start, line_end)])
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


def _pack(
    shown: OutputText, text: str, orders: Sequence[Iterator[Span]], max_size: int, measure: Measure
) -> list[Span]:
    """Return the ranges that fit, in order of priority. A range that does not fit is left out for a shorter one."""
    gap = measure("\n" + gap_line(len(text), len(text)))
    packed: list[Span] = []
    for order in orders:
        failed = 0
        for number, span in enumerate(order):
            pieces = _uncovered(span, packed)
            if not pieces:
                continue
            tried = _close_gaps(sorted([*packed, *pieces]), gap)
            if fits(shown.passages(tried), max_size, measure):
                packed = tried
            else:
                failed += 1
            if failed > 8 or number >= MAX_CANDIDATES:
                break
    return packed


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
