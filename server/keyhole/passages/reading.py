"""Reading a text in order, and finding a quote in it. No query and no scores here."""

from __future__ import annotations

import re

from keyhole.records import Quote, Window
from keyhole.text.measure import Measure, fit_forward


def window(
    text: str,
    offset: int,
    limit: int | None,
    room: int,
    measure: Measure,
    *,
    base: int = 0,
    total: int | None = None,
) -> Window:
    """What can be read from `offset`: at most `limit` characters and `room`, at least one character.

    Where the room ends it and not the limit, it ends with a line if one ends in its last quarter. `text` may be only
    what stands from `base` on of `total` characters; `reach` says how much of it is looked at.
    """
    total = base + len(text) if total is None else total
    start = min(max(0, offset), total)
    limit = None if limit is None else max(1, limit)
    # Asked first whether all of it fits: pieces together may take more, and a window that was named must come whole.
    if limit is not None and limit <= room and measure(text[start - base : start - base + limit]) <= room:
        return Window(start, max(min(start + limit, total), min(start + 1, total)), total)
    end = base + fit_forward(text, start - base, room, measure)
    if end < total:
        newline = text.rfind("\n", start - base + (end - start) * 3 // 4, end - base)
        end = base + newline + 1 if newline >= 0 else end
    return Window(start, max(end, min(start + 1, total)), total)


def around(text: str, quote: Quote, context: int, room: int, measure: Measure) -> Window:
    """The quote with at most `context` characters on either side. What comes before it takes at most half of the room
    that the quote leaves, so that a small room shows the quote and not what leads to it."""
    before = text[max(0, quote.start - context) : quote.start]
    left = max(0, room - measure(text[quote.start : quote.end]))
    start = quote.start - fit_forward(before[::-1], 0, left // 2, measure)
    return window(text, start, quote.end + context - start, room, measure)


def reach(limit: int | None, room: int) -> int:
    """Characters from its start that a window looks at: no character takes less room than one."""
    return max(1, room if limit is None else min(limit, room))


def find_quote(text: str, quote: str) -> Quote | None:
    """Where a quote stands: exactly, else with only letters and digits compared, ignoring case."""
    at = text.find(quote)
    if at >= 0:
        return Quote(at, at + len(quote), exact=True)
    words = [re.escape(word) for word in re.findall(r"\w+", quote)]
    if not words:
        return None
    match = re.search(r"\W+".join(words), text, re.IGNORECASE)
    return Quote(match.start(), match.end(), exact=False) if match else None
