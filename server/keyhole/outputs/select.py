"""Select the lines of an output: those that answer the query, and those that every reader looks for. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from keyhole.outputs.failures import FAILING_KINDS
from keyhole.outputs.fields import is_part_of_number
from keyhole.outputs.lines import HEAD_SHARE, MAX_LINE, ends_first, lines_with
from keyhole.outputs.output import Mark, Output, OutputPart, Shown
from keyhole.outputs.output_text import OutputText
from keyhole.passages.gaps import Span, gap_line, insert_span, uncovered
from keyhole.text.measure import Measure, fits

if TYPE_CHECKING:
    from keyhole.passages.rank import WindowScores

QUERY_SHARE: Final = 0.7
"""Share of the shown characters for the passages of the query; the rest is for the marked lines."""
FAILURE_WEIGHT: Final = 7.0
"""Weight from which a mark is a failure."""
LINE_WINDOWS: Final = 32
"""The matching lines of this many best windows are shown before any whole window."""
PROSE_KINDS: Final = frozenset({"text", "page", "markdown"})
"""Kinds whose lines are parts of sentences: a line alone answers little."""
PROSE_WINDOWS: Final = 2
"""`LINE_WINDOWS` for `PROSE_KINDS`."""
LINE_WEIGHT: Final = 0.8
"""A matching line is shown alone if it has at least this share of the best line's weight."""
CONTEXT_WEIGHT: Final = 5.5
"""Weight from which the lines around a mark are shown before the ends of the output."""
CONTEXT_LINES: Final = 3
"""Lines before such a mark, and after it."""
MAX_EQUAL_LINES: Final = 3
"""Maximum number of equal matching lines that are shown, such as the kind of each record."""
NAME_WEIGHT: Final = 1.3
"""Factor of a word in the name of a part: a definition of source or a file."""
OPENED_LINES: Final = 2
"""Lines after a line that opens a record of JSON: the first values of the record."""
CHANGES: Final = ("-", "+")
"""Beginnings of the changed lines of a diff."""
PART_FACTOR: Final = 0.95
"""Factor of a word that is only part of a longer word in a line, such as `vite` in `vitest`."""
COMMAND_SHARE: Final = 0.3
"""Share of the shown characters for lines with words of the command, if there is no query."""
SUMMARY_SHARE: Final = 0.12
"""Share of the characters for the summary of what is not shown."""
OUTLINE_SHARES: Final = {"source": 0.3, "diff": 0.15, "grep": 0.25, "listing": 0.25}
"""`SUMMARY_SHARE` for these kinds without a query: their definitions, files or folders are wanted first."""
FAILURE_HEAD_SHARE: Final = 0.25
"""Share of the beginning in what is shown of both ends of an output of `FAILING_KINDS` that has failures."""
FAILED_HEAD_SHARE: Final = 0.15
"""Share of the beginning in what is shown of both ends of a failed section: the failure is at its end."""
TAIL_SHARE: Final = 0.4
"""Share of the limit for the last lines of an output of `FAILING_KINDS` and its last lines with a word of failure: the
first failures are often warnings, and the last ones ended the run."""
MAX_BARE: Final = 40
MIN_SIGNS: Final = 3
"""A range of at most so many characters with fewer letters and digits, such as `E   {...`, is not shown by itself: the
line that names the omission before it would be longer."""
WHOLE_SHARE: Final = 1 / 3
"""A line or record of at most this share of the limit is shown whole."""
MIN_CUT: Final = 120
"""Minimum characters of a range that is cut because the whole of it does not fit."""
MAX_CANDIDATES: Final = 3_000
"""Maximum number of ranges that are tried: a large budget shows some hundreds."""
MAX_FAILED: Final = 8
"""Maximum number of ranges of an order that do not fit. Then no further ones of it are tried."""

_TAG = re.compile(r"<[^<>]*>")
_DIGIT = re.compile(r"\d")
_LIST_NUMBER = re.compile(r"\[\d+\]")


