"""Find running heads, footers and page numbers: lines at the edges of pages that return at the same height."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from keyhole.extract.formats.pdf.headings import HeadingFinder
from keyhole.extract.formats.pdf.page_parts import PdfPage, Word
from keyhole.extract.formats.pdf.reading_order import GAP

EDGE: Final = 0.14
"""The share of the page's height at its top and at its bottom in which running heads and footers stand."""
MAX_EDGE_LINES: Final = 4
"""Largest number of lines of a running head or footer."""
LARGEST: Final = 1.13
"""Largest size of a running head, in sizes of the main text. A larger line is a heading at the top of its page."""
MIN_PAGES: Final = 3
"""Smallest number of pages on which a line returns; two in a document of up to four pages."""
SHORT_DOCUMENT: Final = 4
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"[-–—\s]*(?:\d{1,4}|[ivxlc]{1,6})[-–—\s]*|\w+ \d{1,4}(?: ?/ ?\d{1,4}| \w{2,4} \d{1,4})")
"""A line that is only a page number: `2`, `- 2 -`, `iv`, `Page 2 of 9`."""

Edges = tuple[list[str], list[str]]
"""The lines of running heads, and those of footers."""
Candidate = tuple[bool, int, str, list[int]]
"""A row at the edge of a page: at its top?, its height in steps of 3 points, its text, and the numbers of its lines."""


def take_furniture(pages: Sequence[PdfPage], headings: HeadingFinder) -> list[Edges]:
    """Remove the running heads and footers from the pages, and return those of each page.

    A large line with an entry in the outline is a heading at the top of its page.
    """
    candidates = [
        [each for each in _list_candidates(page) if not _is_heading(page, number, each, headings)]
        for number, page in enumerate(pages)
    ]
    needed = MIN_PAGES if len(pages) > SHORT_DOCUMENT else 2
    counts: dict[tuple[bool, int, str], set[int]] = defaultdict(set)
    for number, of_page in enumerate(candidates):
        for is_top, height, text, _ in of_page:
            for near in (height - 1, height, height + 1):
                counts[is_top, near, _to_key(text)].add(number)
    returning = {key for key, found in counts.items() if len(found) >= needed}
    found = [_choose(page, of_page, returning) for page, of_page in zip(pages, candidates, strict=True)]
    taken = [{number for each in of_page for number in each[3]} for of_page in found]
    if all(len(numbers) == len(page.lines) for page, numbers in zip(pages, taken, strict=True)):
        return [([], []) for _ in pages]  # nothing else is in the file
    for page, numbers in zip(pages, taken, strict=True):
        page.lines = [line for number, line in enumerate(page.lines) if number not in numbers]
    return [
        ([text for top, _, text, _ in of_page if top], [text for top, _, text, _ in reversed(of_page) if not top])
        for of_page in found
    ]


def _choose(page: PdfPage, candidates: list[Candidate], returning: set[tuple[bool, int, str]]) -> list[Candidate]:
    """Return the running heads and footers of a page, from the outside, up to the first other line at each edge."""
    places = {(is_top, height) for is_top, height, _ in returning}
    chosen: list[Candidate] = []
    ended: set[bool] = set()
    for candidate in candidates:
        is_top, height, text, numbers = candidate
        is_known = (is_top, height) in places or _PAGE_NUMBER.fullmatch(text) is not None
        is_one = (is_top, height, _to_key(text)) in returning or (is_known and _stands_apart(page, numbers, is_top))
        if is_one and is_top not in ended:
            chosen.append(candidate)
        else:
            ended.add(is_top)
    return chosen


def _is_heading(page: PdfPage, number: int, candidate: Candidate, headings: HeadingFinder) -> bool:
    is_large = page.lines[candidate[3][0]][0].style.size > LARGEST * headings.body_size
    return is_large and headings.find_level(number, candidate[2]) > 0


def _list_candidates(page: PdfPage) -> list[Candidate]:
    """Return the rows at the edges of a page, from the outside."""
    rows: dict[int, list[int]] = defaultdict(list)
    for number, line in enumerate(page.lines):
        middle = (line[0].top + line[0].bottom) / 2
        if middle < EDGE * page.height or middle > (1 - EDGE) * page.height:
            rows[round(middle / 3)].append(number)
    ordered = [
        (height, " ".join(word.text for word in sorted((w for n in rows[height] for w in page.lines[n]), key=_left)))
        for height in sorted(rows)
    ]
    tops = [(True, height, text, rows[height]) for height, text in ordered if 3 * height < page.height / 2]
    ends = [(False, height, text, rows[height]) for height, text in reversed(ordered) if 3 * height >= page.height / 2]
    return tops[:MAX_EDGE_LINES] + ends[:MAX_EDGE_LINES]


def _left(word: Word) -> float:
    return word.left


def _to_key(text: str) -> str:
    return _NUMBER.sub("#", text)


def _stands_apart(page: PdfPage, lines: list[int], top: bool) -> bool:
    """Return whether a row is further from the next row than a line of text is."""
    own = [word for number in lines for word in page.lines[number]]
    others = [line[0] for number, line in enumerate(page.lines) if number not in lines]
    edge = max(word.bottom for word in own) if top else min(word.top for word in own)
    gaps = [other.top - edge if top else edge - other.bottom for other in others]
    nearest = min((gap for gap in gaps if gap > -1), default=1_000.0)
    return nearest > GAP * own[0].style.size
