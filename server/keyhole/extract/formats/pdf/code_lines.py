"""Write code in a fixed-width font with the spaces that the places of its words show.

PDF files draw the words of a line, and seldom the spaces before the first one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from keyhole.extract.formats.pdf.page_parts import RAISED, Line

MAX_SPACES: Final = 120
"""Largest number of spaces between two words."""


def indent_code(pieces: Sequence[tuple[int, str]], lines: Sequence[Line]) -> list[tuple[int, str]]:
    """Return the lines of a block of code with their page, indented as on the page. A piece without text is empty."""
    lefts: dict[int, float] = defaultdict(lambda: float("inf"))
    for line in lines:
        lefts[line.page] = min(lefts[line.page], line.left)
    return [
        (page, write_code_line(line, lefts[page]) if text else "")
        for (page, text), line in zip(pieces, lines, strict=True)
    ]


def write_code_line(line: Line, left: float) -> str:
    """Return the text of a line. `left`: the place of its first column."""
    chars = sum(len(word.text) for word in line.words)
    width = sum(word.right - word.left for word in line.words) / chars if chars else 0
    if width <= 0:
        return line.text
    parts: list[str] = []
    at = left
    for word in line.words:
        spaces = min(MAX_SPACES, max(0, round((word.left - at) / width)))
        parts.append(" " * (spaces if not parts else max(1, spaces)) + word.text)
        at = word.right
    return "".join(parts).replace(f" {RAISED}", "").replace(RAISED, "")
