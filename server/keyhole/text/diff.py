"""Find the passages of a text that are new since an earlier version, in time linear in both texts.

Complete lines are compared, since a paragraph of Keyhole's Markdown is one line. The common beginning and end of the
texts are skipped. Between them, a line is new if the earlier text contains it less often. A moved line is not new.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

MAX_RANGES: Final = 20
"""Maximum of ranges stored in an artifact's note. A page with more changes cannot be read range by range."""
MAX_LINES: Final = 500_000
"""Maximum of lines compared, in both texts together; each takes about 100 bytes of memory. In longer texts, everything
between the common beginning and end counts as new."""
BLOCK: Final = 65_536
"""Characters compared at once."""

Ranges = tuple[tuple[int, int], ...]
"""`(start, end)` offsets in code points, half-open."""


def find_new_ranges(old: str, new: str) -> Ranges:
    """Return the passages of `new` that `old` does not contain, as offsets into `new`. Adjacent passages are merged."""
    head = new.rfind("\n", 0, _common_prefix_length(old, new)) + 1
    tail = new.find("\n", len(new) - _common_suffix_length(old, new, min(len(old), len(new)) - head))
    end = len(new) if tail < 0 else tail
    before, after = old[head : len(old) - (len(new) - end)], new[head:end]
    if before.count("\n") + after.count("\n") > MAX_LINES:
        return ((head, end),) if after.strip() else ()
    return _merge_new_lines(Counter(before.split("\n")), after.split("\n"), head)


def _merge_new_lines(old_lines: Counter[str], lines: list[str], offset: int) -> Ranges:
    """Return the ranges of `lines` that are not in `old_lines`. `offset`: where the first line begins in its text."""
    ranges: list[tuple[int, int]] = []
    extends_last = False  # True while only blank lines have followed the last range
    for line in lines:
        end = offset + len(line)
        if old_lines[line] > 0:
            old_lines[line] -= 1
            extends_last = extends_last and not line.strip()
        elif line.strip():
            start = ranges.pop()[0] if extends_last else offset
            ranges.append((start, end))
            extends_last = True
        offset = end + 1
    return tuple(ranges)


def _common_prefix_length(first: str, second: str) -> int:
    """Count the characters that both texts begin with. Compares blocks, since a loop over characters takes seconds."""
    limit, position, step = min(len(first), len(second)), 0, BLOCK
    while position < limit and step:
        end = min(limit, position + step)
        if first[position:end] == second[position:end]:
            position = end
        else:
            step //= 2
    return position


def _common_suffix_length(first: str, second: str, limit: int) -> int:
    """Count the characters that both texts end with, at most `limit`."""
    position, step = 0, BLOCK
    while position < limit and step:
        end = min(limit, position + step)
        if first[len(first) - end : len(first) - position] == second[len(second) - end : len(second) - position]:
            position = end
        else:
            step //= 2
    return position


def format_ranges(ranges: Ranges) -> str:
    """Format ranges as an artifact's note: the count of all ranges, and the first `MAX_RANGES` ranges."""
    return " ".join([str(len(ranges)), *(f"{start}:{end}" for start, end in ranges[:MAX_RANGES])])


def parse_ranges(note: str) -> tuple[int, Ranges]:
    """Parse an artifact's note; return the count of all ranges, and the ranges that the note contains."""
    count, *ranges = note.split()
    return int(count), tuple((int(start), int(end)) for start, _, end in (pair.partition(":") for pair in ranges))
