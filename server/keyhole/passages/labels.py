"""Label the gap line before a passage: the part of the rest, the heading above it, its term or its header row. Pure.

A label repeats words of the page outside a verbatim passage, so it is part of the gap line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from keyhole.passages.carriers import (
    find_documented,
    find_entry,
    find_group,
    find_header,
    find_post,
    find_signature,
    find_terms,
)
from keyhole.passages.gaps import Span
from keyhole.passages.index import Index
from keyhole.passages.json_items import find_address
from keyhole.passages.split import Heading
from keyhole.text.measure import Measure, fits
from keyhole.text.page_structure import RestLine, find_page

MAX_HEADING_CHARS = 60
"""Longer headings are cut. Search engines show about as much of a title."""
MAX_ROW_CHARS = 300
"""The cells of a longer header row are cut, so that each column keeps its name."""
MIN_CELL_CHARS = 4
MAX_HEADING_LINE_CHARS = 1_000
"""Characters read of a heading line: a line of a megabyte must not be cleaned for every window below it."""
MAX_HEADING_SHARE = 0.25
"""A heading longer than this share of its passage is omitted: above a line of ten words it is not worth its length.
A carrier is always named, because without it the passage cannot be understood."""
MAX_OUTLINE = 500
"""Headings of an omitted range that may be named: more do not fit a tenth of the largest results."""
BETWEEN = " › "

_ITEM_MARK = re.compile(r"^[-*+•]\s+")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_MARK = re.compile(r"(`{1,8})(.+?)\1|\\(.)|\*+")
"""Inline code, an escaped sign, or the stars of emphasis. Underscores are part of names."""


def _headings_above(index: Index, offset: int) -> list[Heading]:
    """Return the headings above an offset whose sections contain it, outermost first."""
    path: list[Heading] = []
    number = bisect_right(index.headings_at, offset) - 1
    own = index.heading_at(offset)
    level = own.level if own else 7
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
    return range_label(index, start, end, shown)


def range_label(index: Index, start: int, end: int, shown: Sequence[tuple[int, int]] = ()) -> str:
    """Return the label of the gap line before a range, which need not be a window; otherwise as `gap_label`."""
    parts = []
    part = _part_of_rest(index, start)
    if part and part.start < start and not _is_shown(part.start, shown):
        parts.append(f" [rest: {part.kind}]")
    if page := find_page(index.pages, start) if part is None else "":
        parts.append(f" [page {page}]")
    names = _section_names(index, start, end - start, shown, part)
    names += [
        words
        for term in _carriers(index, start, end, part)
        if not _is_shown(term[0], shown)
        and (words := _to_plain(_ITEM_MARK.sub("", index.text[slice(*term)]))[:MAX_HEADING_CHARS].strip())
    ]
    if address := find_address(index.text, index.layout.json_items, start):
        names.append(address)
    parts += [f" {BETWEEN.join(dict.fromkeys(names))}"] if names else []
    rows = (find_header(index, start), find_group(index, start))
    parts += [f"\n{_cut_row(index.text[slice(*row)])}" for row in rows if row and not _is_shown(row[0], shown)]
    return "".join(parts)


def _carriers(index: Index, start: int, end: int, part: RestLine | None) -> list[Span]:
    """Return the lines that a passage belongs to: the author of the post, the terms, and what a comment describes."""
    post, documented = find_post(index, start), find_documented(index, start, end)
    signature = find_signature(index, start)
    is_in_part = post is not None and (part is None or post[0] >= part.start)
    return [
        *([post] if post and is_in_part else []),
        *([signature] if signature else []),
        *find_terms(index, start),
        *([documented] if documented else []),
    ]


def outline_label(index: Index, start: int, end: int, max_size: int, measure: Measure) -> str:
    """Return the label that names the headings in an omitted range, each after its offset; "" if none fits `max_size`.

    Deeper headings are left out first, and then every second one.
    """
    headings = [heading for heading in index.layout.headings if start <= heading.start < end][:MAX_OUTLINE]
    for most in range(max((heading.level for heading in headings), default=0), 0, -1):
        named = [heading for heading in headings if heading.level <= most]
        while named:
            label = _list_headings(index, named)
            if fits(label, max_size, measure):
                return label
            if any(heading.level < most for heading in named):
                break
            named = named[::2] if len(named) > 1 else []
    return ""


def outline_size(index: Index, measure: Measure) -> int:
    """Return the size of the label that names all headings."""
    headings = index.layout.headings[:MAX_OUTLINE]
    return measure(_list_headings(index, headings)) if headings else 0


def _list_headings(index: Index, headings: Sequence[Heading]) -> str:
    entries = [f"{heading.start}: {_plain_heading(index, heading)[:MAX_HEADING_CHARS]}" for heading in headings]
    return f" Headings: {'; '.join(entries)}"


def _section_names(
    index: Index, start: int, size: int, shown: Sequence[tuple[int, int]], part: RestLine | None
) -> list[str]:
    """Return the heading above a passage of `size` characters, after the version or date of the entry it belongs to."""
    path = _headings_above(index, start)
    entry = find_entry(path, index.text)
    nearest = [] if index.heading_at(start) else path[-1:]
    names = []
    for heading in dict.fromkeys([*([entry] if entry else []), *nearest]):
        name = _plain_heading(index, heading)[:MAX_HEADING_CHARS].strip()
        is_part = part is not None and heading.start <= part.start
        is_worth = heading is entry or len(name) <= MAX_HEADING_SHARE * size
        if name and is_worth and not is_part and not _is_shown(heading.start, shown):
            names.append(name)
    return names


def _cut_row(row: str) -> str:
    """Return a header row with at most about `MAX_ROW_CHARS`; each of its cells keeps its beginning."""
    row = _LINK.sub(r"\1", row)
    if len(row) <= MAX_ROW_CHARS:
        return row
    cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
    most = max(MIN_CELL_CHARS, MAX_ROW_CHARS // len(cells) - len(" … |"))
    cut = [cell if len(cell) <= most else f"{cell[:most]}…" for cell in cells]
    return f"| {' | '.join(cut)} |"[: 2 * MAX_ROW_CHARS]


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


def _plain_heading(index: Index, heading: Heading) -> str:
    """Return a heading's words without Markdown marks, links and line break."""
    line = index.text[heading.start : min(heading.end, heading.start + MAX_HEADING_LINE_CHARS)]
    return _to_plain(line.strip().split("\n", 1)[0].strip("#"))


def _to_plain(line: str) -> str:
    """Return the words of a line without Markdown marks and links."""
    line = _LINK.sub(r"\1", line)
    return " ".join(_MARK.sub(lambda mark: mark[2] or mark[3] or "", line).split())
