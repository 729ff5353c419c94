"""Complete what belongs together: code blocks, tables, definitions, lists and short sections, with their lead-ins.

The order of the windows does not depend on the size limit, except for what is completed at its end. So a larger limit
still shows everything that a smaller one shows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator
from typing import Final, NamedTuple

from keyhole.passages.carriers import find_entry
from keyhole.passages.gaps import Span
from keyhole.passages.indented_lines import line_at
from keyhole.passages.index import Index
from keyhole.passages.lists import find_list
from keyhole.passages.rank import WindowScores

SHORT_SECTION_CHARS: Final = 1_000
"""A section of at most this length is shown whole: in manuals it is often the answer as a whole."""

UNIT_DIVISOR: Final = 3
"""A unit takes at most a third of a result."""

SMALL_CHARS: Final = 350
"""A unit is completed at once if this many characters or fewer are missing: the length of a window."""

MIN_SCORE_SHARE: Final = 0.5
"""Only the units of windows with this share of the best score are completed."""

SHORT_BLOCK_CHARS: Final = 1_400
"""A code block or table of at most this length is completed for every window: a part of it seldom has a use."""

MAX_WAITING: Final = 20
"""Maximum number of units that wait to be completed, to bound the time per window."""

MIN_ANSWER_SHARE: Final = 0.6
"""A heading with this share of the query's weight is what was asked for, and its section is completed."""

MAX_NESTED: Final = 30
"""Definitions before a passage that are examined: a definition may contain others."""

MAX_UNIT_CHARS: Final = 20_000
"""A longer unit is never completed: it is more than a third of nearly every result."""

MAX_ENTRY_CHARS: Final = 600
"""An entry of at most this length between two shown entries of its kind is shown too: a long setting of a manual. It
adds 0.2 % to a result."""
NEAR: Final = (-3, -2, 2, 3)
"""Distances between two windows with an entry of one or two windows between them."""

_ENTRY = re.compile(
    r"(?P<item>[-*+•] )|(?P<number>\d{1,3}[.)] )|(?P<row>\|)|(?P<heading>#{1,6} )|(?P<term>[^\n]{1,200}\n[ \t]{0,12}: )"
)
"""The first line of an entry: an item, a row, a heading, or a term with its description below it."""


class Unit(NamedTuple):
    """The windows `[first, last]` of a unit.

    `is_block`: True for a short code block or table. `is_list`: True for a list, which is completed with the space that
    is left at the end: completed at once, lists displace other places that answer.
    """

    first: int
    last: int
    is_block: bool = False
    is_list: bool = False


