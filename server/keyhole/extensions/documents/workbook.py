"""Read XLSX workbooks with openpyxl, a library of the extra `office`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, time
from typing import Any, Final
from xml.parsers.expat import ExpatError, ParserCreate

from keyhole.extensions.documents.office import (
    format_number,
    import_library,
    is_text_part,
    name_comment,
    read_properties,
    read_relationships,
)
from keyhole.extensions.documents.zip_archive import Archive
from keyhole.extract.body import PARSER_ERRORS, Body
from keyhole.extract.formats.xml import parse_xml
from keyhole.extract.markup import Markdown, format_table, to_one_line, write_link
from keyhole.records import Document
from keyhole.text.clean import clean
from keyhole.text.escape import escape_markdown

MAX_CELLS: Final = 1_000_000
"""Largest number of cells read of a workbook. Empty cells count, so a cell at the far right of a row counts 16,384."""
MAX_COLUMNS: Final = 16_384
"""Columns of a sheet (ECMA-376, 18.3.1.13)."""
_TRUE: Final = frozenset({"1", "true"})
_ADDRESSES: Final = ("http://", "https://", "mailto:", "tel:", "ftp://")
_LINK_FORMULA = re.compile(r'HYPERLINK\("([^"]{1,2000})"')


def read_xlsx(body: Body) -> Document:
    """Read the sheets under their names as tables. Formulas are read as their last computed values."""
    archive, openpyxl = Archive(body), import_library("openpyxl", body)
    packed = archive.repack(is_text_part)
    parts: list[str] = []
    try:
        with warnings.catch_warnings(action="ignore"):  # openpyxl warns about parts that it skips
            workbook = openpyxl.load_workbook(packed, read_only=True, data_only=True, keep_links=False)
            cells_left = MAX_CELLS
            for sheet in workbook.worksheets:
                rows, cells_left = _read_rows(sheet, cells_left)
                parts.append(_format_sheet(sheet, rows))
                if not cells_left:
                    break
    except (*PARSER_ERRORS, ExpatError, openpyxl.utils.exceptions.InvalidFileException) as error:
        raise archive.damage_error("its sheets cannot be read") from error
    if not cells_left:
        parts.append(f"(The workbook is longer: only its first {MAX_CELLS:,} cells are read.)\n")
    metadata = read_properties(archive)
    return Document(title=metadata.title, text=clean("\n".join(parts)), media_type="", metadata=metadata)


def _format_sheet(sheet: Any, rows: list[list[str]]) -> str:
    lines = format_table(rows) or "(an empty sheet)\n"
    hidden = "" if sheet.sheet_state == "visible" else " (hidden)"
    return f"## {escape_markdown(to_one_line(sheet.title))}{hidden}\n\n{lines}"


class _Marks:
    """What a sheet says of its rows, columns and cells beside their values. Rows and columns count from 1."""

    def __init__(self, sheet: Any) -> None:
        """Read the sheet's part, and the comments that belong to it, up to the first damage."""
        self.hidden_rows: set[int] = set()
        self.hidden_columns: set[int] = set()
        self.merged: dict[int, list[tuple[int, int]]] = {}
        """By row: columns in which merged cells begin, with their last rows."""
        self.links: dict[int, dict[int, str]] = {}
        """Addresses by row and column."""
        self.comments: dict[int, dict[int, str]] = {}
        self._targets: dict[str, tuple[str, str]] = {}
        self._row, self._column, self._cell = 0, 1, ""
        self._formula: list[str] = []
        self._starts = {
            "row": self._start_row, "c": self._start_cell, "f": self._start_formula, "col": self._start_columns,
            "mergeCell": self._start_merged, "hyperlink": self._start_link,
        }  # fmt: skip
        self._parser = ParserCreate()
        self._parser.StartElementHandler, self._parser.EndElementHandler = self._start, self._end
        with suppress(*PARSER_ERRORS, ExpatError), sheet.parent._archive.open(sheet._worksheet_path) as part:
            self._targets = read_relationships(sheet.parent._archive, sheet._worksheet_path)
            self._parser.ParseFile(part)
            for kind, target in self._targets.values():
                if kind == "comments":
                    _read_comments(sheet.parent._archive.read(target), self.comments)

    def _start(self, name: str, values: dict[str, str]) -> None:
        if start := self._starts.get(name.rpartition(":")[2]):
            start(values)

    def _end(self, name: str) -> None:
        if self._formula and name.rpartition(":")[2] == "f":
            self._parser.CharacterDataHandler = None
            if link := _LINK_FORMULA.match("".join(self._formula)):
                _add_at(self.links, self._cell, link[1])

    def _start_row(self, values: dict[str, str]) -> None:
        self._row = int(values.get("r", self._row + 1))
        if values.get("hidden") in _TRUE:
            self.hidden_rows.add(self._row)

    def _start_cell(self, values: dict[str, str]) -> None:
        self._cell = values.get("r", "")

    def _start_formula(self, _values: dict[str, str]) -> None:
        self._formula.clear()
        self._parser.CharacterDataHandler = self._formula.append

    def _start_columns(self, values: dict[str, str]) -> None:
        if values.get("hidden") in _TRUE:
            columns = range(max(int(values["min"]), self._column), min(int(values["max"]), MAX_COLUMNS) + 1)
            self.hidden_columns.update(columns)
            self._column = columns.stop

    def _start_merged(self, values: dict[str, str]) -> None:
        first, _, last = values["ref"].partition(":")
        row, column = _read_place(first)
        self.merged.setdefault(row, []).append((column, _read_place(last or first)[0]))

    def _start_link(self, values: dict[str, str]) -> None:
        number = next((value for key, value in values.items() if key.endswith(":id")), "")
        _add_at(self.links, values["ref"].partition(":")[0], self._targets.get(number, ("", ""))[1])


