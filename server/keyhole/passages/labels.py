"""What stands above a passage that is not shown with it: its heading, and the header row of its table. Pure.

A label is ours: it repeats words of the page outside of any verbatim passage, so it goes on the gap line.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from keyhole.passages.find import Index

MAX_HEADING_CHARS = 60
"""Longer headings are cut: search engines show about as much of a title."""
MAX_ROW_CHARS = 160
"""A header row longer than this is left out: half a row names the wrong columns."""
HEADING_SHARE = 0.25
"""A heading may cost this share of the passage it stands above; for a line of ten words it is not worth it."""
TABLE_REACH = 50_000
"""Characters looked back for the top of a table: beyond it the search would cost more than the row tells."""

_INLINE = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)|[*_`\\]+")
_RULE = re.compile(r"\s*\|[\s:|-]+\|?\s*")


def heading_path(index: Index, offset: int) -> tuple[str, ...]:
    """The headings above an offset, outermost first, without the one that stands at it."""
    path: list[str] = []
    number = bisect_right(index.headings_at, offset) - 1
    level = 7
    headings = index.layout.headings
    while number >= 0 and level > 1:
        heading = headings[number]
        if heading.level < level and heading.start < offset:
            path.append(_plain(index.text[heading.start : heading.end]))
            level = heading.level
        number = heading.parent
    return tuple(reversed(path))


def label(index: Index, window: int) -> str:
    """What a gap line before a window says beside its offsets; empty where it would cost too much."""
    start, end = index.starts[window], index.end(window)
    parts = []
    if not index.text.startswith("#", start) and (path := heading_path(index, start)):
        heading = path[-1][:MAX_HEADING_CHARS]
        if heading and len(heading) <= HEADING_SHARE * (end - start):
            parts.append(f" {heading}")
    if row := _header_row(index.text, start, end):
        parts.append(f"\n{row}")
    return "".join(parts)


def _header_row(text: str, start: int, end: int) -> str:
    """The header row of the table that a passage begins in the middle of, else nothing."""
    if text[start : start + 1] != "|":
        return ""
    reach = max(0, start - TABLE_REACH)
    blank = text.rfind("\n\n", reach, start)
    if blank < 0 and reach:
        return ""
    top = blank + 2 if blank >= 0 else 0
    rows = text[top : min(start, top + 2 * MAX_ROW_CHARS)].split("\n", 2)
    long_enough = len(rows) == 3 or top + 2 * MAX_ROW_CHARS > start
    if top >= start or not long_enough or len(rows) < 2 or not _RULE.fullmatch(rows[1]):
        return ""
    return rows[0] if len(rows[0]) <= min(MAX_ROW_CHARS, end - start) else ""


def _plain(heading: str) -> str:
    """A heading line's words, without marks, links and line break."""
    return " ".join(_INLINE.sub(lambda found: found[1] or "", heading.strip().strip("#")).split())
