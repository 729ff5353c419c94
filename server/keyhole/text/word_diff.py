"""Find the words in which two texts differ, with the fewest edits (Myers, "An O(ND) Difference Algorithm", 1986).

The time grows with the number of edits, not with the product of the lengths, and the edits are bounded. So texts that
were made to be expensive to compare cost no more than others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MAX_EDITS: Final = 400
"""Words removed and added together. Texts that differ more are not compared: few of their marks would mean anything.
The places reached before each edit are kept, in memory that grows with the square of the edits."""
MAX_WORDS: Final = 20_000
"""Words of a text that are compared: about 100,000 characters of changed lines."""

Edits = tuple[tuple[int, ...], tuple[int, ...]]
"""Indexes of the removed words in the old text, and of the added words in the new text."""


def find_edits(old: Sequence[str], new: Sequence[str], max_edits: int = MAX_EDITS) -> Edits | None:
    """Return the fewest words to remove and to add, None if they are more than `max_edits` or a text is too long."""
    if max(len(old), len(new)) > MAX_WORDS:
        return None
    furthest = {1: 0}
    """The furthest place in `old` that is reached on each diagonal; on a diagonal, the places in both texts differ by
    its number."""
    rounds: list[dict[int, int]] = []
    for edits in range(max_edits + 1):
        rounds.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            adds = _adds(furthest, diagonal, edits)
            place = furthest[diagonal + 1] if adds else furthest[diagonal - 1] + 1
            while place < len(old) and place - diagonal < len(new) and old[place] == new[place - diagonal]:
                place += 1
            furthest[diagonal] = place
            if place >= len(old) and place - diagonal >= len(new):
                return _trace(rounds, len(old), len(new))
    return None


def _adds(furthest: dict[int, int], diagonal: int, edits: int) -> bool:
    """Return whether the last edit on a diagonal adds a word; otherwise it removes one."""
    return diagonal == -edits or (diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1])


def _trace(rounds: Sequence[dict[int, int]], old_place: int, new_place: int) -> Edits:
    """Return the edits that led to a place in both texts, from the places reached before each edit."""
    removed: list[int] = []
    added: list[int] = []
    for edits in range(len(rounds) - 1, 0, -1):
        furthest, diagonal = rounds[edits], old_place - new_place
        adds = _adds(furthest, diagonal, edits)
        before = diagonal + 1 if adds else diagonal - 1
        old_place, new_place = furthest[before], furthest[before] - before
        if adds:
            added.append(new_place)
        else:
            removed.append(old_place)
    return tuple(reversed(removed)), tuple(reversed(added))
