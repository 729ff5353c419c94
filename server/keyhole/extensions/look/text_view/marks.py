"""Divide a stored text into passages that a result shows and gaps between them, with the words of the query marked.

Segments follow each other without a hole: their texts, with those of the gaps whose text is left out, are the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from keyhole.text.markdown import expand_paths, find_paths

Span = tuple[int, int]
SHORT_GAP: Final = 2_000
"""Characters of a gap that is always in the page, folded: at most a screen of text."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text. `marked`: it is a word of the query."""

    text: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """A range of the stored text that is shown as a whole or not at all, in the main part or in the rest."""

    start: int
    end: int
    shown: bool
    rest: bool = False
    """True if it is in the rest of the page, after its main part."""
    pieces: tuple[Piece, ...] = ()
    """The text of the range; empty if it is left out because it is too long."""

    @property
    def chars(self) -> int:
        """Return the number of characters of the range."""
        return self.end - self.start

    @property
    def text(self) -> str:
        """Return the text of the range, "" if it is left out."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def is_blank(self) -> bool:
        """Return whether the range has text, and all of it is white space."""
        return bool(self.pieces) and not self.text.strip()

    def with_full_links(self, origin: str) -> Self:
        """Return the segment as it is displayed: its links to paths are full URLs on `origin`, as in `expand_links`."""
        paths = list(find_paths(self.text)) if origin else []
        if not paths:
            return self
        pieces, start = list[Piece](), 0
        for piece in self.pieces:
            end = start + len(piece.text)
            inside = [path - start for path in paths if start <= path < end]
            pieces.append(replace(piece, text=expand_paths(piece.text, inside, origin)))
            start = end
        return replace(self, pieces=tuple(pieces))


def divide(start: int, end: int, spans: Iterable[Span], main_end: int | None = None) -> tuple[Segment, ...]:
    """Return the segments of the range `[start, end)`, without their texts.

    `spans`: the ranges that are shown, in any order; they may overlap. `main_end`: where the rest of the page begins.
    """
    segments: list[Segment] = []
    at = start
    for first, last in [*sorted(spans), (end, end)]:
        first, last = max(at, min(first, end)), min(last, end)
        if at < first:
            segments += _split_at(Segment(at, first, shown=False), main_end)
            at = first
        if first < last:
            segments += _split_at(Segment(first, last, shown=True), main_end)
            at = last
    return tuple(segments)


def choose_readable(segments: Sequence[Segment], room: int) -> tuple[bool, ...]:
    """Return for each segment whether its text is part of the page: passages and short gaps always are.

    Longer gaps are added, the shortest first, while all of them together fit `room` characters.
    """
    readable = [segment.shown or segment.chars <= SHORT_GAP for segment in segments]
    for number in sorted(range(len(segments)), key=lambda number: segments[number].chars):
        if not readable[number] and segments[number].chars <= room:
            readable[number] = True
            room -= segments[number].chars
    return tuple(readable)


def mark(segment: Segment, text: str, words: Iterable[Span]) -> Segment:
    """Return the segment with its `text`. `words`: ranges of the stored text, in any order; they may overlap."""
    pieces: list[Piece] = []
    at = segment.start
    for first, last in [*sorted(words), (segment.end, segment.end)]:
        first, last = max(at, min(first, segment.end)), min(last, segment.end)
        if at < first:
            pieces.append(Piece(text[at - segment.start : first - segment.start]))
            at = first
        if first < last:
            pieces.append(Piece(text[first - segment.start : last - segment.start], marked=True))
            at = last
    return replace(segment, pieces=tuple(pieces))


def _split_at(segment: Segment, main_end: int | None) -> list[Segment]:
    """Return the segment, divided where the rest of the page begins."""
    if main_end is None or segment.end <= main_end:
        return [segment]
    if main_end <= segment.start:
        return [replace(segment, rest=True)]
    return [replace(segment, end=main_end), replace(segment, start=main_end, rest=True)]
