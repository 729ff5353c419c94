"""The list of sessions with its filters, and one session with its calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.budget.budget import CHARS_PER_TOKEN
from keyhole.extensions.look.charts import ColumnChart, column_chart, group_hours
from keyhole.extensions.look.fields import read_filters, read_place, write_filters, write_place
from keyhole.extensions.look.figures_page import since_of
from keyhole.extensions.look.formats import format_number, format_percent
from keyhole.extensions.look.page import Look, look_of, page
from keyhole.store.calls.base import NO_CALL_FILTERS, Figures, Hour, find_session

# The three figures of the first page: what was kept out of the context, answered at once, and needs a look.

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


# The list of sessions with its filters, and one session with its calls.

SESSIONS: Final = 30
"""Sessions on one page: a screen or two, and some eight screens of a phone."""
CALLS: Final = 50
"""Calls on one page of a session."""
FOUND_CALLS: Final = 20
"""Calls that the list of sessions shows when it is filtered."""


def sessions(request: Request) -> Response:
    """Show the sessions, newest first; with filters, also the calls that match."""
    look, filters = look_of(request), read_filters(request.query_params)
    latest = look.calls.latest()  # before the rows, so that the page reloads if a call arrives in between
    after = read_place(request.query_params.get("after", ""))
    rows = look.calls.sessions(SESSIONS + 1, filters, after)
    has_filters = filters != NO_CALL_FILTERS
    overview = read_overview(look) if after is None and not has_filters else ()
    return page(
        request,
        "sessions.html",
        latest=latest,
        sessions=rows[:SESSIONS],
        older=write_place((rows[SESSIONS - 1].last_at, rows[SESSIONS - 1].id)) if len(rows) > SESSIONS else "",
        is_first=after is None,
        overview=overview,
        calls=look.calls.calls(FOUND_CALLS, filters) if has_filters and after is None else (),
        filters=filters,
        has_filters=has_filters,
        fields=write_filters(filters),
        choices=look.calls.choices(),
    )


def session(request: Request) -> Response:
    """Show one session with its calls, newest first."""
    values = view_session(look_of(request), request.path_params["id"], request.query_params)
    if values is None:
        raise HTTPException(404, "This session is unknown. It was deleted, or it is older than the log keeps.")
    return page(request, "session.html", **values)


def view_session(look: Look, id: str, query: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the values of the template of a session, None if it is unknown."""
    latest = look.calls.latest()
    if (summary := find_session(look.calls, id)) is None:
        return None
    filters = replace(read_filters(query), session=id)
    after = read_place(query.get("after", ""))
    rows = look.calls.calls(CALLS + 1, filters, after)
    return {
        "latest": latest,
        "session": summary,
        "calls": rows[:CALLS],
        "older": write_place((rows[CALLS - 1].started_at, rows[CALLS - 1].id)) if len(rows) > CALLS else "",
        "is_first": after is None,
    }


routes = [Route("/", sessions), Route("/sessions/{id}", session)]
