"""Ranges that are not shown."""

from __future__ import annotations

from keyhole.passages.gaps import close_gaps, find_gaps, gap_line, next_gap, uncovered


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
    assert close_gaps([(0, 2), (4, 6), (9, 10)], 2) == [(0, 6), (9, 10)]


def test_the_parts_that_are_not_shown_are_found() -> None:
    assert uncovered((0, 10), [(2, 4), (8, 12)]) == [(0, 2), (4, 8)]
    assert uncovered((3, 4), [(2, 4)]) == []
