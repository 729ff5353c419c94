"""Find running heads, footers and page numbers: lines at the edges of pages that return at the same height."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

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
NEAR_PAGES: Final = 8
"""A line that returns within this many pages may be the running head of a chapter. Left pages may have another one."""
PLACE_SHARE: Final = 0.25
"""Minimum share of the pages that have a running head other than a chapter's, or any running head at one place."""
SIDE: Final = 0.1
"""The share of the page's width at its left and at its right in which turned text is no part of the page's text."""
MIN_TURNED: Final = 3
"""Smallest number of characters of a word whose box shows that it is turned."""
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"[-–—\s]*(?:\d{1,4}|[ivxlc]{1,6})[-–—\s]*|\w+ \d{1,4}(?: ?/ ?\d{1,4}| \w{2,4} \d{1,4})")
"""A line that is only a page number: `2`, `- 2 -`, `iv`, `Page 2 of 9`."""
_NUMBERED_HEAD = re.compile(r"\d{1,4}\s+[^\W\d].{0,120}|[^\W\d].{0,120}\s(?<!, )\d{1,4}")
"""A line that begins or ends with a page number: `256 The theory of pumps`."""

Edges = tuple[list[str], list[str]]
"""The lines of running heads, and those of footers."""
Candidate = tuple[bool, int, str, list[int]]
"""A row at the edge of a page: at its top?, its height in steps of 3 points, its text, and the numbers of its lines."""


class _Known(NamedTuple):
    """The lines and places that the pages of a document have in common at their edges."""

    lines: set[tuple[bool, int, str]]
    """The lines that return."""
    places: set[tuple[bool, int]]
    """The places where they stand on many pages."""
    body_size: float
    """The size of the main text."""
    is_short: bool
    """True for a document with too few pages for lines that return."""


def take_furniture(pages: Sequence[PdfPage], headings: HeadingFinder) -> list[Edges]:
    """Remove the running heads and footers from the pages, and return those of each page.

    A large line with an entry in the outline is a heading at the top of its page.
    """
    sides = [_take_sides(page) for page in pages]
    candidates = [
        [each for each in _list_candidates(page) if not _is_heading(page, number, each, headings)]
        for number, page in enumerate(pages)
    ]
    known = _find_known(candidates, headings.body_size)
    found = [_choose(page, of_page, known) for page, of_page in zip(pages, candidates, strict=True)]
    taken = [{number for each in of_page for number in each[3]} for of_page in found]
    if all(len(numbers) == len(page.lines) for page, numbers in zip(pages, taken, strict=True)):
        return [([], side) for side in sides]  # nothing else is in the file
    for page, numbers in zip(pages, taken, strict=True):
        page.lines = [line for number, line in enumerate(page.lines) if number not in numbers]
    return [
        (
            [text for top, _, text, _ in of_page if top],
            [text for top, _, text, _ in reversed(of_page) if not top] + side,
        )
        for of_page, side in zip(found, sides, strict=True)
    ]


def _take_sides(page: PdfPage) -> list[str]:
    """Remove the lines that run along the left or right edge of a page, such as a stamp of an archive; return them."""
    is_side = [_runs_along_edge(line, page.width) for line in page.lines]
    if all(is_side):
        return []
    sides = [" ".join(word.text for word in line) for line, side in zip(page.lines, is_side, strict=True) if side]
    page.lines = [line for line, side in zip(page.lines, is_side, strict=True) if not side]
    return sides


def _runs_along_edge(line: Sequence[Word], width: float) -> bool:
    long = [word for word in line if len(word.text) >= MIN_TURNED]
    at_edge = all(word.right < SIDE * width for word in line) or all(word.left > (1 - SIDE) * width for word in line)
    return at_edge and bool(long) and all(word.bottom - word.top > word.right - word.left for word in long)


