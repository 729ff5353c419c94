"""Offer a session or a call as one HTML file to save, which needs no server."""

from __future__ import annotations

import re
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.extensions.look.export import export
from keyhole.extensions.look.page import html_response, look_of
from keyhole.store.calls.base import find_session

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
