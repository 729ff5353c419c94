"""Find the code blocks and the tables of a text. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from heapq import merge
from typing import Final, NamedTuple

MAX_CODE_BLOCKS: Final = 50_000
"""Later fences are ordinary lines, which bounds the time of a text of fences alone."""

# After spaces and the signs of quotes, items and definitions, because all of them may contain code.
_FENCE = re.compile(
    r"(?:\A|\n)(?=[ \t>*+:0-9.)`~-]{0,40}[`~]{3})(?:[ \t]|[>*+:-][ \t]|\d{1,9}[.)][ \t])*+(`{3,}|~{3,})(.*)"
)
_TABLE = re.compile(r"^\|.*(?:\n\|.*)*", re.MULTILINE)


class CodeBlock(NamedTuple):
    """A code block with the lines of its fences: offsets of both lines, each with its line break.

    `closing` and `end` are equal, and the end of the text, for a block that is never closed.
    """

    start: int
    opening_end: int
    closing: int
    end: int


def find_code_blocks(text: str) -> list[CodeBlock]:
    """Return the code blocks of a text in order. A fence is closed by one that is as long or longer (CommonMark)."""
    blocks: list[CodeBlock] = []
    start = opening_end = -1
    fence = ""
    if "```" not in text and "~~~" not in text:
        return blocks
    for found in _FENCE.finditer(text):
        line = found.start() + (text[found.start()] == "\n")
        line_end = min(found.end() + 1, len(text))
        sign, rest = found[1], found[2]
        if not fence:
            if sign[0] == "`" and "`" in rest:
                continue  # inline code
            start, opening_end, fence = line, line_end, sign
        elif sign.startswith(fence) and not rest.strip():
            blocks.append(CodeBlock(start, opening_end, line, line_end))
            fence = ""
            if len(blocks) == MAX_CODE_BLOCKS:
                return blocks
    if fence:
        blocks.append(CodeBlock(start, opening_end, len(text), len(text)))
    return blocks


def is_in_code(code: list[CodeBlock], offset: int) -> bool:
    """Return whether a line that begins at an offset is a line of code, and no fence."""
    number = bisect_right(code, offset, key=lambda block: block.opening_end) - 1
    return number >= 0 and offset < code[number].closing


def find_blocks(text: str, code: list[CodeBlock]) -> list[tuple[int, int]]:
    """Return the offsets of the closed code blocks and the tables of a text, without the line break at their end."""
    tables = [match.span() for match in _TABLE.finditer(text)]
    closed = [(block.start, block.end) for block in code if block.closing < block.end]
    blocks: list[tuple[int, int]] = []
    for start, end in merge(closed, tables):
        last = end - 1 if text[end - 1 : end] == "\n" else end
        if not blocks or start >= blocks[-1][1]:
            blocks.append((start, last))
    return blocks
