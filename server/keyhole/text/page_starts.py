"""Write and read the list of the offsets at which the pages of a PDF file begin in its text, with their labels.

The list is the artifact note `PAGES`: `0:i 1520:ii 4011:1`. So a passage says from which page it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

PAGES: Final = "pages"
"""The artifact note with the list."""

PageStarts = tuple[tuple[int, str], ...]
"""Offsets in order, each with the label of the page that begins there."""

_LABEL = re.compile(r"[\w.-]{1,12}")
_START = re.compile(r"(\d{1,9}):([\w.-]{1,12})")


def clean_label(label: str, number: int) -> str:
    """Return a page's label, or its number if the label is empty, long or not one word."""
    return label if _LABEL.fullmatch(label) else str(number)


def format_page_starts(pages: Sequence[tuple[int, str]]) -> str:
    """Return the list as a note."""
    return " ".join(f"{offset}:{label}" for offset, label in pages)


def parse_page_starts(note: str) -> PageStarts:
    """Return the list in a note, empty for an artifact without pages."""
    return tuple((int(offset), label) for offset, label in _START.findall(note))


def find_page(pages: PageStarts, offset: int) -> str:
    """Return the label of the page that contains an offset, "" before the first page and without pages."""
    number = bisect_right(pages, offset, key=lambda start: start[0]) - 1
    return pages[number][1] if number >= 0 else ""
