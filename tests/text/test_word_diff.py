"""The edits between two texts are right, as few as possible, and bounded in number and time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.text.word_diff import MAX_WORDS, find_edits

WORDS = st.lists(st.sampled_from("abcd"), max_size=14)


def longest_common(old: list[str], new: list[str]) -> int:
    """Return the length of the longest common subsequence, by the table of all pairs."""
    row = [0] * (len(new) + 1)
    for left in old:
        above = row
        row = [0]
        for number, right in enumerate(new):
            row.append(above[number] + 1 if left == right else max(above[number + 1], row[number]))
    return row[-1]


@given(WORDS, WORDS)
def test_both_texts_without_the_edits_are_the_longest_common_words(old: list[str], new: list[str]) -> None:
    edits = find_edits(old, new)
    assert edits is not None
    removed, added = edits
    kept = [word for place, word in enumerate(old) if place not in removed]
    assert kept == [word for place, word in enumerate(new) if place not in added]
    assert len(kept) == longest_common(old, new)
    assert list(removed) == sorted(set(removed)) and list(added) == sorted(set(added))


def test_words_in_the_middle_are_replaced() -> None:
    assert find_edits(["the", "limit", "is", "5", "now"], ["the", "limit", "was", "7", "now"]) == ((2, 3), (2, 3))


def test_texts_that_differ_too_much_or_are_too_long_are_not_compared() -> None:
    assert find_edits(["a"] * 3, ["b"] * 3, max_edits=5) is None
    assert find_edits(["a"] * 3, ["b"] * 3, max_edits=6) == ((0, 1, 2), (0, 1, 2))
    assert find_edits(["a"] * (MAX_WORDS + 1), ["a"]) is None
