"""Admit the person at this machine: check Host, Origin and the fetch metadata, and exchange a token for a cookie.

A page of any site in the person's browser can send requests to loopback, and so can other users of the machine. The
former are stopped by the headers that browsers set, the latter by the token, which only the person's terminal shows.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from html import escape
from typing import Final

from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from keyhole.serve.http.asgi import App, Receive, Refusal, Scope, Send
from keyhole.serve.http.origins import LOOPBACK_HOSTS, WEB_PORTS, parse_authority
from keyhole.serve.look.page import LOOK, Look
from keyhole.serve.look.same_origin import check_request

NO_COOKIE: Final = (
    "Open the link that `keyhole look` printed in the terminal. A link that opened a browser works once.\n"
)
_CONTINUE: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={0}">'
    '<link rel="icon" href="data:,"><title>Keyhole</title><p><a href="{0}">Continue</a></p></html>'
)
"""The response to a token. A redirect would keep the `cross-site` of a link in another program's page, and the browser
would not send the cookie."""


@dataclass(slots=True)
class Keys:
    """The secrets of one run of the server."""

    token: str
    """The token in the printed link, valid as long as the server runs."""
    cookie: str
    """The value of the cookie that a token is exchanged for."""
    single: set[str] = field(default_factory=set)
    """Tokens that are valid once: other users can see the link in the command line of the browser that it opens."""

    def admits(self, token: str) -> bool:
        """Return whether a token is valid. A token of `single` is used up."""
        if token in self.single:
            self.single.discard(token)
            return True
        return _is_equal(token, self.token)


def check_host(value: str, port: int) -> Refusal | None:
    """Return the refusal of a request whose Host is not loopback with the server's port, or None.

    A page whose host name resolves to this machine (DNS rebinding) sends its own name.
    """
    host = parse_authority(value)
    if host is None or host.host not in LOOPBACK_HOSTS or (host.port or WEB_PORTS["http"]) != port:
        return Refusal(
            421,
            "host_not_allowed",
            "the Host is not 127.0.0.1 with this server's port; a forwarded port must have the same number",
        )
    return None


def cookie_name(port: int) -> str:
    """Return the cookie's name, with the port because browsers share cookies between the ports of a host."""
    return f"keyhole-look-{port}"


class AccessMiddleware:
    """Admit requests with the cookie, and put the `Look` of the person into their scope."""

    def __init__(self, app: App, look: Look, keys: Keys, port: int) -> None:
        self._app = app
        self._look = look
        self._keys = keys
        self._port = port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # not supported; RFC 6455's policy violation
        elif (response := self._answer(HTTPConnection(scope))) is not None:
            await response(scope, receive, send)
        else:
            await self._app({**scope, LOOK: self._look}, receive, send)

    def _answer(self, request: HTTPConnection) -> Response | None:
        """Return the response to a request that does not reach the pages, None for one that does."""
        method, headers = request.scope["method"], request.headers
        refusal = check_host(headers.get("host", ""), self._port) or check_request(method, headers)
        if refusal is not None:
            return PlainTextResponse(f"Refused: {refusal.message}.\n", refusal.status, dict(refusal.headers))
        token = request.query_params.get("token")
        if token is not None and method == "GET" and self._keys.admits(token):
            return self._exchange(request.url.path)
        if not _is_equal(request.cookies.get(cookie_name(self._port), ""), self._keys.cookie):
            return PlainTextResponse(NO_COOKIE, 403)
        return None

    def _exchange(self, path: str) -> Response:
        """Return the response that sets the cookie and continues with the page that the link names."""
        response = HTMLResponse(_CONTINUE.format(escape("/" + path.lstrip("/"))))  # not //host, which is another server
        response.set_cookie(cookie_name(self._port), self._keys.cookie, httponly=True, samesite="strict")
        return response


def _is_equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
