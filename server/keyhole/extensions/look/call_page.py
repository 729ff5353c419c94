"""Show one call: what was asked, exactly what was answered, and the stored texts with the passages that were shown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.errors import KeyholeError
from keyhole.extensions.look.page import Look, look_of, page
from keyhole.extensions.look.text_page import WINDOW_CHARS, quote_of
from keyhole.extensions.look.text_view.view import TextView, read_text, view_whole
from keyhole.store.calls.base import CallFilters, CallRecord, CallSummary, ReadText, list_following

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
        """Return what the call was about: its query, the title of the stored text it asked for, or its target."""
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
    """Return the calls just before and just after a call, None where there is none. `calls`: the newest first."""
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
    """Return the arguments of a tool that a call may leave out, with the values that they have then."""
    from keyhole.retrieval.dispatch import ARGUMENTS  # late: it loads pydantic, which the other pages do not need

    fields = ARGUMENTS[tool].model_fields if tool in ARGUMENTS else {}
    return {name: field.default for name, field in fields.items() if not field.is_required()}


def list_arguments(
    arguments: str, defaults: Mapping[str, object] = MappingProxyType({})
) -> tuple[tuple[str, str], ...]:
    """Return the names and values of a JSON object; a text without quotes, any other value as JSON.

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
    """Return the value of a JSON text, or the text itself if it is no JSON: it may have been shortened."""
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


routes: Final[Sequence[Route]] = (Route("/calls/{id}", _call),)
