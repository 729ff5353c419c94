"""Write a line of code in a fixed-width font with the spaces that its words' places show."""

from __future__ import annotations

from typing import Final

from keyhole.extract.formats.pdf.page_parts import RAISED, Line

MAX_SPACES: Final = 120
"""Largest number of spaces between two words."""


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
