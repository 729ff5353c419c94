"""Find the code blocks, the tables and the definitions of a text. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from heapq import merge
from typing import Final, NamedTuple

MAX_CODE_BLOCKS: Final = 50_000
"""Later fences are ordinary lines, which bounds the time of a text of fences alone."""
MAX_INDENT: Final = 60
"""Characters before a fence at most: spaces and the signs of quotes, items and definitions."""
MAX_HEADING_CHARS: Final = 120
"""Characters read of the line above tildes, which may underline it."""
MAX_TERM_INDENT: Final = 8
"""Spaces before a term: definitions inside of four others have as many."""
MAX_DEFINITIONS: Final = 20_000
"""Later definitions are ordinary lines, as for headings."""

# After spaces and the signs of quotes, items and definitions, because all of them may contain code.
_BEFORE = re.compile(r"(?:[ \t]|[>*+:-][ \t]|\d{1,9}[.)][ \t])*+")
_SIGNS: Final = ("```", "~~~")
_DESCRIPTION = re.compile(rf"\n( {{0,{MAX_TERM_INDENT}}}): ")
_AFTER_DEFINITION: Final = [re.compile(rf"\n {{0,{indent}}}(?![:\s])") for indent in range(MAX_TERM_INDENT + 1)]
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
    opened: tuple[int, int, str] | None = None
    for start, end, fence, info in _fences(text):
        if opened is None:
            is_inline = fence[0] == "`" and "`" in info
            if not is_inline and not _is_underline(text, start, fence, info):
                opened = start, end, fence
        elif fence.startswith(opened[2]) and not info.strip():
            blocks.append(CodeBlock(*opened[:2], start, end))
            opened = None
            if len(blocks) == MAX_CODE_BLOCKS:
                break
    if opened is not None:
        blocks.append(CodeBlock(*opened[:2], len(text), len(text)))
    return blocks


def _fences(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield for each line that may open or close a code block its offsets, its fence and what follows the fence."""
    for found in merge(*(_find_all(text, sign) for sign in _SIGNS)):
        start = text.rfind("\n", 0, found) + 1
        if found - start > MAX_INDENT or not _BEFORE.fullmatch(text, start, found):
            continue
        newline = text.find("\n", found)
        end = len(text) if newline < 0 else newline + 1
        line = text[found:end]
        info = line.lstrip(line[0])
        yield start, end, line[: len(line) - len(info)], info


def _is_underline(text: str, start: int, fence: str, info: str) -> bool:
    """Return whether a line of tildes is as long as the line above it, which it underlines."""
    above = text[max(0, start - MAX_HEADING_CHARS) : max(0, start - 1)].rsplit("\n", 1)[-1].strip()
    return fence[0] == "~" and not info.strip() and 0 < len(above) <= len(fence) + 1


def _find_all(text: str, sign: str) -> Iterator[int]:
    """Yield the first offset of a sign in each line that has it."""
    found = text.find(sign)
    while found >= 0:
        yield found
        newline = text.find("\n", found)
        found = text.find(sign, newline) if newline >= 0 else -1


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


def find_definitions(text: str, code: list[CodeBlock]) -> list[tuple[int, int]]:
    """Return the offsets of the definitions of a text in order: a line, and below it a line that begins with a colon.

    A definition ends before the next line that is not indented more than its term.
    """
    found: list[tuple[int, int]] = []
    for match in _DESCRIPTION.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        indent = match.end(1) - match.start(1)
        line = text[start : match.start()]
        is_term = line.strip() and len(line) - len(line.lstrip(" ")) == indent and line[indent : indent + 2] != ": "
        if not is_term or is_in_code(code, start):
            continue
        after = _AFTER_DEFINITION[indent].search(text, match.end())
        found.append((start, after.start() + 1 if after else len(text)))
        if len(found) == MAX_DEFINITIONS:
            break
    return found
