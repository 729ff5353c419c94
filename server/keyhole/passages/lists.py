"""Find the list that contains a passage, with the line that introduces it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from keyhole.passages.gaps import Span
from keyhole.passages.indented_lines import Line, line_at, lines_above, lines_below

MAX_LIST_CHARS: Final = 3_000
"""Characters searched on each side of a passage for the ends of its list: a third of a result of the default size."""

MAX_LEAD_IN_CHARS: Final = 600
"""Characters of the paragraph that introduces a list, at most: the length of five lines."""

_ITEM: Final = re.compile(r"^[ \t]{0,12}((?:[-*+•]|\d{1,3}[.)])[ \t]+\S)", re.MULTILINE)


def find_list(text: str, start: int, end: int) -> Span | None:
    """Return the list that contains an item of `text[start:end]`, with the paragraph above it if it ends in a colon.

    None if the passage has no item, or the list has one item or reaches further than `MAX_LIST_CHARS`.
    """
    found = _ITEM.search(text, text.rfind("\n", 0, start) + 1, end)
    if found is None:
        return None
    first = line_at(text, found.start(1))
    above = _follow(text, first, lines_above(text, first, 0))
    below = _follow(text, first, lines_below(text, first, len(text)))
    if above is None or below is None or above[1] + below[1] == 0:
        return None
    return _with_lead_in(text, above[0].begin), min(len(text), below[0].end + 1)


def _follow(text: str, first: Line, lines: Iterable[Line]) -> tuple[Line, int] | None:
    """Return the last of the lines that belongs to the list of the item `first`, and the number of items up to it.

    `lines`: the lines above or below the item. None if the list reaches too far.
    """
    last, items = first, 0
    for line in lines:
        if abs(line.begin - first.begin) > MAX_LIST_CHARS:
            return None
        if line.is_blank:
            continue
        is_item = line.indent == first.indent and _ITEM.match(text, line.begin)
        if line.indent <= first.indent and not is_item:
            break
        if is_item:
            items += 1
        if is_item or line.begin > first.begin:
            last = line
    return last, items


def _with_lead_in(text: str, top: int) -> int:
    """Return where the paragraph above a list begins if it introduces the list, else where the list begins."""
    limit = max(0, top - MAX_LEAD_IN_CHARS)
    before = text[limit:top].rstrip()
    blank = before.rfind("\n\n")
    return limit + blank + 2 if blank >= 0 and before.endswith((":", "：")) else top
