"""Ranges that are not shown."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from keyhole.passages.gaps import find_gaps, gap_line, insert_span, next_gap, uncovered


def test_a_gap_line_has_the_offsets_and_the_label() -> None:
    assert gap_line(3, 40) == "[…3:40]\n"
    assert gap_line(3, 40, " Siege\n| a |") == "[…3:40] Siege\n| a |\n"


def test_the_gaps_are_before_between_and_after_the_spans() -> None:
    assert find_gaps(10, [(2, 4), (4, 6), (8, 9)]) == [(0, 2), (6, 8), (9, 10)]
    assert find_gaps(10, [(0, 10)]) == find_gaps(0, []) == []


def test_the_next_gap_follows_the_best_span() -> None:
    assert next_gap(10, [(2, 4), (6, 8)], [1.0, 2.0]) == (8, 10)
    assert next_gap(10, [(2, 4), (6, 10)], [1.0, 2.0]) == (4, 6)
    assert next_gap(10, [(2, 4), (6, 8)], [2.0, 1.0], known=[(4, 6)]) == (8, 10)
    assert next_gap(10, [], []) == (0, 10)
    assert next_gap(10, [(0, 10)], [1.0]) is None


def test_a_short_gap_is_closed() -> None:
    assert insert_span([(0, 2), (9, 10)], (4, 6), 2) == [(0, 6), (9, 10)]
    assert insert_span([(0, 2), (9, 10)], (3, 8), 2) == [(0, 10)]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=12), st.integers(0, 5))
def test_ranges_stay_in_order_and_apart_and_cover_what_was_inserted(places: list[tuple[int, int]], least: int) -> None:
    spans: list[tuple[int, int]] = []
    covered: set[int] = set()
    for start, length in places:
        for piece in uncovered((start, start + length), spans):
            spans = insert_span(spans, piece, least)
        covered |= set(range(start, start + length))
    assert all(end + least < start for (_, end), (start, _) in pairwise(spans))
    shown = {offset for start, end in spans for offset in range(start, end)}
    assert covered <= shown
    assert all(min(abs(offset - each) for each in covered) <= least for offset in shown)


def test_the_parts_that_are_not_shown_are_found() -> None:
    assert uncovered((0, 10), [(2, 4), (8, 12)]) == [(0, 2), (4, 8)]
    assert uncovered((3, 4), [(2, 4)]) == []
