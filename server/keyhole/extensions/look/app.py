"""Build the application of the pages: routes, static files, and pages for errors.

The layer around it decides who may see the pages, and puts the `Look` of that person into the request's scope:
access.py for a person at this machine, the hosted server for its tenants.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.look import export, figures_pages, sessions_pages, text_pages
from keyhole.extensions.look.page import DONE, LOOK, Look, environment, look_of, page, read_number
from keyhole.serve.http.asgi import read_body
from keyhole.store.calls.base import CallFilters

PAGES: Final = (sessions_pages, export, text_pages, figures_pages)
"""The modules with pages; each has `routes`."""
STATUSES: Final = {
    Code.INVALID_ARGUMENT: 400,
    Code.UNKNOWN_ARTIFACT: 404,
    Code.EXPIRED_ARTIFACT: 410,
    Code.STORE_UNAVAILABLE: 503,
}
"""HTTP statuses of the errors of pages; other errors are 500."""


def build_pages() -> Starlette:
    """Return the application. Every request, except for static files, has a `Look` in its scope.

    The templates are compiled here, so that the first page does not wait for it.
    """
    templates = environment()
    for name in templates.list_templates():
        templates.get_template(name)
    routes: list[BaseRoute] = [route for module in PAGES for route in module.routes]
    routes += [Route("/live", live), Route("/actions/{name}", act, methods=["POST"])]
    static = StaticFiles(packages=[("keyhole.extensions.look", "static")])
    return Starlette(
        routes=[*routes, Mount("/static", static)],
        exception_handlers={HTTPException: _show_http_error, KeyholeError: _show_error, Exception: _show_fault},
    )


def _show_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - for the type checker
    text = error.detail if error.detail != "Not Found" else "There is no such page."
    if LOOK not in request.scope:  # a static file
        return PlainTextResponse(text, error.status_code)
    return page(request, "error.html", error.status_code, code="", message=text, next_step="")


def _show_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, KeyholeError)  # noqa: S101 - for the type checker
    values = {"code": error.code, "message": error.message, "next_step": error.rule.next_step}
    return page(request, "error.html", STATUSES.get(error.code, 500), **values)


def _show_fault(request: Request, _: Exception) -> Response:
    """Return the page for an error of the program itself. The server logs its types and source lines."""
    return _show_error(request, KeyholeError(Code.INTERNAL_ERROR, "the page could not be made"))


# Forms that change the store and the log: delete a text, a call or a session, and pin texts against expiry. Only POST
# changes something. The layer around the pages has checked that the form comes from these pages.

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


# Server-sent events that tell the open pages when the log of calls changes.

SECONDS: Final = 1.0
"""Seconds between two reads of the log. A call is shown within a second, and a read takes microseconds."""
ROUNDS: Final = 300
"""Reads of the log until a stream ends: 5 minutes. The browser then connects again, and forgotten streams end."""
QUIET_ROUNDS: Final = 15
"""Reads without a change after which a comment is sent, so that a broken connection is noticed."""
RETRY: Final = "retry: 2000\n\n"
"""Milliseconds after which the browser connects again."""


async def live(request: Request) -> Response:
    """Stream an event for each change since the number `since`, which the page had when it was rendered.

    The stream ends early when `stopping`, an event in the state of the application, is set.
    """
    since = read_number(request.query_params.get("since", ""))
    latest = partial(asyncio.to_thread, look_of(request).calls.latest)
    stopping: asyncio.Event = getattr(request.app.state, "stopping", None) or asyncio.Event()
    events = changes(latest, partial(_wait, stopping), since)
    return StreamingResponse(events, media_type="text/event-stream")


async def _wait(stopping: asyncio.Event) -> bool:
    """Wait until the next read of the log, and return whether the server stops."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS):
            await stopping.wait()
    return stopping.is_set()


async def changes(
    latest: Callable[[], Awaitable[int]], wait: Callable[[], Awaitable[bool]], since: int | None
) -> AsyncIterator[str]:
    """Yield the events of one stream, until `wait` returns True or the log fails. The browser then connects again.

    `since`: the last number that the page knows, None to begin with the next.
    """
    yield RETRY
    seen = since
    for turn in range(1, ROUNDS + 1):
        try:
            number = await latest()
        except KeyholeError:
            return
        if number != seen and seen is not None:
            yield f"event: change\ndata: {number}\n\n"
        elif turn % QUIET_ROUNDS == 0:
            yield ": no change\n\n"
        seen = number
        if await wait():
            return
