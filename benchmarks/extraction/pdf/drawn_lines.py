"""Find the text that stands between drawn lines in a PDF file, to tell ruled tables from tables without lines."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from keyhole.extensions.documents.pdf.page_parts import PdfPage, PdfRule, PdfWord
from keyhole.extensions.documents.pdf.pdfium import PdfFile
from keyhole.extract.body import Body

NEAR: Final = 6.0
"""Largest distance of the ends of two lines of one table, and of two pieces of one line, in points."""
MIN_WIDTH: Final = 40.0
"""Narrowest table, in points."""
MIN_LINES: Final = 3
"""Fewest lines across a ruled table: above its header, below it, and at its end."""


def read_ruled_texts(pdf: bytes) -> list[str]:
    """Return the words between at least three drawn lines of about the same ends, one text for each such place."""
    file = PdfFile(Body(pdf, "application/pdf", "https://pdf.example/a.pdf"))
    try:
        return [text for number in range(file.page_count) for text in _read_page(file.read_page(number))]
    finally:
        file.close()


def _read_page(page: PdfPage) -> Iterable[str]:
    words = [word for line in page.lines for word in line]
    down = [rule for rule in page.rules if rule.left == rule.right]
    for left, right, tops in _group(_join(page.rules)):
        sides = [rule for rule in down if left - NEAR < rule.left < right + NEAR]
        for top, bottom in _list_tables(tops, sides):
            inside = [word for word in words if _is_inside(word, left, top, right, bottom)]
            if not all(word.style.fixed for word in inside):  # not code in a frame
                yield " ".join(word.text for word in inside)


def _list_tables(tops: list[float], sides: list[PdfRule]) -> Iterable[tuple[float, float]]:
    """Yield top and bottom of each table between lines. What stands between two framed boxes is in neither."""
    places = sorted(tops)
    framed = [any(r.top <= (a + b) / 2 <= r.bottom for r in sides) for a, b in itertools.pairwise(places)]
    start = 0
    for end in range(1, len(places) + 1):
        if end == len(places) or (any(framed) and not framed[end - 1]):
            if _count_apart(places[start:end]) >= MIN_LINES:
                yield places[start], places[end - 1]
            start = end


def _count_apart(places: list[float]) -> int:
    """Return the number of lines, several within 4 points as one."""
    return len({round(place / 4) for place in places})


def _is_inside(word: PdfWord, left: float, top: float, right: float, bottom: float) -> bool:
    x, y = (word.left + word.right) / 2, (word.top + word.bottom) / 2
    return left - NEAR < x < right + NEAR and top < y < bottom


def _join(rules: Iterable[PdfRule]) -> list[PdfRule]:
    """Return the horizontal lines, those that continue each other as one."""
    joined: list[PdfRule] = []
    for rule in sorted((r for r in rules if r.top == r.bottom), key=lambda r: (round(r.top), r.left)):
        last = joined[-1] if joined else None
        if last and abs(last.top - rule.top) < 2 and rule.left <= last.right + NEAR:
            joined[-1] = last._replace(right=max(last.right, rule.right))
        else:
            joined.append(rule)
    return [rule for rule in joined if rule.right - rule.left >= MIN_WIDTH]


def _group(rules: Iterable[PdfRule]) -> list[tuple[float, float, list[float]]]:
    """Return left, right and the heights of the lines of each group with the same ends."""
    groups: dict[tuple[int, int], list[PdfRule]] = defaultdict(list)
    for rule in rules:
        near = ((a, b) for a, b in groups if abs(a - rule.left) <= NEAR and abs(b - rule.right) <= NEAR)
        groups[next(near, (round(rule.left), round(rule.right)))].append(rule)
    return [
        (left, right, [rule.top for rule in members])
        for (left, right), members in groups.items()
        if len(members) >= MIN_LINES
    ]
