"""The parts of a PDF page with their positions. Coordinates are points from the top left of the page as shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

RAISED: Final = "\x05"
"""Stands before a small raised number, which may be the mark of a footnote."""


class Style(NamedTuple):
    """A font at one size, in points."""

    size: float
    bold: bool
    fixed: bool
    """True for a font whose characters all have one width."""


class Word(NamedTuple):
    """A run of characters without spaces, and its box."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    style: Style


class Rule(NamedTuple):
    """A thin drawn line, horizontal if `top` equals `bottom`, or vertical."""

    left: float
    top: float
    right: float
    bottom: float


class OutlineEntry(NamedTuple):
    """An entry of the outline: its title, its level from 1, and the number of its page from 0, -1 if unknown."""

    title: str
    level: int
    page: int


@dataclass(slots=True)
class Line:
    """Words on one baseline, in reading order."""

    words: tuple[Word, ...]
    left: float
    top: float
    right: float
    bottom: float
    style: Style
    """The style of most of its characters."""
    text: str
    column: tuple[float, float] = (0.0, 0.0)
    """The left and right edge of the column that it stands in."""
    page: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of a table by row, with its place on the page."""

    rows: tuple[tuple[str, ...], ...]
    left: float
    top: float
    right: float
    bottom: float
    page: int = 0


@dataclass(slots=True)
class PdfPage:
    """A page: words in the order of the file, each pdfium line by itself, and drawn lines."""

    width: float
    height: float
    lines: list[list[Word]] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    image_share: float = 0.0
    """The share of the page that its largest image covers."""
    cost: int = 0
    """The work of reading it: its characters, and three for each drawn object."""
    unread: bool = False
    """True if the page is damaged or has too many parts."""


def make_line(words: list[Word], page: int = 0) -> Line:
    """Return the line of words that stand on one baseline."""
    first = words[0]
    left, top, right, bottom, style = first.left, first.top, first.right, first.bottom, first.style
    if any(word.style is not style for word in words):
        sizes: dict[Style, int] = {}
        for word in words:
            sizes[word.style] = sizes.get(word.style, 0) + len(word.text)
        style = max(sizes, key=lambda each: sizes[each])
    for word in words:
        left, top = min(left, word.left), min(top, word.top)
        right, bottom = max(right, word.right), max(bottom, word.bottom)
    return Line(tuple(words), left, top, right, bottom, style, " ".join([word.text for word in words]), page=page)
