"""Findings of the doctor, as text for a person and as facts for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from types import MappingProxyType
from typing import Final

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