def select_output(
    output: Output,
    query: str | None,
    max_chars: int,
    *,
    command_words: str = "",
    measure: Measure = len,
) -> Shown:
    """Select the ranges of an output that fit `max_chars`, or the whole output if it fits.

    Of an excerpt, the spans and the offsets of omissions are those of the larger text.
    `command_words`: the words of the command that printed the output, which rank its lines if there is no query.
    """
    text = output.text
    stored = output.envelope.stored if output.envelope else text
    if not output.joints and fits(stored, max_chars, measure):
        return Shown(len(stored), ((0, len(stored)),) if stored else (), stored)
    question = (query or "").strip()
    has_failures = any(weight >= FAILURE_WEIGHT for _, _, weight in output.marks) and output.kind in FAILING_KINDS
    shown = OutputText(output, int(max_chars * _summary_share(output, question)), max_chars)
    marked: Iterable[Span] = [(start, end) for start, end, _ in sorted(output.marks, key=lambda mark: -mark[2])]
    if question:
        matching, share = [*output.asked, *_passages(output, question)], QUERY_SHARE
    else:
        matching, share = list(_unrepeated(output, lines_with(text, command_words))), COMMAND_SHARE
    matched = bool(matching)
    order = _interleave(matching, marked, share) if matched else iter(marked)
    sections = chain.from_iterable(ends_first(text, *section, FAILED_HEAD_SHARE) for section in output.failed[::-1])
    orders = (
        iter(output.failures),
        order,
        iter(output.failures),
        _unrepeated(output, _around(text, output.marks)),
        _unrepeated(output, sections),
        _unrepeated(output, ends_first(text, head_share=FAILURE_HEAD_SHARE if has_failures else HEAD_SHARE)),
        ends_first(text),
    )
    whole = [_complete(text, output.records, each, int(max_chars * WHOLE_SHARE)) for each in orders]
    most = max_chars - shown.summary_chars - len(shown.note)
    # If a section of the log failed, its ends are shown only until half of the size is used: they say little.
    # The same limit applies to lines that repeat others.
    # What the marked lines leave is filled with further failures and the lines beside them before anything else.
    limits = (int(most * TAIL_SHARE), most, most, most, most, most // 2 if output.failed else most, most // 2)
    spans = _pack(shown, text, whole, limits, measure)
    return Shown(output.total, shown.stored_places(spans), shown.render(spans), matched)


def _around(text: str, marks: Sequence[Mark]) -> Iterator[Span]:
    """Yield the lines around failures: what was done before, and what followed."""
    for start, end, weight in sorted(marks, key=lambda mark: -mark[2]):
        if weight < CONTEXT_WEIGHT:
            return
        for _ in range(CONTEXT_LINES):
            start = text.rfind("\n", 0, max(0, start - 1)) + 1
            end = text.find("\n", end) + 1 or len(text)
        if end - start <= CONTEXT_LINES * MAX_LINE:
            yield start, end


def _summary_share(output: Output, question: str) -> float:
    return SUMMARY_SHARE if question else OUTLINE_SHARES.get(output.kind, SUMMARY_SHARE)


def _unrepeated(output: Output, spans: Iterable[Span]) -> Iterator[Span]:
    """Yield the ranges without the lines that repeat others."""
    for span in spans:
        yield from uncovered(span, output.repeats)


def _passages(output: Output, question: str) -> Iterator[Span]:
    """Yield the matching lines of the best windows, and then the windows. Yield nothing if no word matches."""
    from keyhole.passages import index_text, rank_windows, score_index  # most calls have no question

    index = index_text(_without_tags(output.text) if output.kind == "page" else output.text)
    scored = score_index(index, question)
    if not scored.stages:
        return
    ranked = rank_windows(scored)[:MAX_CANDIDATES]
    windows = [(scored.index.starts[window], scored.index.end(window)) for window in ranked]
    count = PROSE_WINDOWS if output.kind in PROSE_KINDS else LINE_WINDOWS
    yield from _matching_lines(output, scored, windows[:count])
    for start, end in windows:
        has_number = _has_number(_terms_in(output.text[start:end], scored))
        yield from [(start, end)] if has_number else _unrepeated(output, [(start, end)])


def _has_number(words: Iterable[str]) -> bool:
    return any(_DIGIT.search(word) for word in words)


def _without_tags(page: str) -> str:
    """Return HTML with spaces instead of its tags, scripts and styles, so that offsets stay the same."""
    for name in ("script", "style"):
        kept, position = [], 0
        while (start := page.find(f"<{name}", position)) >= 0 and (end := page.find(f"</{name}", start)) >= 0:
            kept += [page[position:start], " " * (end - start)]
            position = end
        page = "".join([*kept, page[position:]])
    return _TAG.sub(lambda tag: " " * len(tag[0]), page)


def _matching_lines(output: Output, scored: WindowScores, windows: Iterable[Span]) -> Iterator[Span]:
    """Yield the short lines of windows that match most, best first.

    A line that differs from an earlier one only in numbers is yielded only if it has a number of the query.
    """
    found: list[tuple[float, Span]] = []
    for start, end in windows:
        for line_start, line_end in _lines_of(output, start, end):
            terms = _terms_in(output.text[line_start:line_end], scored)
            line = [_with_rest(output, line_start, line_end)]
            shown = line if _has_number(terms) else _unrepeated(output, line)
            found += [(sum(terms.values()), each) for each in shown]
    for part, start in _beginnings(output):
        if weight := sum(_terms_in(_LIST_NUMBER.sub("", part.name), scored).values()):
            line_end = output.text.find("\n", start) + 1 or len(output.text)
            found.append((NAME_WEIGHT * weight, (start, min(line_end, start + MAX_LINE))))
    best = max((weight for weight, _ in found), default=0.0)
    shown_lines: Counter[str] = Counter()
    for weight, line_found in sorted(found, key=lambda each: -each[0]):
        words = output.text[slice(*line_found)]
        if weight > 0 and weight >= LINE_WEIGHT * best and shown_lines[words] < MAX_EQUAL_LINES:
            shown_lines[words] += 1
            yield line_found


def _lines_of(output: Output, start: int, end: int) -> Iterator[Span]:
    """Yield the short lines of a range, and of a long line the short records that reach into the range."""
    while start < end:
        line_end = min(end, output.text.find("\n", start) + 1 or end)
        if line_end - start <= MAX_LINE:
            yield start, line_end
        else:
            first = max(0, bisect_left(output.records, (start + 1, 0)) - 1)
            last = bisect_left(output.records, (line_end, 0))
            yield from (record for record in output.records[first:last] if record[1] - record[0] <= MAX_LINE)
        start = line_end


def _with_rest(output: Output, start: int, end: int) -> Span:
    """Extend a line of JSON by the next one or two lines, and a changed line of a diff by the changes around it."""
    text = output.text
    if output.kind == "json" and text[end - 1] == "\n":
        for _ in range(OPENED_LINES if text[start:end].rstrip()[-1:] in ("{", "[") else 1):
            end = text.find("\n", end) + 1 or len(text)
    elif output.kind == "diff" and text[start] in CHANGES:
        first = max(0, end - MAX_LINE)
        while start > first and text[before := text.rfind("\n", 0, start - 1) + 1] in CHANGES and before >= first:
            start = before
        while text[end : end + 1] in CHANGES and end - start < MAX_LINE:
            end = text.find("\n", end) + 1 or len(text)
    return start, end


def _beginnings(output: Output) -> Iterator[tuple[OutputPart, int]]:
    """Yield each part whose beginning is in the text, with its offset in the text, which may be an excerpt."""
    missing, joints = 0, deque(output.joints)
    for part in output.parts:
        while joints and part.start >= joints[0][0] + missing + joints[0][1]:
            missing += joints.popleft()[1]
        offset = part.start - missing
        if not joints or offset < joints[0][0]:
            yield part, offset


def _terms_in(line: str, scored: WindowScores) -> dict[str, float]:
    """Return the words of the query that a line contains, with their weights."""
    line = line.casefold()
    found = {
        hits.term.surface: weight if _has_word(line, hits.term.surface) else PART_FACTOR * weight
        for hits, weight in zip(scored.hits, scored.idf, strict=True)
        if hits.count and (hits.term.stem in line or hits.term.surface in line)
    }
    # A number is no part of a longer one: 6.4 is not in 16.45.
    return {word: weight for word, weight in found.items() if not word[-1:].isdigit() or _has_number_word(line, word)}


def _has_number_word(line: str, number: str) -> bool:
    """Return whether a line contains a number that is not part of a longer one or of a word."""
    place = line.find(number)
    while place >= 0 and is_part_of_number(line, place, place + len(number)):
        place = line.find(number, place + 1)
    return place >= 0


def _has_word(line: str, word: str) -> bool:
    """Return whether a line contains a word that is not part of a longer word or version."""
    place = line.find(word)
    while place >= 0:
        after = place + len(word)
        if not _is_inner(line[max(0, place - 1) : place]) and not _is_inner(line[after : after + 1]):
            return True
        place = line.find(word, after)
    return False


def _is_inner(character: str) -> bool:
    return character.isalnum() or character == "-"


def _complete(text: str, records: Sequence[Span], order: Iterable[Span], longest: int) -> Iterator[tuple[Span, Span]]:
    """Yield the ranges, extended to whole lines and records of at most `longest` characters, each with the range."""
    starts = [start for start, _ in records]
    for start, end in order:
        core = start, end
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
        yield (start, end), core


def _interleave(passages: Iterable[Span], marked: Iterable[Span], share: float) -> Iterator[Span]:
    """Merge both, each in its order, so that about `share` of the characters come from the passages."""
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
    shown: OutputText, text: str, orders: Sequence[Iterator[tuple[Span, Span]]], limits: Sequence[int], measure: Measure
) -> list[Span]:
    """Add ranges in order of priority while they fit. A range that does not fit is left out; a shorter one may follow.

    `orders`: extended ranges, each with the range itself. The first one of each order is cut if it does not fit.
    `limits`: for each order, the maximum size of all ranges after one of its ranges is added.
    """
    packing = _Packing(shown, text, measure)
    for order, max_size in zip(orders, limits, strict=True):
        failed = 0
        for number, (extended, span) in enumerate(islice(order, MAX_CANDIDATES)):
            is_added = packing.add(extended, max_size) or (not number and packing.add_beginning(span, max_size))
            failed += not is_added
            if failed > MAX_FAILED:
                break
    return packing.spans


