"""Find the list that contains a passage, with the line that introduces it. Pure."""

from __future__ import annotations

import re
from typing import Final

from keyhole.passages.index import Span

MAX_LIST_CHARS: Final = 3_000
"""Characters searched on each side of a passage for the ends of its list: a third of a result of the default size."""

_ITEM: Final = re.compile(r"^( {0,12})(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)


def find_list(text: str, start: int, end: int) -> Span | None:
    """Return the list that contains an item of `text[start:end]`, with the paragraph above it if it ends in a colon.

    None if the passage has no item, or the list has one item or reaches further than `MAX_LIST_CHARS`.
    """
    begin = text.rfind("\n", 0, start) + 1
    first = _ITEM.search(text, begin, end)
    if first is None:
        return None
    indent = len(first[1])
    top = _search_up(text, first.start(), indent)
    bottom = _search_down(text, first.start(), indent)
    if (
        top is None
        or bottom is None
        or sum(1 for item in _ITEM.finditer(text, top, bottom) if len(item[1]) == indent) < 2
    ):
        return None
    return _with_lead_in(text, top), bottom


def _search_up(text: str, start: int, indent: int) -> int | None:
    """Return where the first item of the list begins, None if that is too far."""
    top = line = start
    limit = start - MAX_LIST_CHARS
    while line > 0:
        line = text.rfind("\n", 0, line - 1) + 1
        if line < limit:
            return None
        words = text[line : line + 16].split("\n", 1)[0]
        if not words.strip():
            continue
        own = len(words) - len(words.lstrip(" "))
        item = _ITEM.match(text, line)
        if item and len(item[1]) == indent:
            top = line
        elif own <= indent:
            break
    return top


def _search_down(text: str, start: int, indent: int) -> int | None:
    """Return where the list ends, None if that is too far."""
    limit = start + MAX_LIST_CHARS
    bottom = line = start
    while line < len(text):
        if line > limit:
            return None
        newline = text.find("\n", line)
        after = len(text) if newline < 0 else newline + 1
        words = text[line : min(after, line + 16)]
        if words.strip():
            own = len(words) - len(words.lstrip(" "))
            item = _ITEM.match(text, line)
            if line > start and own <= indent and not (item and len(item[1]) == indent):
                break
            bottom = after
        line = after
    return bottom


def _with_lead_in(text: str, top: int) -> int:
    """Return where the paragraph above a list begins if it introduces the list, else where the list begins."""
    before = text[max(0, top - 600) : top].rstrip()
    if not before.endswith((":", "：")):
        return top
    return max(0, top - 600) + before.rfind("\n\n") + 2 if "\n\n" in before else top
