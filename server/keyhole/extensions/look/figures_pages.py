"""The page of figures, and the page of misses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.extensions.look.page import (
    format_clock,
    format_day,
    format_duration,
    format_miss,
    format_number,
    format_percent,
    look_of,
    page,
    read_filters,
    read_place,
    write_filters,
    write_place,
)
from keyhole.store.base import EXPIRY_DAYS, StoreStats
from keyhole.store.calls.base import OK, CallFilters, CallSummary, Figures, Hour, Miss, list_following
from keyhole.store.calls.rows import site_of

# Charts as frozen values: the places of bars in an SVG drawing, and the rows of the table beside it. A template draws
# them. The policy of the page allows no inline style, so that sizes are attributes of SVG elements.

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
class ChartColumn:
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
    columns: tuple[ChartColumn, ...]
    top: float
    """The value at the upper edge."""
    totals: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class BarRow:
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
        ChartColumn(label, tuple(values), float(number), _column_bars(number, values, top))
        for number, (label, values) in enumerate(points)
    )
    totals = tuple(sum(values[number] for _, values in points) for number in range(len(series)))
    return ColumnChart(title, tuple(series), basis, columns, top, totals)


def _column_bars(number: int, values: Sequence[float], top: float) -> tuple[Bar, ...]:
    bars = []
    for series, value in enumerate(values):
        margin = (GAP + series * 0.3) / 2
        height = round(HEIGHT * value / top, 2) if top else 0.0
        bars.append(Bar(round(number + margin, 2), round(HEIGHT - height, 2), round(1 - 2 * margin, 2), height, series))
    return tuple(bars)


def bar_rows(rows: Iterable[tuple[str, float, str]]) -> tuple[BarRow, ...]:
    """Return the rows `(label, value, note)` of a bar chart, in the given order."""
    given = tuple(rows)
    longest = max((value for _, value, _ in given), default=0.0)
    return tuple(
        BarRow(label, value, round(100 * value / longest, 2) if longest else 0.0, note) for label, value, note in given
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
        total.plain_chars + hour.plain_chars,
    )


def _label(start: float, seconds: int) -> str:
    return format_day(start) if seconds == DAY else f"{format_day(start)}, {format_clock(start)}"


# The page of figures: totals and charts of the calls of some days, and the contents of the store.

RANGES: Final = (1, 7, 30)
"""Days that the page can show. Calls are kept for 30 days by default."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with its name, its basis (counted or estimated), and a note."""

    name: str
    value: str
    basis: Basis
    note: str = ""
    share: float | None = None
    """The value as a part of 1, if it is drawn as a bar."""


@dataclass(frozen=True, slots=True)
class BarChart:
    """Rows with a bar each."""

    title: str
    label: str
    unit: str
    rows: tuple[BarRow, ...]
    basis: Basis = "counted"
    is_duration: bool = False
    is_trouble: bool = False
    """True for errors and misses, which are not drawn in the colour of success."""
    remark: str = ""


@dataclass(frozen=True, slots=True)
class FiguresView:
    """The content of the page of figures."""

    days: int
    totals: tuple[Figure, ...]
    columns: tuple[ColumnChart, ...]
    bars: tuple[BarChart, ...]
    stats: StoreStats
    expiring: BarChart
    log_bytes: int
    servers: tuple[str, ...] = ()


def figures_view(
    figures: Figures, stats: StoreStats, log_bytes: int, days: int, now: float, servers: tuple[str, ...] = ()
) -> FiguresView:
    """Return the content of the page of figures for the last `days` days. `servers`: see `Look`."""
    return FiguresView(
        days,
        _totals(figures),
        _columns(figures, days, now),
        _bars(figures),
        stats,
        _expiring(stats),
        log_bytes,
        servers,
    )


