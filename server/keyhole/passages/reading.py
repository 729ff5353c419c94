"""Reading a text in order, and finding a quote in it. No query and no scores here."""

from __future__ import annotations

import re

from keyhole.measure import Measure, fit_forward
from keyhole.records import Quote, Window


def window(text: str, offset: int, limit: int | None, room: int, measure: Measure) -> Window:
    """What can be read from `offset`: at most `limit` characters and `room`, at least one character.

    Where the room ends it and not the limit, it ends with a line if one ends in its last quarter.
    """
    start = min(max(0, offset), len(text))
    end = fit_forward(text, start, room, measure)
    if limit is not None and start + limit <= end:
        end = start + limit
    elif end < len(text):
        newline = text.rfind("\n", start + (end - start) * 3 // 4, end)
        end = newline + 1 if newline >= 0 else end
    return Window(start, max(end, min(start + 1, len(text))), len(text))


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
