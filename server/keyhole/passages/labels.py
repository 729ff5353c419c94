"""Label the gap line before a passage: the part of the rest, the heading above it, its term or its header row. Pure.

A label repeats words of the page outside a verbatim passage, so it is part of the gap line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from keyhole.passages.find import Index
from keyhole.passages.split import Heading
from keyhole.text.page_starts import find_page
from keyhole.text.rest import RestLine

MAX_HEADING_CHARS = 60
"""Longer headings are cut. Search engines show about as much of a title."""
MAX_ROW_CHARS = 160
"""A longer header row is omitted: half a row would name the wrong columns."""
MAX_HEADING_LINE_CHARS = 1_000
"""Characters read of a heading line: a line of a megabyte must not be cleaned for every window below it."""
MAX_HEADING_SHARE = 0.25
"""A heading longer than this share of its passage is omitted: above a line of ten words it is not worth its length."""
TABLE_SEARCH_CHARS = 50_000
"""Characters searched backwards for the top of a table, to bound the cost."""

MAX_CARRIER_SHARE = 1.0
"""The same share for a version, a date or a term, without which the passage cannot be understood."""
TERM_SEARCH_CHARS = 6_000
"""Characters searched backwards for the term of a definition. Longer definitions are sections."""

_VERSION = re.compile(
    r"^\W*(?:\w+\s)?v?\d+(?:\.\d+)+[\w+-]*(?=\W*(?:$|\d{4}\b))|\b(?:version|release)\s+v?\d"
    r"|\b(?:19|20)\d\d-\d\d-\d\d\b", re.IGNORECASE,
)  # fmt: skip
"""A version or a date, without which an entry of a changelog cannot be understood; not the number of a section."""
_INSIDE_DEFINITION = re.compile(r"\n(?:: |  |\n|[ \t]*(?:`{3}|~{3}))")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_MARK = re.compile(r"(`+)(.+?)\1|\\(.)|\*+")
"""Inline code, an escaped sign, or the stars of emphasis. Underscores are part of names."""
_NOT_A_ROW = re.compile(r"\n(?![ \t]*\|)")
_RULE = re.compile(r"\s*\|[\s:|-]+\|?\s*")


def _headings_above(index: Index, offset: int) -> list[Heading]:
    """Return the headings whose sections contain an offset, outermost first."""
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


def gap_label(index: Index, window: int, shown: Sequence[tuple[int, int]] = (), end: int | None = None) -> str:
    """Return the label of the gap line before a window; "" if it would be too long for the passage.

    `end`: where the passage ends within the window; None if it shows the whole window.
    The heading is omitted if one of the `shown` spans, which are in order, contains it. A passage of the rest always
    has the kind of its part, unless the part's line is shown. A passage of a PDF file has its page.
    """
    start = index.starts[window]
    end = index.end(window) if end is None else min(end, index.end(window))
    parts = []
    part = _part_of_rest(index, start)
    if part and part.start < start and not _is_shown(part.start, shown):
        parts.append(f" [rest: {part.kind}]")
    if page := find_page(index.pages, start) if part is None else "":
        parts.append(f" [page {page}]")
    if not index.text.startswith("#", start) and (path := _headings_above(index, start)):
        nearest = path[-1]
        heading = _plain_heading(index, nearest)[:MAX_HEADING_CHARS]
        is_part = part is not None and nearest.start <= part.start
        share = MAX_CARRIER_SHARE if _VERSION.search(heading) else MAX_HEADING_SHARE
        is_short = len(heading) <= share * (end - start)
        if heading and is_short and not is_part and not _is_shown(nearest.start, shown):
            parts.append(f" {heading}")
    term = _find_term(index.text, start)
    if term and not _is_shown(term[0], shown):
        words = _to_plain(index.text[slice(*term)].strip())[:MAX_HEADING_CHARS]
        parts += [f" {words}"] if words and len(words) <= MAX_CARRIER_SHARE * (end - start) else []
    if row := _header_row(index.text, start, end):
        parts.append(f"\n{row}")
    return "".join(parts)


def _part_of_rest(index: Index, offset: int) -> RestLine | None:
    """Return the line above the part of the rest that contains an offset, None within the main part."""
    if index.main_end is None or offset < index.main_end:
        return None
    number = bisect_right(index.rest_lines, offset, key=lambda line: line.start) - 1
    return index.rest_lines[number] if number >= 0 else None


def _is_shown(offset: int, shown: Sequence[tuple[int, int]]) -> bool:
    """Return whether one of the spans, which are in order, contains an offset."""
    before = bisect_right(shown, offset, key=lambda span: span[0]) - 1
    return before >= 0 and shown[before][1] > offset


def _header_row(text: str, start: int, end: int) -> str:
    """Return the header row of a table if the passage begins in the middle of it, else ""."""
    if text[start : start + 1] != "|":
        return ""
    search_start = max(0, start - TABLE_SEARCH_CHARS)
    blank = text.rfind("\n\n", search_start, start)
    if blank < 0 and search_start:
        return ""
    top = blank + 2 if blank >= 0 else 0
    rows = text[top : min(start, top + 2 * MAX_ROW_CHARS)].split("\n", 2)
    has_rows = len(rows) == 3 or top + 2 * MAX_ROW_CHARS > start
    if _NOT_A_ROW.search(text, top, start - 1):
        return ""
    if top >= start or not has_rows or len(rows) < 2 or not _RULE.fullmatch(rows[1]):
        return ""
    return rows[0] if len(rows[0]) <= min(MAX_ROW_CHARS, end - start) else ""


def _find_term(text: str, start: int) -> tuple[int, int] | None:
    """Return the offsets of the term of the definition in which a passage begins, None if it begins elsewhere."""
    begin = max(0, start - TERM_SEARCH_CHARS)
    sign = text.rfind("\n: ", begin, start + 3)
    if sign <= 0 or (text[start - 1] == "\n" and not text.startswith(("  ", ": "), start)):
        return None
    at = text.find("\n", sign + 1, start)
    while at >= 0:  # each further line of a definition is indented or empty
        if at + 1 < start and not _INSIDE_DEFINITION.match(text, at):
            return None
        at = text.find("\n", at + 1, start)
    line = text.rfind("\n", begin, sign) + 1
    return None if text.startswith((": ", "  ", "#"), line) else (line, sign)


def _plain_heading(index: Index, heading: Heading) -> str:
    """Return a heading's words without Markdown marks, links and line break."""
    line = index.text[heading.start : min(heading.end, heading.start + MAX_HEADING_LINE_CHARS)]
    return _to_plain(line.strip().strip("#"))


def _to_plain(line: str) -> str:
    """Return the words of a line without Markdown marks and links."""
    line = _LINK.sub(r"\1", line)
    return " ".join(_MARK.sub(lambda mark: mark[2] or mark[3] or "", line).split())