def _read_comments(part: bytes, comments: dict[int, dict[int, str]]) -> None:
    root = parse_xml(part)
    authors = ["".join(author.itertext()) for author in root.iter("{*}author")]
    for comment in root.iter("{*}comment"):
        number = str(comment.get("authorId"))
        author = authors[int(number)] if number.isdigit() and int(number) < len(authors) else ""
        text = "".join("".join(run.itertext()) for run in comment.iter("{*}t"))
        if text.startswith("[Threaded comment]"):  # an explanation for old versions, then the comment
            text, author = text.partition("Comment:")[2], ""
        _add_at(comments, comment.get("ref"), escape_markdown(name_comment(author, text)))


def _add_at(values: dict[int, dict[int, str]], place: str, value: str) -> None:
    row, column = _read_place(place)
    values.setdefault(row, {})[column] = value


def _read_place(place: str) -> tuple[int, int]:
    """Return the row and column of a cell such as `C2`."""
    letters = place.rstrip("0123456789")
    column = 0
    for letter in letters:
        column = 26 * column + ord(letter) - ord("A") + 1
    return int(place[len(letters) :]), column


def _read_rows(sheet: Any, cells_left: int) -> tuple[list[list[str]], int]:
    """Return the non-empty rows of a sheet, and the number of cells that may still be read."""
    sheet.reset_dimensions()  # the declared dimensions may be wrong
    marks = _Marks(sheet)
    rows: list[list[str]] = []
    merged: dict[int, tuple[int, str]] = {}  # by column: the last row of merged cells, and their text
    for number, row in enumerate(sheet.iter_rows(), 1):
        cells_left = max(0, cells_left - max(1, len(row), len(merged)))
        if not cells_left:
            break
        cells = [_format_value(cell.value, cell.number_format) for cell in row]
        _add_notes(cells, marks.links.get(number, {}), marks.comments.pop(number, {}))
        while cells and not cells[-1]:
            cells.pop()
        if not cells:
            continue
        merged = {column: (last, text) for column, (last, text) in merged.items() if number <= last}
        for column, (_, text) in merged.items():
            cells += [""] * (column - len(cells))
            cells[column - 1] = text
        for column, last in marks.merged.get(number, ()):
            if column <= len(cells):
                merged[column] = last, cells[column - 1]
        hidden = {1} if number in marks.hidden_rows else set() if rows else marks.hidden_columns
        rows.append(mark_hidden(cells, hidden) if hidden else cells)
    rows += [[Markdown(comment)] for comments in marks.comments.values() for comment in comments.values()]
    return rows, cells_left


def _add_notes(cells: list[str], links: Mapping[int, str], comments: Mapping[int, str]) -> None:
    """Add the links and comments of a row, by column, to its cells."""
    for column, address in links.items():
        if (
            column <= len(cells)
            and cells[column - 1]
            and address.startswith(_ADDRESSES)
            and address != cells[column - 1]
        ):
            cells[column - 1] = write_link(" ".join(cells[column - 1].split()), address)
    for column, comment in comments.items():
        cells += [""] * (column - len(cells))
        text = cells[column - 1]
        text = text if isinstance(text, Markdown) else escape_markdown(text)
        cells[column - 1] = Markdown(f"{text} {comment}".strip())


def mark_hidden(cells: list[str], places: set[int]) -> list[str]:
    """Mark the cells of a hidden row or of hidden columns."""
    return [
        Markdown(f"(hidden) {cell if isinstance(cell, Markdown) else escape_markdown(cell)}".strip())
        if place in places
        else cell
        for place, cell in enumerate(cells, 1)
    ]


def _format_value(value: object, number_format: str) -> str:
    """Return the text of a value. Of its number format, percent, currency and other signs are kept."""
    if value is None or not number_format.strip(";"):  # `;;;` shows nothing
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
    if isinstance(value, int | float) and number_format != "General":
        return format_number(value, number_format)
    return str(value)
