"""Rows and facts for a person, and JSON for programs. What pages say of themselves cannot steer a terminal.

On a terminal `rich` draws, without its markup and honouring NO_COLOR; elsewhere columns are aligned with spaces.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from keyhole.text.measure import clip

MAX_CELL: Final = 80
"""Columns of a terminal that one cell may take where nothing narrows it: a title of which more is seldom read."""
LONG: Final = 2_000
"""The same for a fact on a line of its own, which may be a URL."""
_UNSEEN: Final = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table; `whole`: never shortened, so that it can be copied."""

    name: str
    right: bool = False
    whole: bool = False


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """A table; of foreign text one line each, without controls."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    if rows and sys.stdout.isatty():
        _draw(columns, cells)
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
    """One named fact a line, as long as it is; what is empty is left out."""
    width = max(map(len, facts), default=0) + 1
    for name, value in facts.items():
        if value:
            print(f"{name + ':':{width}} {one_line(value, LONG)}")


def print_json(value: object) -> None:
    """A value as JSON of several lines."""
    print(as_json(value, indent=2))


def as_json(value: object, indent: int | None = None) -> str:
    """JSON that is readable in every script and shows no terminal what it might obey: such characters are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: str, width: int = MAX_CELL) -> str:
    """Foreign text as one line that is at most so wide."""
    from rich.cells import cell_len

    return clip(text, width, lambda piece: max(len(piece), cell_len(piece)))


def size_of(count: int) -> str:
    """Bytes for a person, such as 1.2 MB."""
    from rich.filesize import decimal

    return decimal(count)


def _draw(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=any(column.name for column in columns), header_style="bold")
    for column in columns:
        table.add_column(
            column.name,
            justify="right" if column.right else "left",
            no_wrap=column.whole,  # the others share what is left
            min_width=max(len(row[len(table.columns)]) for row in rows) if column.whole else None,
        )
    for row in rows:
        table.add_row(*(Text(cell, no_wrap=True, overflow="ellipsis") for cell in row))
    Console(highlight=False, emoji=False, markup=False).print(table)
