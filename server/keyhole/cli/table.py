"""Print tables, facts and JSON. Control characters in text from pages are removed or escaped.

On a terminal `rich` draws tables. It interprets no markup, and prints no colours if NO_COLOR is set. Elsewhere spaces
align the columns.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from keyhole.text.measure import clip

MAX_CELL_COLUMNS: Final = 80
"""Greatest width of a table cell in terminal columns: enough for most titles."""
MAX_FACT_COLUMNS: Final = 2_000
"""Greatest width of a fact on a line of its own, which may be a URL."""
_INVISIBLE: Final = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. `right`: aligned to the right; `unshortened`: printed in full, so that it can be copied."""

    name: str
    right: bool = False
    unshortened: bool = False


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, with each cell on one line and without control characters."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    if rows and sys.stdout.isatty():
        _draw_table(columns, cells)
        return
    from rich.cells import cell_len

    widths = [max(map(cell_len, column), default=0) for column in zip(*cells, strict=True)]
    for row in cells:
        spaces = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        aligned = [
            f"{space}{cell}" if column.right else f"{cell}{space}"
            for column, cell, space in zip(columns, row, spaces, strict=True)
        ]
        print("  ".join(aligned).rstrip())


def print_facts(facts: Mapping[str, str]) -> None:
    """Print each fact with its name on a line of its own. Empty facts are left out."""
    width = max(map(len, facts), default=0) + 1
    for name, value in facts.items():
        if value:
            print(f"{name + ':':{width}} {one_line(value, MAX_FACT_COLUMNS)}")


def print_json(value: object) -> None:
    """Print a value as indented JSON."""
    print(format_json(value, indent=2))


def format_json(value: object, indent: int | None = None) -> str:
    """Return JSON in which letters of all scripts stay readable and invisible and control characters are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: str, width: int = MAX_CELL_COLUMNS) -> str:
    """Return text as one line of at most `width` columns, without control characters."""
    from rich.cells import cell_len

    return clip(text, width, lambda piece: max(len(piece), cell_len(piece)))


def format_size(count: int) -> str:
    """Return a number of bytes as text, such as "1.2 MB"."""
    from rich.filesize import decimal

    return decimal(count)


def _draw_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=any(column.name for column in columns), header_style="bold")
    for column in columns:
        table.add_column(
            column.name,
            justify="right" if column.right else "left",
            no_wrap=column.unshortened,  # the other columns share the remaining width
            min_width=max(len(row[len(table.columns)]) for row in rows) if column.unshortened else None,
        )
    for row in rows:
        table.add_row(*(Text(cell, no_wrap=True, overflow="ellipsis") for cell in row))
    Console(highlight=False, emoji=False, markup=False).print(table)
