"""The list of sessions with its filters, and one session with its calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.extensions.look.fields import read_filters, read_place, write_filters, write_place
from keyhole.extensions.look.overview import read_overview
from keyhole.extensions.look.page import Look, look_of, page
from keyhole.store.calls.base import find_session
from keyhole.store.calls.record import NO_CALL_FILTERS

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
