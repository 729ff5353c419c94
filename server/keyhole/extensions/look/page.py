"""Render a page from a template, for the tenant to whom the request belongs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from keyhole.extensions.look.formats import FILTERS
from keyhole.extensions.look.links import Links
from keyhole.store.base import Clock, Store
from keyhole.store.calls.base import CallLog

LOOK: Final = "keyhole.look"
"""The key in a request's scope of the `Look` of its tenant."""

DONE: Final = "done"
"""The field of an address that names the action that was just done."""


@dataclass(frozen=True, slots=True)
class Look:
    """The calls and stored texts of one tenant, which one person may see."""

    calls: CallLog
    store: Store
    clock: Clock
    links: Links
    person: str = ""
    """The name of the tenant that a person signed in as; "" on the person's own machine."""
    ttl: float = 0.0
    """Seconds without a read after which a text expires; 0 if it is unknown."""
    servers: Callable[[], tuple[str, ...]] = tuple
    """Returns a line for each shared server of the person's own machine."""


def look_of(request: Request) -> Look:
    """Return the `Look` of the request's tenant, which the application has put into its scope."""
    look: Look = request.scope[LOOK]
    return look


@cache
def environment() -> Environment:
    """Return the environment of all templates. Every value is escaped, and a missing value is an error."""
    templates = Environment(
        loader=PackageLoader("keyhole.extensions.look"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(FILTERS)
    return templates


def render(look: Look, template: str, **values: Any) -> str:
    """Return a template's HTML. The template has `links`, `now`, `person`, and the values."""
    return environment().get_template(template).render(links=look.links, now=look.clock(), person=look.person, **values)


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return the response with a template's HTML for the request's tenant. `done` names an action that was done."""
    done = request.query_params.get(DONE, "")
    return html_response(render(look_of(request), template, done=done, **values), status)


def html_response(html: str, status: int = 200, headers: Mapping[str, str] | None = None) -> HTMLResponse:
    """Return the response with an HTML document. Lone surrogates, which pages can contain, become question marks."""
    return HTMLResponse(html.encode("utf-8", "replace"), status, headers)
