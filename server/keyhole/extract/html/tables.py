"""Distinguish data tables from layout tables, and place the cells of data tables in a grid."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.boilerplate.segments import has_heading_rows
from keyhole.extract.html.code import is_gutter_cell

MAX_SPAN: Final = 50
"""Largest number of columns that a cell spans. Wider cells are layout, and each column costs a bar in Markdown."""
MAX_ROW_SPAN: Final = 1_000
"""Largest number of rows that a cell spans."""
MAX_SPANNED: Final = 100_000
"""Largest number of grid places that the spans of a table cover. Real tables need a few hundred, and each costs
time."""
MAX_CELL: Final = 3_000
"""Usual largest length of a data cell, in characters. A row is one line of Markdown."""
MAX_LONG_SHARE: Final = 0.5
"""Largest share of a data table's text in cells over `MAX_CELL`. A table with more is layout."""
_OTHER_BLOCKS: Final = ("pre", "blockquote", "hr", "details")
_BLOCK_TAGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6", *_OTHER_BLOCKS)
# Some pages put a <form> around the rows.
_SECTIONS = frozenset({"thead", "tbody", "tfoot", "form"})
_TABLE_CHILDREN = _SECTIONS | {"caption", "colgroup", "col", "tr"}
_CELL_TAGS = frozenset({"td", "th"})


def is_data_table(table: HtmlElement) -> bool:
    """Return whether a table can be Markdown: it has several cells in a row or a header, and is not a layout.

    A table with headings, code or quotes in its cells is data if it has a header or is regular, or if each heading has
    a row of its own. Its cells stay cells.
    """
    if table.get("role") in {"presentation", "none"} or _is_broken(table):
        return False
    # The search ends at the first nested table, so that it takes linear time.
    if any(inner is not table for inner in islice(table.iter("table"), 2)):
        return False
    rows = [cells for row in iter_rows(table) if (cells := list_cells(row))]
    width = max(map(len, rows), default=0)
    has_header = any(cell.tag == "th" for cells in rows for cell in cells)
    if not (has_header or width > 1) or _is_mostly_long(rows):
        return False
    if len(rows) < 2 and not has_header and next(table.iter("p", "div", "ul", "ol", "dl"), None) is not None:
        return False
    has_blocks = any(block.tag != "pre" or _has_many_lines(block) for block in table.iter(*_BLOCK_TAGS))
    return not has_blocks or (has_header and len(rows) > 1) or _is_regular(table, rows, width)


def _is_mostly_long(rows: list[list[HtmlElement]]) -> bool:
    """Return whether cells over `MAX_CELL` contain most of a table's text."""
    sizes = [_count_chars(cell) for cells in rows for cell in cells]
    return sum(size for size in sizes if size > MAX_CELL) > MAX_LONG_SHARE * sum(sizes)


def _is_regular(table: HtmlElement, rows: list[list[HtmlElement]], width: int) -> bool:
    """Return whether the rows below headings are those of a table.

    Either each heading has a row of its own, or at least three rows have the same three or more cells, without headings
    of page sections.
    """
    if next(table.iter(*_OTHER_BLOCKS), None) is None and has_heading_rows(table):
        return True
    is_even = len(rows) > 2 and width > 2 and sum(len(cells) == width for cells in rows) > len(rows) / 2
    return is_even and next(table.iter("h1", "h2", "hr"), None) is None


def _is_broken(table: HtmlElement) -> bool:
    """Return whether text or elements are outside the cells, where Markdown rows would lose them."""
    containers = [table, *(child for child in table if child.tag in _SECTIONS), *iter_rows(table)]
    for container in containers:
        allowed = _CELL_TAGS if container.tag == "tr" else _TABLE_CHILDREN
        texts = [container.text, *(child.tail for child in container)]
        if any(text and not text.isspace() for text in texts):
            return True
        if any(isinstance(child.tag, str) and child.tag not in allowed for child in container):
            return True
    return False


def _has_many_lines(pre: HtmlElement) -> bool:
    if next(pre.iter("br", "div", "p"), None) is not None:
        return True
    text = pre.text_content().strip("\n")
    return "\n" in text or "  " in text or text != text.strip()


def _count_chars(cell: HtmlElement) -> int:
    return len(cell.text_content())


def iter_rows(table: HtmlElement) -> Iterator[HtmlElement]:
    """Yield a table's own rows in document order, without those of nested tables."""
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in _SECTIONS:
            for row in child:
                if row.tag == "tr":
                    yield row


def list_cells(row: HtmlElement) -> list[HtmlElement]:
    """Return the cells of a row, without line number gutters."""
    return [cell for cell in row if cell.tag in _CELL_TAGS and not is_gutter_cell(cell)]


Row = list[tuple[int, HtmlElement]]


def read_grid(table: HtmlElement) -> tuple[list[Row], int, bool]:
    """Return the cells of each row with their columns, the number of columns, and whether the first row is a header.

    A cell that spans several places is listed only at its first place. Columns without cells are left out.
    """
    grid, has_header = _place_cells(table)
    used = sorted({column for row in grid for column, _ in row})
    place = {column: index for index, column in enumerate(used)}
    return [[(place[column], cell) for column, cell in row] for row in grid], len(used), has_header


def _place_cells(table: HtmlElement) -> tuple[list[Row], bool]:
    grid: list[Row] = []
    occupied_until: dict[int, int] = {}
    places_left = MAX_SPANNED
    has_header = False
    for number, row in enumerate(iter_rows(table)):
        places: Row = []
        column = 0
        cells = [cell for cell in row if cell.tag in _CELL_TAGS]
        if not any(grid):
            has_header = bool(cells) and (row.getparent().tag == "thead" or all(cell.tag == "th" for cell in cells))
        for cell in cells:
            while occupied_until.get(column, 0) > number:
                column += 1
            if not is_gutter_cell(cell):
                places.append((column, cell))
            width, height = _read_span(cell, "colspan", MAX_SPAN), _read_span(cell, "rowspan", MAX_ROW_SPAN)
            places_left -= width * height - 1
            if places_left < 0:
                width = height = 1
            if height > 1:
                occupied_until.update(dict.fromkeys(range(column, column + width), number + height))
            column += width
        grid.append(places)
    return grid, has_header


def _read_span(cell: HtmlElement, attribute: str, limit: int) -> int:
    value = (cell.get(attribute) or "").strip()
    return min(limit, max(1, int(value))) if value.isascii() and value.isdigit() and len(value) < 7 else 1
