"""Mark the lines of an output that every reader looks for, whatever was asked. Pure."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from keyhole.extract.outputs.patterns import PATTERNS, Pattern
from keyhole.text.output import Mark

MAX_MATCHES: Final = 5_000
"""Matches of one pattern that are examined from the beginning. The rest repeats them."""
TAIL_CHARS: Final = 20_000
"""Characters of the end that are examined in any case: the summary is there."""
MAX_LINE_CHARS: Final = 400
"""Characters of a line that are marked. A longer one is mostly data."""
RANK_DECAY: Final = 0.12
"""How much less each further line of a pattern weighs: the first error is usually the cause of the next ones. Lines
that differ only in numbers count as one."""
FIRST_LINES: Final = 3
LAST_LINES: Final = 4
EDGE_WEIGHT: Final = 4.0
"""The first and the last lines of any output, and the weight of the very first and last."""
MAX_MARKS: Final = 400
"""Marks that are kept, by weight. At 4,000 characters, some sixty are shown."""

_VARIABLE = re.compile(r"0x[0-9a-f]+|\d+", re.IGNORECASE)
_LINE_OF_FILE = re.compile(r"^([^\s:]+)(?=[:-]\d*[:-]?)", re.MULTILINE)


def mark_lines(text: str, kind: str) -> tuple[Mark, ...]:
    """Return the marks of a text of a kind, by offset. Each line has at most one mark."""
    marks: dict[int, Mark] = {}
    repeated: Counter[str] = Counter()
    for pattern in PATTERNS.get(kind, ()):
        for mark in _matches(text, pattern, repeated):
            if mark[0] not in marks or mark[2] > marks[mark[0]][2]:
                marks[mark[0]] = mark
    for mark in (*_edges(text), *(_first_of_files(text) if kind == "grep" else ())):
        marks.setdefault(mark[0], mark)
    kept = sorted(marks.values(), key=lambda mark: (-mark[2], mark[0]))[:MAX_MARKS]
    return tuple(sorted(kept))


def _matches(text: str, pattern: Pattern, repeated: Counter[str]) -> list[Mark]:
    """Return the marks of a pattern's matches. Lines that differ only in numbers weigh less each time."""
    tail = max(0, len(text) - TAIL_CHARS)
    found: dict[int, int] = {}
    for match in pattern.lines.finditer(text):
        if len(found) >= MAX_MATCHES:
            break
        found[match.start()] = match.end()
    if len(found) >= MAX_MATCHES:
        line = text.rfind("\n", 0, tail) + 1
        found.update((match.start(), match.end()) for match in pattern.lines.finditer(text, line))
    marks: list[Mark] = []
    templates: set[str] = set()
    for start, end in found.items():
        template = _VARIABLE.sub("#", text[start : min(end, start + MAX_LINE_CHARS)])
        templates.add(template)
        repeated[template] += 1
        weight = pattern.weight / (1 + RANK_DECAY * (len(templates) - 1)) / repeated[template]
        marks.append((start, _end_of_lines(text, start, end, pattern.following), weight))
    return marks


def _end_of_lines(text: str, start: int, end: int, following: int) -> int:
    """Return the end of a match with its line break and the lines that follow it, up to an empty line."""
    for _ in range(following):
        next_end = text.find("\n", end + 1)
        if next_end < 0 or not text[end + 1 : next_end].strip() or next_end - start > MAX_LINE_CHARS:
            break
        end = next_end
    return min(end + 1, len(text), start + MAX_LINE_CHARS)


def _edges(text: str) -> list[Mark]:
    """Return the first and last lines, the outermost with the largest weight."""
    marks: list[Mark] = []
    position = 0
    for number in range(FIRST_LINES):
        end = text.find("\n", position) + 1 or len(text)
        if position < len(text):
            marks.append((position, min(end, position + MAX_LINE_CHARS), EDGE_WEIGHT / (1 + number)))
        position = end
    end = len(text)
    for number in range(LAST_LINES):
        start = text.rfind("\n", 0, max(0, end - 1)) + 1
        if end > position:
            marks.append((max(start, end - MAX_LINE_CHARS), end, (EDGE_WEIGHT + 1) / (1 + number / 2)))
        end = start
    return marks


def _first_of_files(text: str) -> list[Mark]:
    """Return the first line of each file in the output of a search."""
    marks: list[Mark] = []
    seen: set[str] = set()
    for match in _LINE_OF_FILE.finditer(text):
        if match[1] not in seen:
            seen.add(match[1])
            end = text.find("\n", match.end()) + 1 or len(text)
            marks.append((match.start(), min(end, match.start() + MAX_LINE_CHARS), 3 / (1 + RANK_DECAY * len(marks))))
    return marks
