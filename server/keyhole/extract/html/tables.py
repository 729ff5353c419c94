"""Tables of a page: which ones hold data, and the grid of their cells. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.code import is_gutter

MAX_SPAN: Final = 50
"""Columns that one cell may span: wider ones are layout, and each column costs a bar."""
MAX_ROW_SPAN: Final = 1_000
"""Rows that one cell may span."""
MAX_SPANNED: Final = 100_000
"""Places of a table that spans may cover: a real one has some hundred, and each costs a step."""
MAX_CELL: Final = 3_000
"""Characters of a cell of data: with a longer one a table is a layout, as a row is one line of Markdown."""
_BLOCKS: Final = ("table", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "hr", "details")
# Some pages put a form around the rows.
_SECTIONS = frozenset({"thead", "tbody", "tfoot", "form"})
_INSIDE = _SECTIONS | {"caption", "colgroup", "col", "tr"}
_CELLS = frozenset({"td", "th"})


def is_data(table: HtmlElement) -> bool:
    """Whether rows of Markdown can hold a table: more than one cell, and in its cells no blocks of their own."""
    if table.get("role") in {"presentation", "none"} or _is_broken(table):
        return False
    # The search ends at the first table inside, so that nested ones are not read over and over.
    if any(block is not table and (block.tag != "pre" or _many_lines(block)) for block in table.iter(*_BLOCKS)):
        return False
    rows = [cells_of(row) for row in rows_of(table)]
    if any(_length(cell) > MAX_CELL for cells in rows for cell in cells):
        return False
    headed = any(cell.tag == "th" for cells in rows for cell in cells)
    if len(rows) < 2 and not headed and next(table.iter("p", "div", "ul", "ol", "dl"), None) is not None:
        return False
    return headed or max(map(len, rows), default=0) > 1


def _is_broken(table: HtmlElement) -> bool:
    """Whether text or elements stand between the cells, which rows would lose."""
    holders = [table, *(child for child in table if child.tag in _SECTIONS), *rows_of(table)]
    for holder in holders:
        inside = _CELLS if holder.tag == "tr" else _INSIDE
        texts = [holder.text, *(child.tail for child in holder)]
        if any(text and not text.isspace() for text in texts):
            return True
        if any(isinstance(child.tag, str) and child.tag not in inside for child in holder):
            return True
    return False


def _many_lines(pre: HtmlElement) -> bool:
    if next(pre.iter("br", "div", "p"), None) is not None:
        return True
    text = "".join(pre.itertext()).strip("\n")
    return "\n" in text or "  " in text or text != text.strip()


def _length(cell: HtmlElement) -> int:
    return sum(len(text) for text in cell.itertext())


def rows_of(table: HtmlElement) -> Iterator[HtmlElement]:
    """The rows that are the table's own, those of `<thead>` first and of `<tfoot>` where they stand."""
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in _SECTIONS:
            for row in child:
                if row.tag == "tr":
                    yield row


def cells_of(row: HtmlElement) -> list[HtmlElement]:
    """The cells of a row, without gutters of line numbers."""
    return [cell for cell in row if cell.tag in _CELLS and not is_gutter(cell)]


Row = list[tuple[int, HtmlElement]]


def shape(table: HtmlElement) -> tuple[list[Row], int, bool]:
    """The cells of each row with their column, how many columns there are, and whether the first row names them.

    A spanned place has no cell, so that each text stands in its own column; columns without any cell are not counted.
    """
    grid, headed = _grid(table)
    used = sorted({column for row in grid for column, _ in row})
    place = {column: index for index, column in enumerate(used)}
    return [[(place[column], cell) for column, cell in row] for row in grid], len(used), headed


def _grid(table: HtmlElement) -> tuple[list[Row], bool]:
    grid: list[Row] = []
    taken: dict[int, int] = {}
    spare = MAX_SPANNED
    headed = False
    for number, row in enumerate(rows_of(table)):
        places: Row = []
        column = 0
        cells = cells_of(row)
        if not grid:
            headed = bool(cells) and (row.getparent().tag == "thead" or all(cell.tag == "th" for cell in cells))
        for cell in cells:
            while taken.get(column, 0) > number:
                column += 1
            places.append((column, cell))
            wide, high = _span(cell, "colspan", MAX_SPAN), _span(cell, "rowspan", MAX_ROW_SPAN)
            spare -= wide * high - 1
            if spare < 0:
                wide = high = 1
            if high > 1:
                taken.update(dict.fromkeys(range(column, column + wide), number + high))
            column += wide
        grid.append(places)
    return grid, headed


def _span(cell: HtmlElement, attribute: str, most: int) -> int:
    value = (cell.get(attribute) or "").strip()
    return min(most, max(1, int(value))) if value.isascii() and value.isdigit() and len(value) < 7 else 1