class _Packing:
    """Ranges that are shown, to which others are added while they fit."""

    def __init__(self, shown: OutputText, text: str, measure: Measure) -> None:
        self._shown = shown
        self._text = text
        self._measure = measure
        self._gap = measure("\n" + gap_line(len(text), len(text)))
        self._most = 0
        """Upper bound of the size of the ranges. While it fits, they need not be rendered to measure them."""
        self.spans: list[Span] = []

    def add(self, span: Span, max_size: int) -> bool:
        """Add a range if all then fit `max_size`. Return False if they do not. A range that says nothing is skipped."""
        pieces = uncovered(span, self.spans)
        tried = self.spans
        for piece in pieces:
            tried = insert_span(tried, piece, self._gap)
        if not pieces or (len(tried) > len(self.spans) and _is_bare(self._text, pieces)):
            return True
        size = self._most + self._shown.most_chars(pieces) if self._measure is len else max_size + 1
        if size > max_size:
            size = _size_up_to(self._shown, tried, max_size, self._measure)
        if size > max_size:
            return False
        self.spans, self._most = tried, size
        return True

    def add_beginning(self, span: Span, max_size: int) -> bool:
        """Add as much of a range as fits, from its beginning. Return False if there is too little room."""
        room = max_size - self._most - 2 * self._gap
        return room >= MIN_CUT and self.add((span[0], min(span[1], span[0] + room)), max_size)


def _is_bare(text: str, pieces: Sequence[Span]) -> bool:
    """Return whether ranges have so few letters and digits that they say nothing apart from the lines around them."""
    return sum(end - start for start, end in pieces) <= MAX_BARE and (
        sum(sign.isalnum() for start, end in pieces for sign in text[start:end]) < MIN_SIGNS
    )


def _size_up_to(shown: OutputText, spans: Sequence[Span], max_size: int, measure: Measure) -> int:
    """Return the size of ranges as they are shown; if they exceed `max_size`, return any larger number."""
    if sum(end - start for start, end in spans) > max_size or shown.least_chars(spans) > max_size:
        return max_size + 1
    passages = shown.passages(spans)
    return measure(passages) if fits(passages, max_size, measure) else max_size + 1
