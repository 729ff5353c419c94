"""Find tables whose drawn lines stand between rows only, as scientific papers have them: columns show by their gaps."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from keyhole.extract.formats.pdf.aligned_tables import find_columns, place_row
from keyhole.extract.formats.pdf.page_parts import Line, Rule, Table, Word
from keyhole.extract.formats.pdf.reading_order import Row, make_rows, split_line
from keyhole.extract.formats.pdf.ruled_tables import MAX_RULES

NEAR: Final = 6.0
"""Largest distance of the ends of two lines of one table, in points."""
MIN_WIDTH: Final = 60.0
"""Shortest line of a table, in points. Lines below words and fractions are shorter."""
MIN_RULES: Final = 3
"""Smallest number of lines: above the header, below it, and at the end."""
SLACK: Final = 20.0
"""Largest distance of the heights of two words of one line, in points."""
MAX_CELL_CHARS: Final = 600
"""Longest cell. Longer texts are columns of prose between lines that have another purpose."""
MAIN_SHARE: Final = 0.5
"""A band between two lines with more than this share of the rows of text holds several rows of the table."""

Band = list[Row]
"""The rows of text between two lines."""


def find_open_tables(
    merged: Sequence[Rule], lines: Sequence[Sequence[Word]], page: int
) -> tuple[list[Table], set[int]]:
    """Return the tables of a page, and the identities of their words. `merged`: the lines from `merge_rules`."""
    tables: list[Table] = []
    used: set[int] = set()
    if not MIN_RULES <= len(merged) <= MAX_RULES:
        return tables, used
    by_height = sorted((line for line in lines if line), key=_middle)
    for group in _group(merged):
        bands = [_read_band(above, below, by_height, page) for above, below in itertools.pairwise(group)]
        for start, end in _find_runs(bands):
            table = _build(bands[start:end])
            if table is not None:
                tables.append(Table(table, group[start].left, group[start].top, group[end].right, group[end].top, page))
                used |= {id(word) for band in bands[start:end] for row in band for line in row for word in line.words}
    return tables, used


def _group(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Return the horizontal lines with the same ends, from top to bottom."""
    groups: list[list[Rule]] = []
    for rule in sorted((r for r in rules if r.top == r.bottom and r.right - r.left >= MIN_WIDTH), key=lambda r: r.top):
        for group in groups:
            if abs(group[0].left - rule.left) <= NEAR and abs(group[0].right - rule.right) <= NEAR:
                group.append(rule)
                break
        else:
            groups.append([rule])
    return [group for group in groups if len(group) >= MIN_RULES]


def _read_band(above: Rule, below: Rule, lines: Sequence[Sequence[Word]], page: int) -> Band:
    """Return the text between two drawn lines. `lines`: from top to bottom."""
    pieces: list[Line] = []
    start = bisect_left(lines, above.top - SLACK, key=_middle)
    for line in lines[start : bisect_left(lines, below.top + SLACK, key=_middle)]:
        inside = [word for word in line if _is_between(word, above, below)]
        pieces += split_line(inside, page) if inside else []
    return make_rows(pieces) if pieces else []


def _middle(line: Sequence[Word]) -> float:
    return (line[0].top + line[0].bottom) / 2


def _is_between(word: Word, above: Rule, below: Rule) -> bool:
    middle = (word.top + word.bottom) / 2
    return above.top < middle < below.top and above.left - NEAR < word.left and word.right < above.right + NEAR


def _find_runs(bands: Sequence[Band]) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of bands that are parts of a table, with text in at least two of them."""
    start = 0
    while start < len(bands):
        end = start
        while end < len(bands) and _is_part(bands[end], is_first=end == start):
            end += 1
        if sum(map(bool, bands[start:end])) >= 2 and any(len(row) > 1 for band in bands[start:end] for row in band):
            yield start, end
        start = max(end, start + 1)


def _is_part(band: Band, *, is_first: bool) -> bool:
    """Return whether half of the rows have several cells. The first band may be one line, the table's title."""
    return not band or 2 * sum(len(row) > 1 for row in band) >= len(band) or (is_first and len(band) == 1)


def _crosses(row: Row, columns: Sequence[tuple[float, float]]) -> bool:
    """Return whether a row is one piece of text over several columns."""
    return len(row) == 1 and sum(row[0].left < right and left < row[0].right for left, right in columns) > 1


def _build(bands: Sequence[Band]) -> tuple[tuple[str, ...], ...] | None:
    """Return the cells of a table, None if the text stands in one column or is prose."""
    columns = find_columns([line for band in bands for row in band if len(row) > 1 for line in row])
    count = sum(map(len, bands))
    title = bands[0][0] if bands[0] else None
    if len(columns) < 2 or any(_crosses(row, columns) for band in bands for row in band if row is not title):
        return None
    cells: list[list[str]] = []
    for band in bands:
        is_divided = len(band) > 2 and len(band) > MAIN_SHARE * count
        for number, row in enumerate(band):
            new = place_row(row, columns)
            if number and (not is_divided or not new[0]):
                cells[-1] = [f"{old} {more}".strip() for old, more in zip(cells[-1], new, strict=True)]
            else:
                cells.append(new)
    if len(cells) < 2 or any(len(cell) > MAX_CELL_CHARS for row in cells for cell in row):
        return None
    return tuple(map(tuple, cells))
