"""Which passages of a text are new since an earlier one. Pure, and linear in both texts; words nothing.

Lines are compared whole: a paragraph of our Markdown is one line. What both texts begin and end with is set aside;
of what is between, a line is new when the earlier text has it less often. A line that only moved is not new.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

MAX_RANGES: Final = 20
"""Ranges remembered: of a page with more, what is new cannot be read range by range."""
MAX_LINES: Final = 500_000
"""Lines compared of both texts together: some 100 bytes each while it lasts. Of more, all between is called new."""
BLOCK: Final = 65_536
"""Characters compared at once."""

Ranges = tuple[tuple[int, int], ...]


def new_ranges(old: str, new: str) -> Ranges:
    """The passages of `new` that `old` does not have, as offsets into `new`; neighbours are one passage."""
    head = new.rfind("\n", 0, _same_start(old, new)) + 1
    tail = new.find("\n", len(new) - _same_end(old, new, min(len(old), len(new)) - head))
    end = len(new) if tail < 0 else tail
    before, after = old[head : len(old) - (len(new) - end)], new[head:end]
    if before.count("\n") + after.count("\n") > MAX_LINES:
        return ((head, end),) if after.strip() else ()
    return _new_lines(Counter(before.split("\n")), after.split("\n"), head)


def _new_lines(spare: Counter[str], lines: list[str], position: int) -> Ranges:
    """The passages of `lines`, the first of which stands at `position`, that are not among the spare ones."""
    found: list[tuple[int, int]] = []
    joining = False  # whether only blank lines stand since the last new one
    for line in lines:
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


def _same_start(one: str, other: str) -> int:
    """How many characters both begin with, found by blocks: a loop over characters would take seconds."""
    limit, position, step = min(len(one), len(other)), 0, BLOCK
    while position < limit and step:
        end = min(limit, position + step)
        if one[position:end] == other[position:end]:
            position = end
        else:
            step //= 2
    return position


def _same_end(one: str, other: str, limit: int) -> int:
    """How many characters both end with, `limit` at most."""
    position, step = 0, BLOCK
    while position < limit and step:
        end = min(limit, position + step)
        if one[len(one) - end : len(one) - position] == other[len(other) - end : len(other) - position]:
            position = end
        else:
            step //= 2
    return position


def noted(ranges: Ranges) -> str:
    """Ranges as an artifact's note: how many there are, and the first of them."""
    return " ".join([str(len(ranges)), *(f"{start}:{end}" for start, end in ranges[:MAX_RANGES])])


def from_note(note: str) -> tuple[int, Ranges]:
    """How many ranges there were, and those that were noted."""
    count, *ranges = note.split()
    return int(count), tuple((int(start), int(end)) for start, _, end in (pair.partition(":") for pair in ranges))
