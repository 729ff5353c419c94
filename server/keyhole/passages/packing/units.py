"""Complete what belongs together: code blocks and tables with the sentence that introduces them, and short sections.

The order of the windows does not depend on the size limit, except for what is completed at its end. So a larger limit
still shows everything that a smaller one shows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

from keyhole.passages.find import Index
from keyhole.passages.rank import WindowScores

SHORT_SECTION_CHARS: Final = 1_000
"""A section of at most this length is shown whole: in manuals it is often the answer as a whole."""

UNIT_DIVISOR: Final = 3
"""A unit is at most one part in this many of a result."""

SMALL_CHARS: Final = 350
"""A unit is completed at once if this many characters or fewer are missing: the length of a window."""

MIN_SCORE_SHARE: Final = 0.5
"""Only the units of windows with this share of the best score are completed."""

SHORT_BLOCK_CHARS: Final = 1_400
"""A code block or table of at most this length is completed for every window: a part of it seldom has a use."""

MAX_WAITING: Final = 20
"""Units that wait to be completed, at most. It bounds the time per window."""


def complete_units(scored: WindowScores, order: Iterable[int], max_chars: int) -> Iterator[int]:
    """Yield the windows of `order`, with the missing windows of a unit as soon as they are a small part of the result.

    Units that still wait at the end of `order` are completed if they are at most a third of `max_chars`, short ones
    first.
    """
    index, scores = scored.index, scored.scores
    least = MIN_SCORE_SHARE * max(scores)
    shown: set[int] = set()
    waiting: dict[range, None] = {}
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
        if len(waiting) < MAX_WAITING:
            units = units_of(index, window)
            waiting |= dict.fromkeys(unit for unit in units if scores[window] >= least or _is_short_block(index, unit))
        for unit in list(waiting):
            missing = _size(index, (each for each in unit if each not in shown))
            if missing <= max(SMALL_CHARS, chars // (UNIT_DIVISOR - 1)):
                del waiting[unit]
                yield from show(unit)
    for unit in sorted(waiting, key=lambda unit: _size(index, unit)):
        if _size(index, unit) <= max_chars // UNIT_DIVISOR:
            yield from show(unit)


def units_of(index: Index, window: int) -> Iterator[range]:
    """Yield the units that contain a window, each as a range of windows.

    They are the beginning of a code block or table with the sentence before it, the whole block with that sentence,
    and the section.
    """
    number = bisect_right(index.blocks, index.end(window), key=lambda block: block[0]) - 1
    if number >= 0 and index.blocks[number][1] > index.starts[window]:
        start, end = index.blocks[number]
        first, last = index.window_at(start), index.window_at(end - 1)
        lead_in = first - _has_lead_in(index, number, first)
        if window <= first:
            yield range(lead_in, first + 1)
        yield range(lead_in, last + 1)
    if section := _section(index, window):
        yield section


def _is_short_block(index: Index, unit: range) -> bool:
    """Return whether a unit is a code block or a table of at most `SHORT_BLOCK_CHARS`."""
    start, end = index.starts[unit.start], index.end(unit[-1])
    number = bisect_right(index.blocks, end, key=lambda block: block[0]) - 1
    return end - start <= SHORT_BLOCK_CHARS and number >= 0 and index.blocks[number][1] > start


def _has_lead_in(index: Index, number: int, first: int) -> bool:
    """Return whether the window before a block, whose first window is `first`, has the sentence that introduces it."""
    begins_window = index.blocks[number][0] == index.starts[first]
    follows_block = number > 0 and index.blocks[number - 1][1] > index.starts[first - 1]
    return first > 0 and begins_window and not follows_block


def _section(index: Index, window: int) -> range | None:
    """Return the windows of the section that contains the window, without its subsections; None if it is long."""
    number = bisect_right(index.headings_at, index.starts[window]) - 1
    if number < 0:
        return None
    start = index.headings_at[number]
    end = index.headings_at[number + 1] if number + 1 < len(index.headings_at) else len(index.text)
    if end - start > SHORT_SECTION_CHARS:
        return None
    return range(index.window_at(start), index.window_at(end - 1) + 1)


def _size(index: Index, windows: Iterable[int]) -> int:
    """Return the characters of windows."""
    return sum(index.end(window) - index.starts[window] for window in windows)
