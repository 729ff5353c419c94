"""Change the store and the log by forms: delete a text, a call or a session, and pin texts against expiry.

Only POST changes something. The layer around the pages has checked that the form comes from these pages.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from keyhole.extensions.look.page import DONE, Look, look_of
from keyhole.serve.http.asgi import read_body
from keyhole.store.calls.base import CallFilters

MAX_FORM_BYTES: Final = 8_192
"""Bytes of a form: an id of some 20 characters, and an address to return to."""
MAX_PINNED_CALLS: Final = 1_000
"""Calls of a session whose texts are pinned, the newest."""

ACTIONS: Final = MappingProxyType[str, Callable[[Look, str], object]](
    {
        "pin-text": lambda look, id: look.store.pin(id, True),
        "unpin-text": lambda look, id: look.store.pin(id, False),
        "delete-text": lambda look, id: look.store.remove(id),
        "delete-call": lambda look, id: look.calls.remove_call(id),
        "delete-session": lambda look, id: look.calls.remove_session(id),
        "pin-session": lambda look, id: pin_texts(look, id),
    }
)
"""The actions by name. Each returns a false value if there is nothing with this id."""


async def act(request: Request) -> Response:
    """Carry out one action, and continue with the page that the form names."""
    action = ACTIONS.get(request.path_params["name"])
    form = parse_form(await read_body(request.receive, MAX_FORM_BYTES))
    if action is None or not form.get("id"):
        raise HTTPException(400, "The form names no action of these pages, or no id.")
    look = look_of(request)
    if not await run_in_threadpool(action, look, form["id"]):
        raise HTTPException(404, "There is nothing with this id. It was deleted already, or it has expired.")
    path = own_path(form.get("next", "")) or look.links.sessions()
    return RedirectResponse(with_done(path, request.path_params["name"]), 303)


def pin_texts(look: Look, session: str) -> bool:
    """Pin the stored texts that the calls of a session read; return False if none is stored any more."""
    calls = look.calls.calls(MAX_PINNED_CALLS, CallFilters(session=session))
    records = (look.calls.get(call.id) for call in calls)
    texts = {text.id for record in records if record for text in record.texts if text.id}
    pinned = [look.store.pin(id, True) for id in sorted(texts)]
    return any(pinned)


def parse_form(body: bytes | None) -> dict[str, str]:
    """Return the fields of a form, none if it is too long or is not text in UTF-8."""
    try:
        return dict(parse_qsl((body or b"").decode(), max_num_fields=8))
    except ValueError:
        return {}


def with_done(path: str, action: str) -> str:
    """Return a path with the field that names the action, instead of an earlier one."""
    parts = urlsplit(path)
    fields = [each for each in parse_qsl(parts.query, keep_blank_values=True) if each[0] != DONE]
    return urlunsplit(("", "", parts.path, urlencode([*fields, (DONE, action)]), parts.fragment))


def own_path(address: str) -> str:
    """Return an address if it is a path of this server, "" otherwise. Browsers read a backslash as a slash."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    is_path = not parts.scheme and not parts.netloc and address.startswith("/") and not address.startswith("//")
    return address if is_path and "\\" not in address and address.isprintable() else ""


routes = [Route("/actions/{name}", act, methods=["POST"])]
