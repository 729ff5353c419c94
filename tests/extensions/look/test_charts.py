"""Tests of the sizes of bars and the sums of periods."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.extensions.look.figures_pages import DAY, HEIGHT, bar_rows, column_chart, group_hours
from keyhole.store.calls.base import Hour

NOON = 1_700_049_600.0  # 2023-11-15 12:00 UTC


def hour(start: float, calls: int = 1) -> Hour:
    return Hour(start, calls, 0, 0, 10 * calls, calls, 3 * calls)


def test_the_highest_bar_is_as_high_as_the_chart_and_the_others_in_proportion() -> None:
    chart = column_chart("Read", ("read", "shown"), [("a", (200, 50)), ("b", (100, 0))])
    assert [[bar.height for bar in column.bars] for column in chart.columns] == [[100, 25], [50, 0]]
    assert (chart.top, chart.totals) == (200, (300, 50))


def test_a_chart_of_nothing_has_bars_without_height() -> None:
    chart = column_chart("Read", ("read",), [("a", (0,))])
    assert chart.top == 0
    assert chart.columns[0].bars[0].height == 0


@given(st.lists(st.tuples(st.integers(0, 10**12), st.integers(0, 10**12)), max_size=40))
def test_every_bar_lies_within_its_column_and_stands_on_the_lower_edge(values: list[tuple[int, int]]) -> None:
    chart = column_chart("Any", ("a", "b"), [("", each) for each in values])
    for column in chart.columns:
        for bar in column.bars:
            assert column.x <= bar.x <= bar.x + bar.width <= column.x + 1
            assert abs(bar.y + bar.height - HEIGHT) < 0.02
            assert bar.y >= 0


def test_the_longest_row_is_a_hundred_percent() -> None:
    rows = bar_rows([("a", 1, ""), ("b", 4, "note"), ("c", 0, "")])
    assert [(row.label, row.share, row.note) for row in rows] == [("a", 25, ""), ("b", 100, "note"), ("c", 0, "")]
    assert bar_rows([("a", 0, "")])[0].share == 0


def test_a_day_has_24_columns_of_an_hour_and_a_month_30_of_a_day() -> None:
    day, week, month = (group_hours([], days, NOON) for days in (1, 7, 30))
    assert [len(each) for each in (day, week, month)] == [24, 28, 30]
    assert [each[-1][0] for each in (day, week, month)] == ["15 Nov, 12:00", "15 Nov, 12:00", "15 Nov"]


def test_hours_are_summed_in_their_period_and_older_ones_are_left_out() -> None:
    hours = [hour(NOON - 40 * DAY, 100), hour(NOON - 7_200, 1), hour(NOON - 3_600, 2), hour(NOON, 4)]
    sums = dict(group_hours(hours, 7, NOON))
    assert {label: total.calls for label, total in sums.items() if total.calls} == {
        "15 Nov, 06:00": 3,
        "15 Nov, 12:00": 4,
    }
    assert sums["15 Nov, 06:00"] == Hour(NOON - 6 * 3_600, 3, 0, 0, 30, 3, 9)


@given(st.lists(st.integers(0, 29 * 24), max_size=50))
def test_no_call_of_the_time_shown_is_lost(ages: list[int]) -> None:
    hours = [hour(NOON - age * 3_600) for age in ages]
    assert sum(total.calls for _, total in group_hours(hours, 30, NOON)) == len(ages)
