"""The parts of a PDF page with their positions. Coordinates are points from the top left of the page as shown."""

from __future__ import annotations

from collections.abc import Sequence
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
    columns: tuple[float, ...] = ()
    """The places of the lines between columns, empty if none are drawn."""

    def continues(self, last: Table) -> bool:
        """Return whether the table goes on from the page before: with the same lines or the same header."""
        if self.page != last.page + 1 or len(self.rows[0]) != len(last.rows[0]):
            return False
        return self.rows[0] == last.rows[0] or have_same_columns(self.columns, last.columns)


def have_same_columns(first: Sequence[float], second: Sequence[float]) -> bool:
    """Return whether the lines between columns stand at the same places, within a point or two."""
    return 0 < len(first) == len(second) and all(abs(a - b) <= 2 for a, b in zip(first, second, strict=True))


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
    texts, lefts, tops, rights, bottoms, styles = zip(*words, strict=True)
    style = styles[0]
    if any(each is not style for each in styles):
        sizes: dict[Style, int] = {}
        for text, each in zip(texts, styles, strict=True):
            sizes[each] = sizes.get(each, 0) + len(text)
        style = max(sizes, key=lambda each: sizes[each])
    return Line(tuple(words), min(lefts), min(tops), max(rights), max(bottoms), style, " ".join(texts), page=page)