def complete_units(scored: WindowScores, order: Iterable[int], max_chars: int) -> Iterator[int]:
    """Yield the windows of `order`, with the missing windows of a unit as soon as they are a small part of the result.

    Units that still wait at the end of `order` are completed if they are at most a third of `max_chars`, short ones
    first.
    """
    index, scores = scored.index, scored.scores
    least = MIN_SCORE_SHARE * max(scores)
    shown: set[int] = set()
    waiting: dict[Unit, None] = {}
    chars = 0

    def show(windows: Iterable[int]) -> Iterator[int]:
        nonlocal chars
        for window in windows:
            if window not in shown:
                shown.add(window)
                chars += index.end(window) - index.starts[window]
                yield window

    for window in order:
        yield from show((window,))
        yield from show(_entries_beside(index, window, shown))
        if len(waiting) < MAX_WAITING:
            section = _section(scored, window)
            units = (*units_of(index, window), *((section,) if section else ()))
            waiting |= dict.fromkeys(unit for unit in units if scores[window] >= least or unit.is_block)
        for unit in list(waiting):
            windows = range(unit.first, unit.last + 1)
            missing = sum(index.end(each) - index.starts[each] for each in windows if each not in shown)
            if missing <= max(SMALL_CHARS, 0 if unit.is_list else chars // (UNIT_DIVISOR - 1)):
                del waiting[unit]
                yield from show(windows)
    for unit in sorted(waiting, key=lambda unit: _size(index, unit)):
        if _size(index, unit) <= max_chars // UNIT_DIVISOR:
            yield from show(range(unit.first, unit.last + 1))


def _entries_beside(index: Index, window: int, shown: Container[int]) -> list[int]:
    """Return the windows of short entries between `window` and shown windows that begin with an entry of its kind."""
    found: list[int] = []
    for other in (window + step for step in NEAR if window + step in shown):
        between = range(min(window, other) + 1, max(window, other))
        start, end = index.starts[between[0]], index.end(between[-1])
        kind = _kind_of_entry(index, start) if end - start <= MAX_ENTRY_CHARS else None
        if kind is not None and kind == _kind_of_entry(index, end):
            found += between
    return found


def _kind_of_entry(index: Index, start: int) -> tuple[str, int] | None:
    """Return the kind of the entry that begins at an offset, with its indent or level; None if none begins there."""
    text = index.text
    line = line_at(text, start)
    if text[line.begin : start].strip():
        return None
    if index.code_at(line.start):
        number = bisect_right(index.layout.json_items, line.start, key=lambda item: item.start) - 1
        item = index.layout.json_items[number] if number >= 0 else None
        return ("json", item.parent) if item and item.start == line.start else None
    entry = _ENTRY.match(text, line.start)
    if entry is None or entry.lastgroup is None:
        return None
    return entry.lastgroup, len(entry[0]) if entry.lastgroup == "heading" else line.indent


def complete_range(index: Index, start: int, end: int) -> Span:
    """Return a range with the rest of the definition, code block or table in which it begins, and in which it ends.

    Of each it adds at most `SMALL_CHARS`.
    """
    # A block may stand in a definition, and that in another.
    for first, last in (*_spans_at(index, start), *_spans_at(index, end)):
        if first < start < last and start - first <= SMALL_CHARS:
            start = first
        if first < end < last and last - end <= SMALL_CHARS:
            end = last
    return start, end


def _spans_at(index: Index, offset: int) -> Iterator[Span]:
    """Yield the code block or table that contains an offset, and then its definitions, innermost first."""
    if block := index.block_at(offset):
        yield block
    number = bisect_right(index.definitions, offset, key=lambda span: span[0])
    yield from index.definitions[max(0, number - MAX_NESTED) : number][::-1]


def units_of(index: Index, window: int) -> Iterator[Unit]:
    """Yield the units that contain a window.

    They are the beginning of a code block or table with the sentence before it, the whole block with that sentence,
    the list, and the definitions.
    """
    start, end = index.starts[window], index.end(window)
    for unit in (*_blocks(index, window), *_definitions(index, start, end), *_lists(index, start, end)):
        if _size(index, unit) <= MAX_UNIT_CHARS:
            yield unit


def _blocks(index: Index, window: int) -> Iterator[Unit]:
    number = bisect_right(index.blocks, index.end(window), key=lambda block: block[0]) - 1
    if number < 0 or index.blocks[number][1] <= index.starts[window]:
        return
    start, end = index.blocks[number]
    unit = _unit(index, start, end)
    lead_in = unit.first - _has_lead_in(index, number, unit.first)
    if window <= unit.first:
        yield Unit(lead_in, unit.first)
    whole = Unit(lead_in, unit.last)
    yield whole._replace(is_block=_size(index, whole) <= SHORT_BLOCK_CHARS)


def _definitions(index: Index, start: int, end: int) -> Iterator[Unit]:
    """Yield the definitions that contain a part of a range and reach out of it, innermost first."""
    number = bisect_right(index.definitions, end - 1, key=lambda span: span[0])
    for first, last in index.definitions[max(0, number - MAX_NESTED) : number][::-1]:
        if last > start and not (start <= first and last <= end):
            yield _unit(index, first, last)


def _lists(index: Index, start: int, end: int) -> Iterator[Unit]:
    if found := find_list(index.text, start, end):
        yield _unit(index, *found)._replace(is_list=True)


def _has_lead_in(index: Index, number: int, first: int) -> bool:
    """Return whether the sentence that introduces a block is in the window before `first`, the block's first window."""
    begins_window = index.blocks[number][0] == index.starts[first]
    follows_block = number > 0 and index.blocks[number - 1][1] > index.starts[first - 1]
    return first > 0 and begins_window and not follows_block


def _section(scored: WindowScores, window: int) -> Unit | None:
    """Return the section that contains a window, without its subsections; None if it need not be completed.

    A section is completed if its heading has the words of the query, or if it is short and no entry of a changelog.
    """
    index = scored.index
    number = bisect_right(index.headings_at, index.starts[window]) - 1
    if number < 0:
        return None
    heading = index.layout.headings[number]
    end = index.headings_at[number + 1] if number + 1 < len(index.headings_at) else len(index.text)
    if _answers(scored, number) and end - heading.start <= MAX_UNIT_CHARS:
        return _unit(index, heading.start, end)
    is_short = end - heading.start <= SHORT_SECTION_CHARS
    return _unit(index, heading.start, end) if is_short and not find_entry([heading], index.text) else None


def _answers(scored: WindowScores, number: int) -> bool:
    """Return whether a heading has most of the words of the query, weighed by their rarity."""
    found = sum(
        idf * min(1.0, hits.headings.get(number, 0.0)) for idf, hits in zip(scored.idf, scored.hits, strict=True)
    )
    return found >= MIN_ANSWER_SHARE * scored.query_weight


def _unit(index: Index, start: int, end: int) -> Unit:
    return Unit(index.window_at(start), index.window_at(end - 1))


def _size(index: Index, unit: Unit) -> int:
    """Return the characters of a unit's windows."""
    return index.end(unit.last) - index.starts[unit.first]
