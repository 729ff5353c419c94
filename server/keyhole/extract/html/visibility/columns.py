"""Find the cells of tables that stand in collapsed columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Final

from lxml.html import HtmlElement

_MOST_COLUMNS: Final = 200
"""Number of columns of a table that are looked at."""
_ROW_GROUPS: Final = ("thead", "tbody", "tfoot")
COLUMNS: Final = ("col", "colgroup")


def find_collapsed_cells(collapsed: Collection[HtmlElement]) -> Iterator[HtmlElement]:
    """Yield the cells whose columns are all collapsed, given the collapsed `<col>` and `<colgroup>` elements."""
    for table in {table for each in collapsed for table in islice(each.iterancestors("table"), 1)}:
        columns = _find_columns(table, collapsed)
        for group in (table, *table.iterchildren(*_ROW_GROUPS)):
            yield from _find_cells(group, columns)


def _find_columns(table: HtmlElement, collapsed: Collection[HtmlElement]) -> set[int]:
    """Return the numbers of a table's collapsed columns."""
    found: set[int] = set()
    place = 0
    for element in table.iterchildren(*COLUMNS):
        for column in list(element.iterchildren("col")) or [element]:
            end = min(place + _read_span(column, "span"), _MOST_COLUMNS)
            if column in collapsed or element in collapsed:
                found.update(range(place, end))
            place = end
    return found


def _find_cells(group: HtmlElement, collapsed: set[int]) -> Iterator[HtmlElement]:
    """Yield the cells of a group of rows that stand in given columns alone."""
    taken: dict[int, int] = {}  # the rows that cells from above still take, by column
    for row in group.iterchildren("tr"):
        place = 0
        for cell in row.iterchildren("td", "th"):
            while taken.get(place, 0) > 0:
                place += 1
            width, height = _read_span(cell, "colspan"), _read_span(cell, "rowspan")
            columns = range(place, min(place + width, _MOST_COLUMNS))
            if columns and collapsed.issuperset(columns):
                yield cell
            taken.update((column, height) for column in columns)
            place += width
        taken = {column: rows - 1 for column, rows in taken.items() if rows > 1}


def _read_span(element: HtmlElement, name: str) -> int:
    value = (element.get(name) or "").strip()
    return min(max(int(value), 1), _MOST_COLUMNS) if value.isdecimal() and len(value) < 10 else 1
