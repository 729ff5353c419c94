"""Print tables, facts, JSON and the findings of the doctor. Control characters in texts are removed or escaped.

On a terminal `rich` draws tables. It interprets no markup, and prints no colours if NO_COLOR is set. Elsewhere spaces
align the columns.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from types import MappingProxyType
from typing import Final

from keyhole.text.measure import clip

# Tables, facts and JSON.

MAX_CELL_COLUMNS: Final = 80
"""Greatest width of a table cell in terminal columns: enough for most titles."""
MAX_FACT_COLUMNS: Final = 2_000
"""Greatest width of a fact on a line of its own, which may be a URL."""
_INVISIBLE: Final = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table. `right`: aligned to the right; `unshortened`: printed in full, so that it can be copied."""

    name: str
    right: bool = False
    unshortened: bool = False


def print_table(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, with each cell on one line and without control characters.

    A terminal continues the lines of a table whose columns are all unshortened: they are printed as for programs.
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    if rows and sys.stdout.isatty() and not all(column.unshortened for column in columns):
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


def _draw_table(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]]) -> None:
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


# Colours, by the environment and the terminal.

DUMB_TERMINALS: Final = frozenset({"dumb", "unknown"})


def has_colours(environment: Mapping[str, str], *, terminal: bool) -> bool:
    """Return True if output is coloured.

    NO_COLOR (no-color.org) takes precedence. FORCE_COLOR (force-color.org) colours a pipe too; 0 means no colours.
    """
    if environment.get("NO_COLOR"):
        return False
    if forced := environment.get("FORCE_COLOR"):
        return forced.lower() not in ("0", "false", "no")
    return terminal and not _is_dumb(environment)


def _is_dumb(environment: Mapping[str, str]) -> bool:
    return environment.get("TERM", "").lower() in DUMB_TERMINALS


# Findings of the doctor, as text for a person and as facts for JSON.

NAME_COLUMNS: Final = 17
"""Width of a finding's name, so that the messages are aligned."""


class Level(StrEnum):
    """Severity of a finding. A `note` is neutral, such as a client that is not installed."""

    OK = "ok"
    NOTE = "note"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `area`: heading of its section; `fix`: how to fix the problem, in one sentence."""

    area: str
    name: str
    level: Level
    message: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class ReportStyle:
    """The style of a report. `symbols`: False for terminals that cannot show them; words are printed instead."""

    color: bool = False
    symbols: bool = True


_SYMBOLS: Final = MappingProxyType({Level.OK: "✓", Level.NOTE: "·", Level.WARN: "!", Level.FAIL: "✗"})
_WORDS: Final = MappingProxyType({Level.OK: "ok  ", Level.NOTE: "note", Level.WARN: "warn", Level.FAIL: "FAIL"})
_COLORS: Final = MappingProxyType({Level.OK: "32", Level.NOTE: "2", Level.WARN: "33", Level.FAIL: "31"})
_COUNTED: Final = MappingProxyType({Level.FAIL: "failed", Level.WARN: "to check", Level.OK: "ok"})
"""Levels that the summary counts."""


def has_failures(findings: Iterable[Finding]) -> bool:
    """Return True if a check failed."""
    return any(finding.level is Level.FAIL for finding in findings)


def json_facts(finding: Finding) -> dict[str, str]:
    """Return a finding as `keyhole doctor --json` prints it."""
    return {
        "area": finding.area, "name": finding.name, "level": finding.level, "message": finding.message,
        "fix": finding.fix,
    }  # fmt: skip


def format_report(findings: Sequence[Finding], seconds: float, style: ReportStyle) -> str:
    """Return all findings under a heading for each area, and a summary as the last line."""
    lines: list[str] = []
    for area, group in groupby(findings, lambda finding: finding.area):
        lines.append(_paint(area, "1", style))
        for finding in group:
            lines += _format_finding(finding, style)
        lines.append("")
    return "\n".join([*lines, _summary(findings, seconds, style)])


def _format_finding(finding: Finding, style: ReportStyle) -> list[str]:
    level = _paint((_SYMBOLS if style.symbols else _WORDS)[finding.level], _COLORS[finding.level], style)
    indent = " " * (NAME_COLUMNS + (6 if style.symbols else 9))
    first = f"  {level} {finding.name:{NAME_COLUMNS}}  {finding.message}"
    return [first, f"{indent}{'→' if style.symbols else '->'} {finding.fix}"] if finding.fix else [first]


def _summary(findings: Sequence[Finding], seconds: float, style: ReportStyle) -> str:
    counts = {level: sum(finding.level is level for finding in findings) for level in Level}
    parts = [
        _paint(f"{counts[level]} {name}", _COLORS[level], style) for level, name in _COUNTED.items() if counts[level]
    ]
    return f"{', '.join(parts)}; {seconds:.1f} s"


def _paint(text: str, color: str, style: ReportStyle) -> str:
    return f"\x1b[{color}m{text}\x1b[0m" if style.color else text
