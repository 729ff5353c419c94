"""Which passages of a text are new since an earlier one. Pure, and linear in both texts; words nothing.

Lines are compared whole: a paragraph of our Markdown is one line. What both texts begin and end with is set aside;
of what is between, a line is new when the earlier text has it less often. A line that only moved is not new.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

MAX_RANGES: Final = 20
"""Ranges remembered: of a page with more, what is new cannot be read range by range."""

Ranges = tuple[tuple[int, int], ...]


def new_ranges(old: str, new: str) -> Ranges:
    """The passages of `new` that `old` does not have, as offsets into `new`; neighbours are one passage."""
    before, after = old.split("\n"), new.split("\n")
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    spare = Counter(before[head : len(before) - tail])
    found: list[tuple[int, int]] = []
    joining = False  # whether only blank lines stand since the last new one
    position = sum(map(len, after[:head])) + head
    for line in after[head : len(after) - tail]:
        end = position + len(line)
        if spare[line] > 0:
            spare[line] -= 1
            joining = joining and not line.strip()
        elif line.strip():
            start = found.pop()[0] if joining else position
            found.append((start, end))
            joining = True
        position = end + 1
    return tuple(found)


def _common(first: list[str], second: list[str]) -> int:
    """How many elements both begin with."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(first), len(second)))


def noted(ranges: Ranges) -> str:
    """Ranges as an artifact's note: how many there are, and the first of them."""
    return " ".join([str(len(ranges)), *(f"{start}:{end}" for start, end in ranges[:MAX_RANGES])])


def from_note(note: str) -> tuple[int, Ranges]:
    """How many ranges there were, and those that were noted."""
    count, *ranges = note.split()
    return int(count), tuple((int(start), int(end)) for start, _, end in (pair.partition(":") for pair in ranges))
