"""Read a text in windows."""

from __future__ import annotations

from keyhole.records import Window
from keyhole.text.measure import Measure, fit_forward

MIN_WINDOW = 500
"""Minimum characters of an omitted range with a call of its own. A shorter range is read with the text after it."""


def read_window(
    text: str,
    offset: int,
    limit: int | None,
    max_size: int,
    measure: Measure,
    *,
    base: int = 0,
    total: int | None = None,
) -> Window:
    """Return the window from `offset` of at most `limit` characters and size `max_size`, and at least one character.

    A window that `max_size` cuts ends at a line break if there is one in its last quarter. `text` may be a part of a
    text of `total` characters, starting at `base`; `max_window_chars` returns how long the part must be.
    """
    total = base + len(text) if total is None else total
    start = min(max(0, offset), total)
    limit = None if limit is None else max(1, limit)
    # Measure the window in one piece first: its pieces may add up to more, and then it would be cut although it fits.
    if limit is not None and limit <= max_size and measure(text[start - base : start - base + limit]) <= max_size:
        return Window(start, max(min(start + limit, total), min(start + 1, total)), total)
    end = base + fit_forward(text, start - base, max_size, measure)
    if end < total:
        newline = text.rfind("\n", start - base + (end - start) * 3 // 4, end - base)
        end = base + newline + 1 if newline >= 0 else end
    return Window(start, max(end, min(start + 1, total)), total)


def next_window(
    text: str, start: int, end: int, max_size: int, measure: Measure, *, base: int = 0, total: int | None = None
) -> Window:
    """Return the window that a call for the omitted range `start:end` will show. `base`, `total`: as in `read_window`.

    The window ends with the range, unless the range is shorter than `MIN_WINDOW`.
    """
    limit = end - start if end - start >= MIN_WINDOW else None
    return read_window(text, start, limit, max_size, measure, base=base, total=total)


def quote_window(text: str, span: tuple[int, int], context: int, max_size: int, measure: Measure) -> Window:
    """Return the window with a quote at `span` and at most `context` characters on either side.

    The context before the quote gets at most half of the size that remains, so that a small window shows the quote.
    """
    quote_start, quote_end = span
    before = text[max(0, quote_start - context) : quote_start]
    left = max(0, max_size - measure(text[quote_start:quote_end]))
    start = quote_start - fit_forward(before[::-1], 0, left // 2, measure)
    return read_window(text, start, quote_end + context - start, max_size, measure)


def max_window_chars(limit: int | None, max_size: int) -> int:
    """Return the most characters that a window can have; the size of a character is at least 1."""
    return max(1, max_size if limit is None else min(limit, max_size))