def since_of(days: int, now: float) -> float:
    """Return the start of the first column of the charts of some days."""
    seconds = period_seconds(days)
    return float((int(now // seconds) + 1) * seconds - days * DAY)


def _totals(figures: Figures) -> tuple[Figure, ...]:
    read, shown, tokens, errors, misses = (
        sum(getattr(hour, name) for hour in figures.hours)
        for name in ("read_chars", "shown_chars", "tokens", "errors", "misses")
    )
    return (
        Figure("Calls", format_number(figures.calls), "counted"),
        Figure(
            "Answered by the first call",
            format_percent(figures.sufficed, figures.asked),
            "counted",
            f"no miss followed {format_number(figures.sufficed)} of {format_number(figures.asked)} pages and searches",
            share=figures.sufficed / figures.asked if figures.asked else None,
        ),
        Figure("Characters read", format_number(read), "counted", "of pages and outputs"),
        Figure("Characters shown", format_number(shown), "counted", f"{format_percent(shown, read)} of those read"),
        Figure("Tokens returned", format_number(tokens), "estimated"),
        Figure("Misses", format_number(misses), "counted", f"{format_percent(misses, figures.calls)} of all calls"),
        Figure("Errors", format_number(errors), "counted", f"{format_percent(errors, figures.calls)} of all calls"),
    )


def _columns(figures: Figures, days: int, now: float) -> tuple[ColumnChart, ...]:
    hours = group_hours(figures.hours, days, now)
    return (
        column_chart(
            "Characters read and shown",
            ("read", "shown"),
            [(label, (hour.read_chars, hour.shown_chars)) for label, hour in hours],
        ),
        column_chart(
            "Calls, and those that missed",
            ("calls", "misses"),
            [(label, (hour.calls, hour.misses)) for label, hour in hours],
        ),
        column_chart(
            "Tokens returned", ("tokens",), [(label, (hour.tokens,)) for label, hour in hours], basis="estimated"
        ),
    )


def _bars(figures: Figures) -> tuple[BarChart, ...]:
    misses = [(format_miss(kind), count, "") for kind, count in figures.misses if kind]
    errors = [(code, count, "") for code, count in figures.outcomes if code != OK]
    stages = [
        (name, seconds, f"{format_duration(seconds / calls)} a call, {format_number(calls)} calls")
        for name, seconds, calls in sorted(figures.stages, key=lambda stage: -stage[1])
        if calls
    ]
    sources = [(site, chars, _count("call", calls)) for site, chars, calls in figures.sources]
    return (
        BarChart("Time by stage", "Stage", "time", bar_rows(stages), is_duration=True, remark="Stages may overlap."),
        BarChart("Misses by kind", "Kind", "calls", bar_rows(misses), is_trouble=True),
        BarChart("Errors by code", "Code", "calls", bar_rows(errors), is_trouble=True),
        BarChart("Largest sources", "Site", "characters read", bar_rows(sources)),
        BarChart("Calls by tool", "Tool", "calls", bar_rows(_plain(figures.tools))),
        BarChart("Calls by client", "Client", "calls", bar_rows(_plain(figures.clients))),
    )


def _expiring(stats: StoreStats) -> BarChart:
    rows = [
        (f"within {_count('day', days)}", count, f"{format_percent(count, stats.artifacts)} of the texts")
        for days, count in zip(EXPIRY_DAYS, stats.expiring, strict=True)
    ]
    return BarChart("What expires", "Unless it is read", "texts", bar_rows(rows), remark="Pinned texts do not expire.")


def _plain(counts: Sequence[tuple[str, int]]) -> list[tuple[str, float, str]]:
    return [(name or "unnamed", count, "") for name, count in counts]


def _count(noun: str, count: int) -> str:
    return f"{format_number(count)} {noun}{'' if count == 1 else 's'}"


def show_figures(request: Request) -> Response:
    """Answer with the page of figures for the days that the query names, 7 without one."""
    look = look_of(request)
    now = look.clock()
    given = request.query_params.get("days", "")
    days = next((each for each in RANGES if str(each) == given), 7)
    figures = look.calls.figures(since_of(days, now))
    view = figures_view(figures, look.store.stats(), look.calls.size_bytes(), days, now, look.servers())
    return page(request, "figures.html", view=view, ranges=RANGES)


# The page of misses: calls that did not suffice, with what the session did next.

PER_PAGE: Final = 30
"""Misses on one page."""
ADVICE: Final[Mapping[Miss, str]] = MappingProxyType(
    {
        "weak": "The page has few of the question's words: it may be the wrong page, or ask in the page's words.",
        "same_page": "The passages may lack the answer: compare the words of both questions on the call's page.",
        "read_on": "The budget ended before the answer, or the ranking chose other passages: a larger budget may help.",
        "searched_again": "The results may lack the answer: look at the engines and at the sources left out.",
        "error": "Look at the code: it says whether the page, the address or the arguments were at fault.",
    }
)
"""Advice for each kind of miss, for a person who tunes Keyhole."""


@dataclass(frozen=True, slots=True)
class MissRow:
    """A call that did not suffice."""

    call: CallSummary
    site: str
    """The host of the page that was asked for, "" if the call names none."""
    next: CallSummary | None
    """The first call of the session that followed it."""


@dataclass(frozen=True, slots=True)
class MissesView:
    """One page of the list of misses."""

    rows: tuple[MissRow, ...]
    kinds: tuple[tuple[Miss, int], ...]
    """The number of calls on this page for each kind of miss, most first."""
    filters: CallFilters
    fields: Mapping[str, str]
    """The filters as fields of an address."""
    older: str
    """The place after which the list continues, "" on the last page."""


def misses_view(
    calls: Sequence[CallSummary], following: Mapping[str, Sequence[CallSummary]], filters: CallFilters
) -> MissesView:
    """Return the content of the page of misses. `calls`: those of the page, and one more if there are older calls."""
    shown = calls[:PER_PAGE]
    found = [call.miss for call in shown]
    kinds = sorted(((kind, found.count(kind)) for kind in ADVICE if kind in found), key=lambda each: -each[1])
    last = shown[-1] if len(calls) > PER_PAGE else None
    return MissesView(
        tuple(_row(call, following.get(call.id, ())) for call in shown),
        tuple(kinds),
        filters,
        {name: value for name, value in write_filters(filters).items() if name != "misses_only"},
        write_place((last.started_at, last.id)) if last else "",
    )


def _row(call: CallSummary, following: Sequence[CallSummary]) -> MissRow:
    return MissRow(call, site_of(call.target), next(iter(following), None))


def show_misses(request: Request) -> Response:
    """Answer with the list of misses, newest first."""
    log = look_of(request).calls
    latest = log.latest()  # before the rows, so that the page reloads if a call arrives in between
    kind: Miss = next((each for each in ADVICE if each == request.query_params.get("miss")), "")
    filters = replace(read_filters(request.query_params), misses_only=True, miss=kind)
    after = read_place(request.query_params.get("after", ""))
    calls = log.calls(PER_PAGE + 1, filters, after)
    following = {call.id: list_following(log, call.id) for call in calls[:PER_PAGE]}
    view = misses_view(calls, following, filters)
    return page(
        request, "misses.html", view=view, advice=ADVICE, choices=log.choices(), latest=latest, is_first=after is None
    )


routes: Final[Sequence[Route]] = (
    Route("/figures", show_figures),
    Route("/misses", show_misses),
)
