"""New passages are found exactly, in time linear in both texts."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyhole.text.diff import MAX_RANGES, find_new_ranges, format_ranges, parse_ranges
from tests.support.machine import allowed

LINES = st.lists(st.sampled_from(["", "a", "b", "c", "  ", "long line", "ü中😀"]) | st.text(max_size=3), max_size=30)
TEXTS = LINES.map("\n".join)


def new_passages(old: str, new: str) -> list[str]:
    return [new[start:end] for start, end in find_new_ranges(old, new)]


@pytest.mark.parametrize(
    ("old", "new", "passages"),
    [
        ("a\nb\n", "a\nb\n", []),
        ("", "", []),
        ("", "a\n\nb", ["a\n\nb"]),
        ("a\nb", "", []),
        ("a\nb", "b\na", []),
        ("a\nb\n", "a\nnew\nb\n", ["new"]),
        ("a\nb\n", "a\nnew\n\nmore\n\nb\n", ["new\n\nmore"]),
        ("a\nb\n", "one\na\ntwo\nb\nthree\n", ["one", "two", "three"]),
        ("- x\n", "- x\n- x\n", ["- x"]),
        ("a\n| 1 |\n| 1 |\nb", "a\n| 1 |\nb", []),
        ("The fee is 5.\n", "The fee is 6.\n", ["The fee is 6."]),
        ("a\nb", "a\n\n\nb", []),
    ],
)
def test_the_new_passages_are_found(old: str, new: str, passages: list[str]) -> None:
    assert new_passages(old, new) == passages


@settings(max_examples=1_000, deadline=None)
@given(TEXTS, TEXTS)
def test_every_line_that_the_old_text_lacks_is_in_a_range_and_ranges_are_whole_lines(old: str, new: str) -> None:
    ranges = find_new_ranges(old, new)
    covered: set[int] = set()
    last = -1
    for start, end in ranges:
        assert last < start < end <= len(new)
        assert start == 0 or new[start - 1] == "\n"
        assert end == len(new) or new[end] == "\n"
        covered |= set(range(start, end))
        last = end
    position, before = 0, set(old.split("\n"))
    for line in new.split("\n"):
        if line.strip() and line not in before:
            assert set(range(position, position + len(line))) <= covered
        position += len(line) + 1


@given(TEXTS)
def test_the_same_text_and_a_part_of_it_have_no_new_passages(text: str) -> None:
    assert find_new_ranges(text, text) == ()
    assert find_new_ranges(text, "\n".join(text.split("\n")[1::2])) == ()


@pytest.mark.parametrize("line", ["", "x", "word " * 20])
def test_ten_megabytes_of_lines_are_compared_in_seconds(line: str) -> None:
    count = 10_000_000 // (len(line) + 8)
    old = "\n".join(f"{number:06} {line}" for number in range(count))
    new = "\n".join(f"{number:06} {line}" for number in range(count, 0, -1))
    started = time.process_time()
    assert len(find_new_ranges(old, new)) == 1
    assert len(find_new_ranges("\n" * 10_000_000, "x\n" * 5_000_000)) == 1
    assert new_passages(old, f"{old}\nadded") == ["added"]
    assert new_passages(old, f"added\n{old}") == ["added"]
    assert time.process_time() - started < allowed(20)


def test_too_many_lines_make_the_whole_middle_new_and_use_little_memory() -> None:
    old, new = "x\n" * 1_000_000, "same\n" + "y\nx\n" * 500_000 + "end"
    tracemalloc.start()
    assert find_new_ranges(f"same\n{old}end", new) == ((5, 2_000_004 - 2),)
    assert find_new_ranges(f"same\n{old}end", "same\n\nend") == ()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=40))
def test_a_parsed_note_has_the_count_and_the_first_ranges(ranges: list[tuple[int, int]]) -> None:
    assert parse_ranges(format_ranges(tuple(ranges))) == (len(ranges), tuple(ranges[:MAX_RANGES]))
