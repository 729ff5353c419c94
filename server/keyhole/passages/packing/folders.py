"""Sum the entries of a summary by folder, for a summary in which not all entries fit. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

MAX_DEPTH: Final = 6
"""Maximum depth of the folders that are summed."""

_ENTRY: Final = re.compile(r"(.*/[^/\s]*)((?: [+-]?\d+)+)")
_NUMBER: Final = re.compile(r"([+-]?)(\d+)")


def by_folder(entries: Sequence[str]) -> Iterator[list[str]]:
    """Yield the sums of entries such as `src/a.py +12 -3` or `src/a.py 4` by folder, the deepest folders first.

    The sum of a single folder is left out, because it says less than the largest entries. Yields nothing if an entry
    has no folder or no numbers.
    """
    found = [match for entry in entries if (match := _ENTRY.fullmatch(entry))]
    if len(found) < len(entries) or len(entries) < 2:
        return
    paths = [match[1].split("/")[:-1] for match in found]
    numbers = [_NUMBER.findall(match[2]) for match in found]
    before = len(entries)
    for depth in range(MAX_DEPTH, 0, -1):
        sums: dict[str, list[int]] = defaultdict(lambda: [0] * (1 + len(numbers[0])))
        for path, counts in zip(paths, numbers, strict=True):
            folder = sums["/".join(path[:depth])]
            for column, count in enumerate((1, *(int(digits) for _, digits in counts))):
                folder[column] += count
        if 1 < len(sums) < before:
            before = len(sums)
            signs = [sign for sign, _ in numbers[0]]
            of_files = not found[0][1].endswith("/")
            yield [_sum(folder, signs, counts, of_files=of_files) for folder, counts in sums.items()]


def _sum(folder: str, signs: Sequence[str], counts: Sequence[int], *, of_files: bool) -> str:
    files = f" {counts[0]:,} file{'s' if counts[0] > 1 else ''}" if of_files else ""
    numbers = "".join(f" {sign}{count}" for sign, count in zip(signs, counts[1:], strict=True))
    return f"{folder}/{files}{numbers}"
