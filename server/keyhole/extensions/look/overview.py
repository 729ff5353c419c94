"""The three figures of the first page: what was kept out of the context, answered at once, and needs a look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from keyhole.budget.budget import CHARS_PER_TOKEN
from keyhole.extensions.look.charts import ColumnChart, column_chart, group_hours
from keyhole.extensions.look.figures_page import since_of
from keyhole.extensions.look.formats import format_number, format_percent
from keyhole.extensions.look.page import Look
from keyhole.store.calls.record import Figures, Hour

DAYS: Final = 7
"""Days of the figures. The page of figures has other times."""


@dataclass(frozen=True, slots=True)
class Headline:
    """A figure with its change over time. `page`: the page that says more."""

    name: str
    value: str
    note: str
    chart: ColumnChart
    page: str
    hover: str = ""


def read_overview(look: Look) -> tuple[Headline, ...]:
    """Return the figures of the past days; none if there were no calls."""
    now = look.clock()
    figures = look.calls.figures(since_of(DAYS, now))
    return overview_of(figures, now) if figures.calls else ()


def overview_of(figures: Figures, now: float) -> tuple[Headline, ...]:
    """Return the three figures."""
    days = group_hours(figures.hours, DAYS, now)
    read, shown, errors, misses = (
        sum(getattr(hour, name) for hour in figures.hours) for name in ("read_chars", "shown_chars", "errors", "misses")
    )
    per_char = _tokens_per_char(figures.hours)
    again = max(0, misses - errors)
    return (
        Headline(
            "Kept out of the context",
            f"{format_number(round((read - shown) * per_char))} tokens",
            f"{format_percent(read - shown, read)} of what was read, estimated",
            column_chart("Kept out", ("kept",), [(label, (_kept(hour) * per_char,)) for label, hour in days]),
            "figures",
            f"{format_number(read - shown)} of {format_number(read)} characters",
        ),
        Headline(
            "Answered at once",
            format_percent(figures.sufficed, figures.asked),
            f"{format_number(figures.sufficed)} of {format_number(figures.asked)} pages and searches",
            column_chart("Calls", ("calls",), [(label, (hour.calls - hour.misses,)) for label, hour in days]),
            "figures",
        ),
        Headline(
            "Need a look",
            f"{format_number(misses)} call{'' if misses == 1 else 's'}",
            f"{format_number(errors)} failed, {format_number(again)} were not answered at once",
            column_chart("Misses", ("misses",), [(label, (hour.misses,)) for label, hour in days]),
            "misses",
        ),
    )


def _kept(hour: Hour) -> int:
    return hour.read_chars - hour.shown_chars


def _tokens_per_char(hours: tuple[Hour, ...]) -> float:
    """Return the tokens of a character in the results of these calls; those of English if they show none."""
    shown, tokens = sum(hour.shown_chars for hour in hours), sum(hour.tokens for hour in hours)
    return min(1.0, tokens / shown) if shown else 1 / CHARS_PER_TOKEN
