"""The page of figures: totals and charts of the calls of some days, and the contents of the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.extensions.look.charts import (
    DAY,
    Basis,
    ColumnChart,
    Row,
    bar_rows,
    column_chart,
    group_hours,
    period_seconds,
)
from keyhole.extensions.look.formats import format_duration, format_miss, format_number, format_percent
from keyhole.extensions.look.page import look_of, page
from keyhole.store.base import EXPIRY_DAYS, StoreStats
from keyhole.store.calls.base import OK, Figures

RANGES: Final = (1, 7, 30)
"""Days that the page can show. Calls are kept for 30 days by default."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with its name, how it was determined, and what it is made of."""

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
    rows: tuple[Row, ...]
    basis: Basis = "counted"
    is_duration: bool = False
    is_trouble: bool = False
    """True for errors and misses, which are not drawn in the colour of success."""
    remark: str = ""


@dataclass(frozen=True, slots=True)
class FiguresView:
    """All that the page shows."""

    days: int
    totals: tuple[Figure, ...]
    columns: tuple[ColumnChart, ...]
    bars: tuple[BarChart, ...]
    stats: StoreStats
    expiring: BarChart
    log_bytes: int
    servers: tuple[str, ...] = ()


def view_of(
    figures: Figures, stats: StoreStats, log_bytes: int, days: int, now: float, servers: tuple[str, ...] = ()
) -> FiguresView:
    """Return what the page shows of the calls of the last `days` days. `servers`: see `Look`."""
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
    view = view_of(figures, look.store.stats(), look.calls.size_bytes(), days, now, look.servers())
    return page(request, "figures.html", view=view, ranges=RANGES)


routes: Final = [Route("/figures", show_figures)]
