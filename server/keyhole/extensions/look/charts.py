"""Charts as frozen values: the places of bars in an SVG drawing, and the rows of the table beside it.

A template draws them. The policy of the page allows no inline style, so that sizes are attributes of SVG elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from keyhole.extensions.look.formats import format_clock, format_day
from keyhole.store.calls.base import Hour

Basis = Literal["counted", "estimated"]
HEIGHT: Final = 100.0
"""Height of a column chart in its own units. It is drawn as high as the style sheet says."""
GAP: Final = 0.2
"""The empty part of a column's width."""
DAY: Final = 86_400


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a chart: a rectangle from its upper left corner, and the number of its series from 0."""

    x: float
    y: float
    width: float
    height: float
    series: int


@dataclass(frozen=True, slots=True)
class Column:
    """The bars of one period, and its row in the table."""

    label: str
    values: tuple[float, ...]
    x: float
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class ColumnChart:
    """Columns side by side, each with one bar for each series, one in front of the other."""

    title: str
    series: tuple[str, ...]
    basis: Basis
    columns: tuple[Column, ...]
    top: float
    """The value at the upper edge."""
    totals: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a bar chart: its share is its length in percent of the longest."""

    label: str
    value: float
    share: float
    note: str = ""


def column_chart(
    title: str, series: Sequence[str], points: Sequence[tuple[str, Sequence[float]]], basis: Basis = "counted"
) -> ColumnChart:
    """Return a chart of `(label, value of each series)`. Later series stand in front and are narrower."""
    top = max((value for _, values in points for value in values), default=0.0)
    columns = tuple(
        Column(label, tuple(values), float(number), _bars(number, values, top))
        for number, (label, values) in enumerate(points)
    )
    totals = tuple(sum(values[number] for _, values in points) for number in range(len(series)))
    return ColumnChart(title, tuple(series), basis, columns, top, totals)


def _bars(number: int, values: Sequence[float], top: float) -> tuple[Bar, ...]:
    bars = []
    for series, value in enumerate(values):
        margin = (GAP + series * 0.3) / 2
        height = round(HEIGHT * value / top, 2) if top else 0.0
        bars.append(Bar(round(number + margin, 2), round(HEIGHT - height, 2), round(1 - 2 * margin, 2), height, series))
    return tuple(bars)


def bar_rows(rows: Iterable[tuple[str, float, str]]) -> tuple[Row, ...]:
    """Return the rows `(label, value, note)` of a bar chart, in the given order."""
    given = tuple(rows)
    longest = max((value for _, value, _ in given), default=0.0)
    return tuple(
        Row(label, value, round(100 * value / longest, 2) if longest else 0.0, note) for label, value, note in given
    )


def period_seconds(days: int) -> int:
    """Return the length of a column for a chart of some days: an hour, six hours, or a day."""
    return 3_600 if days <= 1 else 21_600 if days <= 7 else DAY


def group_hours(hours: Iterable[Hour], days: int, now: float) -> tuple[tuple[str, Hour], ...]:
    """Return the sum of each period of the last `days` days with a label in UTC, also of periods without calls."""
    seconds = period_seconds(days)
    last = int(now // seconds)
    sums = {
        number: Hour(number * seconds, 0, 0, 0, 0, 0, 0) for number in range(last - days * DAY // seconds + 1, last + 1)
    }
    for hour in hours:
        number = int(hour.start // seconds)
        if number in sums:
            sums[number] = _add(sums[number], hour)
    return tuple((_label(each.start, seconds), each) for each in sums.values())


def _add(total: Hour, hour: Hour) -> Hour:
    return Hour(
        total.start,
        total.calls + hour.calls,
        total.errors + hour.errors,
        total.misses + hour.misses,
        total.read_chars + hour.read_chars,
        total.shown_chars + hour.shown_chars,
        total.tokens + hour.tokens,
    )


def _label(start: float, seconds: int) -> str:
    return format_day(start) if seconds == DAY else f"{format_day(start)}, {format_clock(start)}"
