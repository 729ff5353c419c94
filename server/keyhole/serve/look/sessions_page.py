"""The list of sessions with its filters, and one session with its calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.serve.look.page import Look, look_of, page
from keyhole.store.calls.record import NO_CALL_FILTERS, CallFilters, CallPlace

SESSIONS: Final = 50
"""Sessions on one page: a screen or two."""
CALLS: Final = 100
"""Calls on one page of a session."""
FOUND_CALLS: Final = 20
"""Calls that the list of sessions shows when it is filtered."""
MAX_FILTER: Final = 200
"""Characters of a filter that are used. An address is bounded, and so is the work of a search."""


def read_filters(query: Mapping[str, str]) -> CallFilters:
    """Return the filters of an address; unknown fields are ignored."""

    def given(name: str) -> str:
        return query.get(name, "").strip()[:MAX_FILTER]

    return CallFilters(
        client=given("client"),
        tool=given("tool"),
        site=given("site"),
        outcome=given("outcome"),
        words=given("words"),
        misses_only=given("misses_only") == "1",
    )


def write_filters(filters: CallFilters) -> dict[str, str]:
    """Return the fields of an address that `read_filters` reads as these filters."""
    fields = asdict(filters) | {"misses_only": "1" if filters.misses_only else ""}
    return {name: value for name, value in fields.items() if value and name != "session"}


def read_place(text: str) -> CallPlace | None:
    """Return the place after which a list continues, None for its beginning or a malformed place."""
    at, _, id = text.partition("~")
    try:
        return float(at), id
    except ValueError:
        return None


def write_place(place: CallPlace) -> str:
    """Return a place in the form that `read_place` reads."""
    return f"{place[0]!r}~{place[1]}"


def sessions(request: Request) -> Response:
    """Show the sessions, newest first; with filters, also the calls that match."""
    look, filters = look_of(request), read_filters(request.query_params)
    latest = look.calls.latest()  # first, so that a change during the reads is announced to the page
    after = read_place(request.query_params.get("after", ""))
    rows = look.calls.sessions(SESSIONS + 1, filters, after)
    has_filters = filters != NO_CALL_FILTERS
    return page(
        request,
        "sessions.html",
        latest=latest,
        sessions=rows[:SESSIONS],
        older=write_place((rows[SESSIONS - 1].last_at, rows[SESSIONS - 1].id)) if len(rows) > SESSIONS else "",
        is_first=after is None,
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
    if (summary := look.calls.session(id)) is None:
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
