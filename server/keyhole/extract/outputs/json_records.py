"""Find the records of JSON: the objects of its longest array. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

Span = tuple[int, int]
"""Start and end offsets."""

MAX_JSON_CHARS: Final = 8_000_000
"""Characters of JSON that are read for records: a second. Longer JSON is read by lines."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]')


@dataclass(slots=True)
class _Open:
    """An array or object that is not closed yet."""

    start: int
    is_array: bool
    items: list[Span] = field(default_factory=list)


def find_records(text: str) -> tuple[Span, ...]:
    """Return the spans of the objects and arrays directly inside the array that has most of them.

    Of arrays with equally many, the first outermost one counts. Returns nothing for invalid or very long JSON.
    """
    best: list[Span] = []
    opened: list[_Open] = []
    if len(text) > MAX_JSON_CHARS:
        return ()
    for match in _TOKEN.finditer(text):
        sign = match[0]
        if sign in "[{":
            opened.append(_Open(match.start(), sign == "["))
        elif sign in "]}":
            if not opened:
                return ()
            closed = opened.pop()
            if closed.is_array and len(closed.items) >= len(best):
                best = closed.items
            if opened and opened[-1].is_array:
                opened[-1].items.append((closed.start, match.end()))
    return tuple(best) if len(best) > 1 and not opened else ()
