"""Export one session or one call as a single HTML file, which needs no server, no script and no other file."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.look.page import Look, ServedLinks, html_response, look_of, render
from keyhole.extensions.look.sessions_pages import FOLDED_CHARS, CallView, view_of
from keyhole.store.calls.base import CallFilters, CallSummary, SessionSummary, find_session

MAX_CALLS: Final = 500
"""Calls of a session that a file contains, the newest of them."""
MAX_GAP_CHARS: Final = 5_000_000
"""Characters of the text between shown passages that a file contains, for all its calls together: a browser opens a
file of this size in about a second. Longer gaps are named by their offsets."""


@dataclass(frozen=True, slots=True)
class ExportLinks(ServedLinks):
    """The addresses within an exported file; "" for pages that the file does not contain."""

    session_id: str = ""
    call_ids: Collection[str] = ()

    def session(self, id: str) -> str:
        return "#session" if self.session_id == id else ""

    def call(self, id: str) -> str:
        return f"#call-{id}" if id in self.call_ids else ""

    def _address(self, path: str, **query: str) -> str:  # noqa: ARG002 - the file contains no other page
        return ""


def export(look: Look, session: str = "", call: str = "") -> str:
    """Return the HTML of a call, of a session, or of the newest session by default.

    Raises KeyholeError: invalid_argument if there is no such call or session.
    """
    return export_call(look, call) if call else export_session(look, session)


def export_call(look: Look, id: str) -> str:
    """Return the HTML of one call. Raises KeyholeError: invalid_argument if it is unknown."""
    view = view_of(look, id)
    if view is None:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"call: the log has no call {id}")
    title = view.summary.query or view.summary.target or view.summary.tool
    return _render(look, title, None, (), [view], omitted=0)


def export_session(look: Look, id: str = "") -> str:
    """Return a session as HTML, with its oldest call first. Without an id it is the newest session.

    Raises KeyholeError: invalid_argument if there is no such session.
    """
    session = find_session(look.calls, id)
    if session is None:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"session: the log has no {f'session {id}' if id else 'calls yet'}")
    calls = look.calls.calls(MAX_CALLS, CallFilters(session=session.id))
    room = min(FOLDED_CHARS, MAX_GAP_CHARS // max(1, len(calls)))
    found = [view_of(look, call.id, room) for call in reversed(calls)]
    views = [view for view in found if view is not None]
    title = session.about or f"Session of {session.client or 'an unnamed client'}"
    return _render(look, title, session, calls, views, omitted=session.calls - len(views))


def _render(
    look: Look,
    title: str,
    session: SessionSummary | None,
    calls: Sequence[CallSummary],
    views: Sequence[CallView],
    omitted: int,
) -> str:
    ids = frozenset(view.summary.id for view in views)
    links = ExportLinks(session_id=session.id if session else "", call_ids=ids)
    style = read_style()
    return render(
        replace(look, links=links),
        "export.html",
        title=title,
        style=style,
        policy=f"default-src 'none'; style-src '{hash_of(style)}'; img-src data:; base-uri 'none'; form-action 'none'",
        session=session,
        calls=calls,
        views=views,
        omitted=omitted,
    )


def read_style() -> str:
    """Return the style sheet of the pages."""
    return (files("keyhole.extensions.look") / "static" / "look.css").read_text(encoding="utf-8")


def hash_of(style: str) -> str:
    """Return the source expression that allows an inline style in a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


# The pages that offer the file of a session or a call to save.

_OUTSIDE_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]+")


def save_session(request: Request) -> Response:
    """Return the file of a session."""
    look, id = look_of(request), request.path_params["id"]
    if find_session(look.calls, id) is None:
        raise HTTPException(404, "This session is unknown. It was deleted, or it is older than the log keeps.")
    return _attach(export(look, session=id), f"keyhole-session-{id}")


def save_call(request: Request) -> Response:
    """Return the file of a call."""
    look, id = look_of(request), request.path_params["id"]
    if look.calls.get(id) is None:
        raise HTTPException(404, "This call is unknown. It was deleted, or it is older than the log keeps.")
    return _attach(export(look, call=id), f"keyhole-call-{id}")


def _attach(html: str, name: str) -> Response:
    """Return a file that the browser saves instead of showing it."""
    file = _OUTSIDE_NAMES.sub("-", name)
    return html_response(html, headers={"content-disposition": f'attachment; filename="{file}.html"'})


routes = [Route("/sessions/{id}/export", save_session), Route("/calls/{id}/export", save_call)]
