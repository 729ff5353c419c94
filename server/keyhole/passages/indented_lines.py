"""Read a text line by line from an offset, upwards or downwards, with the indent of each line. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_INDENT: Final = re.compile(r"[ \t]*")


class Line(NamedTuple):
    """A line `text[start:end]` without its indent and its line break. A tab counts as one character of indent."""

    start: int
    end: int
    indent: int

    @property
    def begin(self) -> int:
        """The offset of the indent."""
        return self.start - self.indent

    @property
    def is_blank(self) -> bool:
        """True if the line has nothing but spaces."""
        return self.start >= self.end


def line_at(text: str, offset: int) -> Line:
    """Return the line that contains an offset; the line break belongs to the line that it ends."""
    begin = text.rfind("\n", 0, max(0, offset)) + 1
    end = text.find("\n", begin)
    end = len(text) if end < 0 else end
    indent = _INDENT.match(text, begin, end)
    start = indent.end() if indent else begin
    return Line(start, end, start - begin)


def lines_above(text: str, line: Line, limit: int) -> Iterator[Line]:
    """Yield the lines above a line, the nearest first, of which a part is after the offset `limit`."""
    while line.begin > max(0, limit):
        line = line_at(text, line.begin - 1)
        yield line


def lines_below(text: str, line: Line, limit: int) -> Iterator[Line]:
    """Yield the lines below a line, the nearest first, that begin before the offset `limit`."""
    while line.end + 1 < min(len(text), limit):
        line = line_at(text, line.end + 1)
        yield line
