"""Parse Markdown text into blocks, each with its kind and the headings above it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from keyhole.records import Block, BlockKind

# At any indent and after the signs of lists and quotes, because items and quotes may contain fences.
_FENCE = re.compile(r"[ \t]*(?:(?:[-*+:>]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]++(.*))?$")
_LIST_ITEM = re.compile(r"\s{0,12}(?:[-*+]|\d{1,9}[.)])\s")
_MAX_LINE = 2_000
"""Characters examined of a line; the first few decide its kind."""
_MAX_TITLE = 120
"""Characters of a heading in a path. Longer headings are paragraphs marked up as headings."""


def line_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Yield `(start, end)` of each line, including its line break. Only `\\n` ends a line."""
    start = 0
    while start < len(text):
        newline = text.find("\n", start)
        end = len(text) if newline < 0 else newline + 1
        yield start, end
        start = end


def parse_blocks(text: str) -> tuple[Block, ...]:
    """Return the blocks of a Markdown text in order. They do not overlap and exclude the blank lines between them."""
    parser = _BlockParser()
    for start, end in line_ranges(text):
        parser.feed(text[start : min(end, start + _MAX_LINE)], start, end)
    parser.close()
    return tuple(parser.blocks)


@dataclass(slots=True)
class _BlockParser:
    """A parser that is fed line by line. `levels` and `path`: those of the headings above the current line."""

    blocks: list[Block] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    path: tuple[str, ...] = ()
    kind: BlockKind = "paragraph"
    start: int = -1
    end: int = 0
    fence: str = ""
    is_quoted: bool = False
    """True if the fence stands in a quote."""

    def feed(self, line: str, start: int, end: int) -> None:
        """Parse the line at offsets `[start, end)`."""
        words = line.strip()
        if self.is_quoted and words[:1] != ">":
            self.close()  # the quote ends, and with it its code
        if self.fence:
            self.end = end
            words = words.lstrip("> ") if self.is_quoted else words
            if words.startswith(self.fence) and not words.strip(self.fence[0]):
                self.close()
        elif not words:
            self.close()
        elif ("```" in words or "~~~" in words) and (fence := _FENCE.match(line)):
            self.open("code", start, end)
            self.fence, self.is_quoted = fence[1], words[0] == ">"
        elif words[0] == "#" and (heading := _HEADING.match(line.rstrip("\n"))):
            self.close()
            self._enter_section(len(heading[1]), _title(heading[2] or ""))
            self.open("heading", start, end)
            self.close()
        elif self.start < 0:
            self.open(_line_kind(line), start, end)
        else:
            self.end = end

    def _enter_section(self, level: int, title: str) -> None:
        while self.levels and self.levels[-1] >= level:
            self.levels.pop()
        self.path = (*self.path[: len(self.levels)], title)
        self.levels.append(level)

    def open(self, kind: BlockKind, start: int, end: int) -> None:
        """Begin a block, and end the previous one."""
        self.close()
        self.kind, self.start, self.end = kind, start, end

    def close(self) -> None:
        """End the open block, if any."""
        if self.start >= 0:
            self.blocks.append(Block(self.kind, self.path, self.start, self.end))
        self.start, self.fence, self.is_quoted = -1, "", False


def _title(heading: str) -> str:
    """Return a heading's text without its closing `#` marks (CommonMark 4.2)."""
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
