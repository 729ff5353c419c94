"""What the doctor found: lines with what mends them, as text for a person and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from types import MappingProxyType
from typing import Final

NAME_WIDTH: Final = 17
"""Columns of the names, so that what is said of them stands below each other."""


class Level(StrEnum):
    """How well it is. `note`: neither well nor ill, such as a client that is not there."""

    OK = "ok"
    NOTE = "note"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line. `fix`: what mends it, in one sentence."""

    area: str
    name: str
    level: Level
    said: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Style:
    """How lines look: with colours or without, with signs or with letters where the terminal knows no others."""

    color: bool = False
    signs: bool = True


_SIGNS: Final = MappingProxyType({Level.OK: "✓", Level.NOTE: "·", Level.WARN: "!", Level.FAIL: "✗"})
_WORDS: Final = MappingProxyType({Level.OK: "ok  ", Level.NOTE: "note", Level.WARN: "warn", Level.FAIL: "FAIL"})
_COLORS: Final = MappingProxyType({Level.OK: "32", Level.NOTE: "2", Level.WARN: "33", Level.FAIL: "31"})


def failed(findings: Iterable[Finding]) -> bool:
    """Whether anything failed."""
    return any(finding.level is Level.FAIL for finding in findings)


def as_text(findings: Sequence[Finding], seconds: float, style: Style) -> str:
    """All lines, under a heading for each area, and a sum last."""
    lines: list[str] = []
    for area, some in groupby(findings, lambda finding: finding.area):
        lines += [_painted(area, "1", style)]
        for finding in some:
            lines += _lines(finding, style)
        lines.append("")
    return "\n".join([*lines, _sum(findings, seconds, style)])


def _lines(finding: Finding, style: Style) -> list[str]:
    sign = _painted((_SIGNS if style.signs else _WORDS)[finding.level], _COLORS[finding.level], style)
    indent = " " * (NAME_WIDTH + (6 if style.signs else 9))
    first = f"  {sign} {finding.name:{NAME_WIDTH}}  {finding.said}"
    return [first, f"{indent}{'→' if style.signs else '->'} {finding.fix}"] if finding.fix else [first]


def _sum(findings: Sequence[Finding], seconds: float, style: Style) -> str:
    counts = {level: sum(finding.level is level for finding in findings) for level in Level}
    names = {Level.FAIL: "failed", Level.WARN: "to look at", Level.OK: "well"}
    told = [
        _painted(f"{counts[level]} {name}", _COLORS[level], style) for level, name in names.items() if counts[level]
    ]
    return f"{', '.join(told)}; {seconds:.1f} s"


def _painted(text: str, color: str, style: Style) -> str:
    return f"\x1b[{color}m{text}\x1b[0m" if style.color else text
