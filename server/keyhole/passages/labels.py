"""What stands above a passage that is not shown with it: its heading, and the header row of its table. Pure.

A label is ours: it repeats words of the page outside of any verbatim passage, so it goes on the gap line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from keyhole.passages.find import Index
from keyhole.passages.split import Heading

MAX_HEADING_CHARS = 60
"""Longer headings are cut: search engines show about as much of a title."""
MAX_ROW_CHARS = 160
"""A header row longer than this is left out: half a row names the wrong columns."""
READ_HEADING_CHARS = 1_000
"""Looked at of a heading line: a line of a megabyte must not be cleaned for every window below it."""
HEADING_SHARE = 0.25
"""A heading may cost this share of the passage it stands above; for a line of ten words it is not worth it."""
TABLE_REACH = 50_000
"""Characters looked back for the top of a table: beyond it the search would cost more than the row tells."""

_INLINE = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)|[*_`\\]+")
_NOT_A_ROW = re.compile(r"\n(?![ \t]*\|)")
_RULE = re.compile(r"\s*\|[\s:|-]+\|?\s*")


def _headings_above(index: Index, offset: int) -> list[Heading]:
    path: list[Heading] = []
    number = bisect_right(index.headings_at, offset) - 1
    level = 7
    headings = index.layout.headings
    while number >= 0 and level > 1:
        heading = headings[number]
        if heading.level < level and heading.start < offset:
            path.append(heading)
            level = heading.level
        number = heading.parent
    return path[::-1]


def label(index: Index, window: int, shown: Sequence[tuple[int, int]] = ()) -> str:
    """What a gap line before a window says beside its offsets; empty where it would cost too much.

    The heading is left out where it stands in one of the spans `shown` before, which are in order.
    """
    start, end = index.starts[window], index.end(window)
    parts = []
    if not index.text.startswith("#", start) and (path := _headings_above(index, start)):
        nearest = path[-1]
        before = bisect_right(shown, (nearest.start, len(index.text) + 1)) - 1
        heading = _plain(index, nearest)[:MAX_HEADING_CHARS]
        seen = before >= 0 and shown[before][1] > nearest.start
        if heading and not seen and len(heading) <= HEADING_SHARE * (end - start):
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
    if _NOT_A_ROW.search(text, top, start - 1):
        return ""
    if top >= start or not long_enough or len(rows) < 2 or not _RULE.fullmatch(rows[1]):
        return ""
    return rows[0] if len(rows[0]) <= min(MAX_ROW_CHARS, end - start) else ""


def _plain(index: Index, heading: Heading) -> str:
    """A heading line's words, without marks, links and line break."""
    line = index.text[heading.start : min(heading.end, heading.start + READ_HEADING_CHARS)]
    return " ".join(_INLINE.sub(lambda found: found[1] or "", line.strip().strip("#")).split())
