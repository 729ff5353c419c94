"""Build the responses that a person gets before the pages: the sign-in form, and why a request is refused."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from starlette.responses import HTMLResponse, PlainTextResponse, Response

from keyhole.errors import KeyholeError
from keyhole.extensions.look.links import ServedLinks
from keyhole.extensions.look.page import environment
from keyhole.retrieval import instrumentation
from keyhole.serve.http.asgi import Refusal
from keyhole.serve.http.host import RETRY_AFTER
from keyhole.serve.http.host_check import PAGES_PATH
from keyhole.serve.http.refusals import LimitRefusal

LINKS: Final = ServedLinks(PAGES_PATH)
WRONG_TOKEN: Final = "This token is not valid, or it has expired."  # noqa: S105 - a message
PERSONAL: Final = MappingProxyType({"cache-control": "no-store", "vary": "Cookie, Authorization"})
"""Headers of every response that depends on the person."""


def sign_in_page(path: str, message: str = "") -> Response:
    """Return the form that asks for a token. `path`: the page to go to then; `message`: why a token was refused."""
    html = environment().get_template("sign_in.html").render(links=LINKS, path=path, message=message)
    return HTMLResponse(html, 401, {**PERSONAL, "www-authenticate": "Bearer"})


def redirect(path: str, cookie: str = "") -> Response:
    """Return a redirect to a path of the pages, which may set the cookie. Its method becomes GET."""
    headers = {**PERSONAL, "location": path}
    return Response(status_code=303, headers={**headers, "set-cookie": cookie} if cookie else headers)


def refused(refusal: Refusal) -> Response:
    """Return the response to a request that is refused."""
    instrumentation.count_refusal(refusal.code)
    return PlainTextResponse(f"Refused: {refusal.message}.\n", refusal.status, {**PERSONAL, **dict(refusal.headers)})


def limited(refusal: LimitRefusal) -> Response:
    """Return the response to a request that exceeds a limit."""
    instrumentation.count_refusal(refusal.reason)
    return PlainTextResponse(f"{refusal.message}\n", refusal.status, {**PERSONAL, "retry-after": str(refusal.wait)})


def unavailable(error: KeyholeError) -> Response:
    """Return the response while tokens cannot be checked, or the store cannot be opened. The cookie is kept."""
    return PlainTextResponse(f"Not available now: {error.message}.\n", 503, {**PERSONAL, "retry-after": RETRY_AFTER})
