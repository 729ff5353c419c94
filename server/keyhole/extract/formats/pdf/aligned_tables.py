"""Find tables without lines between the cells: rows of short pieces of text that stand below each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from keyhole.extract.formats.pdf.page_parts import Line, Table
from keyhole.extract.formats.pdf.reading_order import Row

MIN_ROWS: Final = 3
"""Smallest number of rows with several cells. Two lines with gaps may be chance."""
ROW_GAP: Final = 2.2
"""Largest gap between two rows, in heights of a row."""
MAX_CELL_CHARS: Final = 400
"""Longest cell. Longer texts beside each other are columns of prose."""
_LEADERS = re.compile(r"(?:\. ?){4,}|\.{4,}|…{2,}|(?:· ?){4,}")
_NUMBER = re.compile(r"[\divxlcIVXLC.-]{1,6}")


def find_aligned_tables(rows: Sequence[Row]) -> list[Row | Table]:
    """Return the rows with tables in place of their rows."""
    result: list[Row | Table] = []
    at = 0
    while at < len(rows):
        end = _find_end(rows, at)
        table = _build(rows[at:end]) if end - at >= MIN_ROWS else None
        if table is None:
            result.append(rows[at])
            at += 1
        else:
            result.append(table)
            at = end
    return result


def _find_end(rows: Sequence[Row], start: int) -> int:
    """Return the end of the run of rows from `start` that have several pieces, or one piece that continues a cell."""
    if not _is_cells(rows[start]):
        return start
    end = start + 1
    while end < len(rows):
        row, above = rows[end], rows[end - 1]
        height = max(line.bottom - line.top for line in above)
        if row[0].top - max(line.bottom for line in above) > ROW_GAP * height or row[0].top < above[0].top:
            break
        if not (_is_cells(row) or _goes_on(row, rows[start:end])):
            break
        end += 1
    while end > start and not _is_cells(rows[end - 1]) and not _goes_on(rows[end - 1], rows[start : end - 1]):
        end -= 1
    return end


def _is_cells(row: Row) -> bool:
    return len(row) >= 2 and not any(_LEADERS.search(line.text) or (line.style.fixed and len(row) < 3) for line in row)


def _goes_on(row: Row, above: Sequence[Row]) -> bool:
    """Return whether a row with one piece continues a cell that begins further right than the first column."""
    if len(row) != 1 or _LEADERS.search(row[0].text):
        return False
    columns = find_columns([line for each in above for line in each])
    inside = [n for n, (left, right) in enumerate(columns) if row[0].left < right + 6 and row[0].right > left - 6]
    return len(inside) == 1 and inside[0] > 0 and abs(row[0].left - columns[inside[0]][0]) < 4


def _build(rows: Sequence[Row]) -> Table | None:
    """Return the table of some rows, None if their pieces do not stand in columns."""
    columns = find_columns([line for row in rows for line in row])
    if len(columns) < 2 or sum(len(row) >= 2 for row in rows) < MIN_ROWS:
        return None
    cells: list[list[str]] = []
    for row in rows:
        new = place_row(row, columns)
        if cells and not new[0] and sum(map(bool, new)) < len(columns) - 1:
            cells[-1] = [f"{old} {more}".strip() for old, more in zip(cells[-1], new, strict=True)]
        else:
            cells.append(new)
    filled = [sum(bool(row[n]) for row in cells) for n in range(len(columns))]
    if len(cells) < 2 or min(filled) < 2 or max(len(cell) for row in cells for cell in row) > MAX_CELL_CHARS:
        return None
    if len(columns) == 2 and all(_NUMBER.fullmatch(row[1]) for row in cells if row[1]):
        return None  # a table of contents
    lines = [line for row in rows for line in row]
    return Table(
        tuple(map(tuple, cells)), columns[0][0], lines[0].top, columns[-1][1], max(line.bottom for line in lines),
        lines[0].page,
    )  # fmt: skip


def place_row(row: Row, columns: Sequence[tuple[float, float]]) -> list[str]:
    """Return the text in each column. A piece over several columns is in the first of them."""
    cells = [""] * len(columns)
    for line in row:
        column = next((n for n, (_, right) in enumerate(columns) if line.left < right), len(columns) - 1)
        cells[column] = f"{cells[column]} {line.text}".strip()
    return cells


def find_columns(lines: list[Line]) -> list[tuple[float, float]]:
    """Return the ranges that pieces of text cover, without the gaps between them."""
    columns: list[tuple[float, float]] = []
    for line in sorted(lines, key=lambda line: line.left):
        if columns and line.left < columns[-1][1] + 1:
            columns[-1] = columns[-1][0], max(columns[-1][1], line.right)
        else:
            columns.append((line.left, line.right))
    return columns
