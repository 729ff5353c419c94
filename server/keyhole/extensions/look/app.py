"""Build the application of the pages: routes, static files, and pages for errors.

The layer around it decides who may look, and puts the `Look` of that person into the request's scope: access.py for a
person at this machine, the hosted server for its tenants.
"""

from __future__ import annotations

from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.look import (
    actions,
    call_page,
    download,
    figures_page,
    live,
    misses_page,
    rendered,
    sessions_page,
    text_page,
    texts_page,
)
from keyhole.extensions.look.page import LOOK, environment, page

PAGES: Final = (
    sessions_page,
    call_page,
    download,
    text_page,
    rendered,
    misses_page,
    figures_page,
    texts_page,
    live,
    actions,
)
"""The modules with pages; each has `routes`."""
STATUSES: Final = {
    Code.INVALID_ARGUMENT: 400,
    Code.UNKNOWN_ARTIFACT: 404,
    Code.EXPIRED_ARTIFACT: 410,
    Code.STORE_UNAVAILABLE: 503,
}
"""HTTP statuses of the errors that a page can have; others are 500."""


def build_pages() -> Starlette:
    """Return the application. Every request but those of static files has a `Look` in its scope.

    The templates are compiled here, so that the first page does not wait for it.
    """
    templates = environment()
    for name in templates.list_templates():
        templates.get_template(name)
    routes: list[BaseRoute] = [route for module in PAGES for route in module.routes]
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
