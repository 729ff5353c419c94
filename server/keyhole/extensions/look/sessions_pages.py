"""The pages of sessions and calls: the list of sessions with its filters, one session, and one call."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.errors import KeyholeError
from keyhole.extensions.look.figures_pages import ColumnChart, column_chart, group_hours, since_of
from keyhole.extensions.look.page import (
    Look,
    format_number,
    format_percent,
    look_of,
    page,
    read_filters,
    read_place,
    write_filters,
    write_place,
)
from keyhole.extensions.look.text_pages import WINDOW_CHARS, quote_of
from keyhole.extensions.look.text_view import TextView, read_text, view_whole
from keyhole.render.budget import CHARS_PER_TOKEN
from keyhole.store.calls.base import (
    NO_CALL_FILTERS,
    PLAIN_CHARS,
    CallFilters,
    CallRecord,
    CallSummary,
    Figures,
    Hour,
    ReadText,
    find_session,
    list_following,
)
from keyhole.text.data_file import read_lines

# The three figures of the first page: what was kept out of the context, answered at once, and needs a look.

DAYS: Final = 7
"""Days that the overview sums up. The page of figures offers other ranges."""


@dataclass(frozen=True, slots=True)
class Headline:
    """A figure with its change over time. `page`: the page with details."""

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
    """Return the three figures of the overview."""
    days = group_hours(figures.hours, DAYS, now)
    plain, kept = sum(hour.plain_chars for hour in figures.hours), sum(map(_kept, figures.hours))
    per_char, misses = _tokens_per_char(figures.hours), sum(hour.misses for hour in figures.hours)
    unread = dict(figures.misses).get("error", 0)
    tokens = round(max(0, kept) * per_char)
    return (
        Headline(
            "Kept out of the context",
            f"{format_number(tokens)} tokens",
            f"{format_percent(max(0, kept), plain)} of what a plain fetch sends, estimated; {price_of(tokens)}",
            column_chart("Kept out", ("kept",), [(label, (max(0, _kept(hour)) * per_char,)) for label, hour in days]),
            "figures",
            f"{format_number(max(0, kept))} of {format_number(plain)} characters; a plain fetch sends each text once a "
            f"session, and at most {format_number(PLAIN_CHARS)} characters of it",
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
            f"{format_number(unread)} could not be read, {format_number(misses - unread)} were not enough",
            column_chart("Misses", ("misses",), [(label, (hour.misses,)) for label, hour in days]),
            "misses",
        ),
    )


def price_of(tokens: int) -> str:
    """Return the price of tokens of input, with the model and the date of the price."""
    model, dollars, date = read_lines(__file__, "price.txt")
    return f"${tokens * float(dollars) / 1e6:,.2f} at ${dollars} a million ({model}, {date})"


def _kept(hour: Hour) -> int:
    """Return the characters that results left out of what a plain fetch sends; negative if they show more."""
    return hour.plain_chars - hour.shown_chars


def _tokens_per_char(hours: tuple[Hour, ...]) -> float:
    """Return the tokens per character in the results of these calls; the value for English if there are no results."""
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


# One call: what was asked, exactly what was answered, and the stored texts with the passages that were shown.

FOLDED_CHARS: Final = 200_000
"""Characters of long gaps that the page of a call contains, for all its texts together: the page takes up to 1 MB then.
Longer gaps link to their text."""

MAX_NEIGHBOURS: Final = 500
"""The newest calls of a session that link to each other. Few sessions have more."""


@dataclass(frozen=True, slots=True)
class CallText:
    """A text that a call read or tried to read. `view` is None if it was not read or is no longer stored."""

    read: ReadText
    view: TextView | None = None
    problem: str = ""
    """Why a text that was read cannot be shown."""

    @property
    def frame_start(self) -> int:
        """Return the offset at which the frame with the rendered text begins: 0 if the first passage is near there."""
        start, end = min(self.read.spans, default=(0, 0))
        return 0 if end <= WINDOW_CHARS else start


@dataclass(frozen=True, slots=True)
class CallView:
    """One call with its texts and the calls around it."""

    record: CallRecord
    request: str
    """The call as JSON, to be copied."""
    arguments: tuple[tuple[str, str], ...]
    """The name and the value of each argument, as they are shown."""
    texts: tuple[CallText, ...]
    follows: CallSummary | None
    following: tuple[CallSummary, ...]
    earlier: CallSummary | None
    later: CallSummary | None
    """The calls of the session just before and after this one."""

    @property
    def summary(self) -> CallSummary:
        """Return the summary of the call."""
        return self.record.summary

    @property
    def subject(self) -> str:
        """Return the subject of the call: its query, the title of the stored text it asked for, or its target."""
        summary = self.record.summary
        titles = (text.read.title for text in self.texts if text.read.id == summary.target)
        return summary.query or next(titles, "") or summary.target


def view_of(look: Look, id: str, room: int = FOLDED_CHARS) -> CallView | None:
    """Return the view of a call with at most `room` characters of long gaps, None if the call is unknown."""
    record = look.calls.get(id)
    if record is None:
        return None
    followed = look.calls.get(record.summary.follows) if record.summary.follows else None
    session = look.calls.calls(MAX_NEIGHBOURS, CallFilters(session=record.summary.session))
    return CallView(
        record,
        format_request(record),
        list_arguments(record.arguments, default_arguments(record.summary.tool)),
        _view_texts(look, record, room),
        followed.summary if followed else None,
        list_following(look.calls, id),
        *find_neighbours(session, id),
    )


def find_neighbours(calls: Sequence[CallSummary], id: str) -> tuple[CallSummary | None, CallSummary | None]:
    """Return the calls just before and just after a call, or None. `calls`: newest first."""
    around = (None, *calls, None)
    places = (place for place, call in enumerate(around) if call and call.id == id)
    place = next(places, 0)
    return (around[place + 1], around[place - 1]) if place else (None, None)


def format_request(record: CallRecord) -> str:
    """Return a call as the JSON that a client sends: the name of the tool and its arguments."""
    return json.dumps(
        {"name": record.summary.tool, "arguments": _parse(record.arguments)}, ensure_ascii=False, indent=2
    )


def default_arguments(tool: str) -> Mapping[str, object]:
    """Return the optional arguments of a tool with their defaults."""
    from keyhole.retrieval.dispatch import ARGUMENTS  # late: it loads pydantic, which the other pages do not need

    fields = ARGUMENTS[tool].model_fields if tool in ARGUMENTS else {}
    return {name: field.default for name, field in fields.items() if not field.is_required()}


def list_arguments(
    arguments: str, defaults: Mapping[str, object] = MappingProxyType({})
) -> tuple[tuple[str, str], ...]:
    """Return the names and values of a JSON object: strings without quotes, other values as JSON.

    Arguments that have their default are left out.
    """
    parsed = _parse(arguments)
    if not isinstance(parsed, dict):
        return (("arguments", arguments),) if arguments else ()
    return tuple(
        (str(name), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in parsed.items()
        if name not in defaults or value != defaults[name]
    )


def _parse(arguments: str) -> object:
    """Return the value of a JSON text; the text itself if it is not JSON, because it was shortened."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _view_texts(look: Look, record: CallRecord, room: int) -> tuple[CallText, ...]:
    """Return the texts of a call, each shown text with its passages marked."""
    shown = [text for text in record.texts if text.id and text.spans]
    share = room // max(1, len(shown))
    return tuple(_view_text(look, text, record, share) if text in shown else CallText(text) for text in record.texts)


def _view_text(look: Look, text: ReadText, record: CallRecord, room: int) -> CallText:
    try:
        stored = read_text(look.store, text.id)
        return CallText(text, view_whole(stored, text.spans, record.summary.query, room, quote_of(record)))
    except KeyholeError as error:
        return CallText(text, problem=error.message)


def _call(request: Request) -> Response:
    view = view_of(look_of(request), request.path_params["id"])
    if view is None:
        raise HTTPException(404, "This call is not in the log: it has expired or was deleted.")
    return page(request, "call.html", view=view)


routes: Final[Sequence[Route]] = (
    Route("/", sessions),
    Route("/sessions/{id}", session),
    Route("/calls/{id}", _call),
)