def _find_known(candidates: Sequence[Sequence[Candidate]], body_size: float) -> _Known:
    """Return what the pages of a document have in common at their edges."""
    needed = MIN_PAGES if len(candidates) > SHORT_DOCUMENT else 2
    pages: dict[tuple[bool, int, str], set[int]] = defaultdict(set)
    for number, of_page in enumerate(candidates):
        for is_top, height, text, _ in of_page:
            for near in (height - 1, height, height + 1):
                pages[is_top, near, _to_key(text)].add(number)
    lines = {key for key, found in pages.items() if _returns(found, needed, len(candidates))}
    at_place: dict[tuple[bool, int], set[int]] = defaultdict(set)
    for is_top, height, text in lines:
        at_place[is_top, height] |= pages[is_top, height, text]
    places = {place for place, found in at_place.items() if len(found) >= PLACE_SHARE * len(candidates)}
    return _Known(lines, places, body_size, is_short=len(candidates) <= SHORT_DOCUMENT)


def _returns(found: set[int], needed: int, count: int) -> bool:
    """Return whether a line returns: on several pages near each other, as within a chapter, or on many pages."""
    ordered = sorted(found)
    near = any(last - first <= NEAR_PAGES for first, last in zip(ordered, ordered[needed - 1 :], strict=False))
    return len(found) >= needed and (near or len(found) >= PLACE_SHARE * count)


def _choose(page: PdfPage, candidates: list[Candidate], known: _Known) -> list[Candidate]:
    """Return the running heads and footers of a page, from the outside, up to the first other line at each edge."""
    chosen: list[Candidate] = []
    ended: set[bool] = set()
    for candidate in candidates:
        is_top, height, text, numbers = candidate
        is_known = (is_top, height) in known.places or _is_numbered(page, candidate, known)
        is_one = (is_top, height, _to_key(text)) in known.lines or (is_known and _stands_apart(page, numbers, is_top))
        if is_one and is_top not in ended:
            chosen.append(candidate)
        else:
            ended.add(is_top)
    return chosen


def _is_numbered(page: PdfPage, candidate: Candidate, known: _Known) -> bool:
    """Return whether a row is a page number, or in a short document a running head with one.

    Such a head is not larger or bolder than text, and no row of a table.
    """
    text, line = candidate[2], page.lines[candidate[3][0]]
    if _PAGE_NUMBER.fullmatch(text):
        return True
    if not known.is_short:
        return False
    style, middle = line[0].style, (line[0].top + line[0].bottom) / 2
    near = [rule.top - middle for rule in page.rules if abs(rule.top - middle) < 2 * GAP * style.size]
    is_row = any(distance < 0 for distance in near) and any(distance > 0 for distance in near)
    is_plain = style.size <= known.body_size and not style.bold and not is_row
    return is_plain and _NUMBERED_HEAD.fullmatch(text) is not None


def _is_heading(page: PdfPage, number: int, candidate: Candidate, headings: HeadingFinder) -> bool:
    is_large = page.lines[candidate[3][0]][0].style.size > LARGEST * headings.body_size
    return is_large and headings.find_level(number, candidate[2]) > 0


def _list_candidates(page: PdfPage) -> list[Candidate]:
    """Return the rows at the edges of a page, from the outside. A page number may also be the last row elsewhere."""
    rows: dict[int, list[int]] = defaultdict(list)
    for number, line in enumerate(page.lines):
        rows[round((line[0].top + line[0].bottom) / 6)].append(number)
    last = max(rows, default=0)
    for height in [height for height in rows if EDGE * page.height <= 3 * height <= (1 - EDGE) * page.height]:
        if height != last or not _PAGE_NUMBER.fullmatch(_read_row(page, rows[height])):
            del rows[height]
    ordered = [(height, _read_row(page, rows[height])) for height in sorted(rows)]
    tops = [(True, height, text, rows[height]) for height, text in ordered if 3 * height < page.height / 2]
    ends = [(False, height, text, rows[height]) for height, text in reversed(ordered) if 3 * height >= page.height / 2]
    return tops[:MAX_EDGE_LINES] + ends[:MAX_EDGE_LINES]


def _read_row(page: PdfPage, lines: Sequence[int]) -> str:
    """Return the text of the lines with these numbers, which stand at one height, from left to right."""
    return " ".join(word.text for word in sorted((word for n in lines for word in page.lines[n]), key=_left))


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
