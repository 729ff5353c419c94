"""The strip covers the text, and is hot where its scores are."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from keyhole.extensions.look.text_view import CLEAR, LEVELS, MAX_TICKS, Cell, axis_ticks, heat

WEIGHTS = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300), st.floats(-1, 9, allow_nan=False)), max_size=8)


@example(0, [(0, 1, 1.0)], 10)
@given(st.integers(0, 300), WEIGHTS, st.integers(1, 40))
def test_the_cells_cover_the_text_in_order(total: int, weights: list[tuple[int, int, float]], cells: int) -> None:
    strip = heat(total, weights, cells)
    ends = [cell.end for cell in strip]
    assert [cell.start for cell in strip] == [0, *ends][: len(strip)]
    assert ends[-1:] == ([total] if total else [])
    assert all(cell.start < cell.end and 0 <= cell.level <= LEVELS for cell in strip)


@given(st.integers(1, 300), WEIGHTS)
def test_every_score_within_the_text_is_in_a_hot_cell(total: int, weights: list[tuple[int, int, float]]) -> None:
    strip = heat(total, weights)
    within = [(start, min(end, total), score) for start, end, score in weights if start < min(end, total) and score > 0]
    for start, end, _ in within:
        assert all(cell.level for cell in strip if cell.start < end and cell.end > start)
    if within:
        assert max(cell.level for cell in strip) == LEVELS
    else:
        assert not any(cell.level for cell in strip)


def test_neighbours_of_one_level_are_one_cell() -> None:
    assert heat(100, [(20, 40, 1.0), (40, 60, 3.0)], 10) == (
        Cell(0, 20, 0), Cell(20, 40, 3), Cell(40, 60, 9), Cell(60, 100, 0),
    )  # fmt: skip


@given(st.integers(0, 100_000_000))
@example(149_316)
def test_ticks_are_few_at_equal_distances_and_clear_of_the_end(total: int) -> None:
    ticks = axis_ticks(total)
    assert ticks[:1] == ((0,) if total else ())
    assert len(ticks) <= MAX_TICKS and len({later - tick for tick, later in pairwise(ticks)}) <= 1
    assert all(total - tick >= CLEAR * total for tick in ticks[1:])


def test_ticks_are_round_offsets() -> None:
    assert axis_ticks(149_316) == (0, 50_000, 100_000)
