"""The structure of Markdown text: its blocks, their kinds and the headings above them. Reads, never writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from keyhole.records import Block, BlockKind

# At any indent and after list markers: inside an item that is where a fence stands.
_FENCE = re.compile(r"[ \t]*(?:(?:[-*+:]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]++(.*))?$")
_LIST_ITEM = re.compile(r"\s{0,12}(?:[-*+]|\d{1,9}[.)])\s")
_MAX_LINE = 2_000
"""Characters of a line that are looked at: what it is shows in its first few."""
_MAX_TITLE = 120
"""Characters of a heading kept in a path: longer ones are paragraphs set as headings."""


def lines_with_offsets(text: str) -> Iterator[tuple[int, int]]:
    """`(start, end)` of each line; the line break belongs to its line. Only `\\n` breaks a line here."""
    start = 0
    while start < len(text):
        newline = text.find("\n", start)
        end = len(text) if newline < 0 else newline + 1
        yield start, end
        start = end


def blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a Markdown text in order. They do not overlap; blank lines between them belong to none."""
    scan = _Scan()
    for start, end in lines_with_offsets(text):
        scan.line(text[start : min(end, start + _MAX_LINE)], start, end)
    scan.close()
    return tuple(scan.found)


@dataclass(slots=True)
class _Scan:
    """Where the reading of lines stands: the open block, the open fence and the headings above."""

    found: list[Block] = field(default_factory=list)
    path: list[tuple[int, str]] = field(default_factory=list)
    kind: BlockKind = "paragraph"
    start: int = -1
    end: int = 0
    fence: str = ""

    def line(self, line: str, start: int, end: int) -> None:
        """Take one line, which stands at `[start, end)`."""
        if self.fence:
            self.end = end
            if line.strip().startswith(self.fence) and not line.strip().strip(self.fence[0]):
                self.close()
        elif opened := _FENCE.match(line):
            self.open("code", start, end)
            self.fence = opened[1]
        elif heading := _HEADING.match(line.rstrip("\n")):
            level = len(heading[1])
            self.close()
            self.path = [(n, title) for n, title in self.path if n < level] + [(level, _title(heading[2] or ""))]
            self.open("heading", start, end)
            self.close()
        elif not line.strip():
            self.close()
        elif self.start < 0:
            self.open(_line_kind(line), start, end)
        else:
            self.end = end

    def open(self, kind: BlockKind, start: int, end: int) -> None:
        """Begin a block."""
        self.close()
        self.kind, self.start, self.end = kind, start, end

    def close(self) -> None:
        """End the open block, if any."""
        if self.start >= 0:
            self.found.append(Block(self.kind, tuple(title for _, title in self.path), self.start, self.end))
        self.start, self.fence = -1, ""


def _title(heading: str) -> str:
    """A heading's words without closing marks (CommonMark 4.2)."""
    words = heading.rstrip()
    unmarked = words.rstrip("#")
    return (unmarked if unmarked != words and unmarked[-1:] in {"", " ", "\t"} else words).rstrip()[:_MAX_TITLE]


def _line_kind(line: str) -> BlockKind:
    stripped = line.lstrip()
    if stripped.startswith("|"):
        return "table"
    if stripped.startswith(">"):
        return "quote"
    return "list" if _LIST_ITEM.match(line) else "paragraph"
