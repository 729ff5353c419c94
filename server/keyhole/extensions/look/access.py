"""Admit the person at this machine: check Host, Origin and the fetch metadata, and exchange a token for a cookie.

A page of any site in the person's browser can send requests to loopback, and so can other users of the machine. The
headers that browsers set stop such pages. The token stops other users: only the person's terminal and a private file
show it. The token of the file is valid once. If it comes a second time without the cookie, one of the two senders is
somebody else: then every session ends, and new tokens are made.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Mapping
from html import escape
from types import MappingProxyType
from typing import Final, Protocol

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from keyhole.extensions.look.page import LOOK, Look
from keyhole.serve.http.asgi import App, Message, Receive, Refusal, Scope, Send
from keyhole.serve.http.origins import LOOPBACK_HOSTS, WEB_PORTS, parse_authority, parse_origin

NO_COOKIE: Final = (
    "Open the link that `keyhole look` printed in the terminal. A link that opened a browser works once.\n"
)
USED: Final = (
    "Another program used this link before. If that was not you, it may have seen your pages. All sessions were ended: "
    "open the new link that `keyhole look` printed in the terminal.\n"
)
_CONTINUE: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={0}">'
    '<link rel="icon" href="data:,"><title>Keyhole</title><p><a href="{0}">Continue</a></p></html>'
)
"""The response to a token. After a redirect, a link on another program's page would still count as `cross-site`, and
the browser would not send the cookie."""


class Keys:
    """The secrets of the sessions of one run of the server. `new` returns a random text."""

    def __init__(self, new: Callable[[], str]) -> None:
        self._new = new
        self.spent = ""
        """The used token of the file; "" if it is not used yet."""
        self.renew()

    def renew(self) -> None:
        """Replace the secrets, so that nobody is admitted by the earlier ones."""
        self.token = self._new()
        """The token in the printed link, valid until the next renewal."""
        self.once = self._new()
        """The token in the file that the browser opens, "" once it is used up."""
        self.cookie = self._new()
        """The value of the cookie that a token is exchanged for."""

    def take(self, token: str) -> bool:
        """Return whether a token is valid, and use up the one that is valid once."""
        if self.once and is_equal(token, self.once):
            self.once, self.spent = "", token
            return True
        return is_equal(token, self.token)

    def is_spent(self, token: str) -> bool:
        """Return whether a token was valid once and is used up."""
        return bool(self.spent) and is_equal(token, self.spent)


class Terminal(Protocol):
    """Tells the person what happens to the links."""

    def begin(self, link: str, link_of_file: str) -> None:
        """Show the printed link, and open the other one, which is valid once, in the browser."""
        ...

    def finish(self) -> None:
        """Remove the file with the link that is valid once: the link was used, or the server stops."""
        ...

    def restart(self, link: str) -> None:
        """Say that somebody else may have used the link of the file, and print the new link."""
        ...


def check_host(value: str, port: int) -> Refusal | None:
    """Return the refusal of a request unless its Host is loopback with the server's port.

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

    def __init__(
        self, app: App, look: Look, keys: Keys, port: int, terminal: Terminal, end_streams: Callable[[], None]
    ) -> None:
        """Create it. `end_streams` ends the open responses when all sessions end."""
        self._app = app
        self._look = look
        self._keys = keys
        self._port = port
        self._terminal = terminal
        self._end_streams = end_streams

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
        """Return the response to a request that must not reach the pages, None for other requests."""
        method, headers = request.scope["method"], request.headers
        refusal = check_host(headers.get("host", ""), self._port) or check_request(method, headers)
        if refusal is not None:
            return PlainTextResponse(f"Refused: {refusal.message}.\n", refusal.status, dict(refusal.headers))
        has_cookie = is_equal(request.cookies.get(cookie_name(self._port), ""), self._keys.cookie)
        token = request.query_params.get("token")
        if token is not None and method == "GET":
            if self._keys.take(token):
                return self._exchange(request.url.path)
            if self._keys.is_spent(token) and not has_cookie:  # with the cookie, it is the same browser again
                return self._end_sessions()
        return None if has_cookie else PlainTextResponse(NO_COOKIE, 403)

    def _end_sessions(self) -> Response:
        """End all sessions and return the response to a link that was used before.

        This happens once for each link, so that the used link cannot end the new sessions too.
        """
        self._keys.spent = ""
        self._keys.renew()
        self._keys.once = ""
        self._end_streams()
        self._terminal.restart(link_to(self._port, self._keys.token))
        return PlainTextResponse(USED, 403)

    def _exchange(self, path: str) -> Response:
        """Return the response that sets the cookie and continues with the page that the link names."""
        if not self._keys.once:
            self._terminal.finish()
        response = HTMLResponse(_CONTINUE.format(escape("/" + path.lstrip("/"))))  # not //host, which is another server
        response.set_cookie(cookie_name(self._port), self._keys.cookie, httponly=True, samesite="strict")
        return response


def link_to(port: int, token: str) -> str:
    """Return the link with a token."""
    return f"http://127.0.0.1:{port}/?token={token}"


def is_equal(one: str, other: str) -> bool:
    """Return whether two secrets are equal, in a time that does not depend on them."""
    return hmac.compare_digest(one.encode(), other.encode())


# The origin of requests: the pages themselves, or an address that a person opened. A page of another site can make a
# browser send requests with the cookie of this one. A sibling domain always can, because SameSite counts it as the
# same site. Browsers state where a request comes from in Origin and Sec-Fetch-Site, which pages cannot set. The
# caller has checked Host.

METHODS: Final = ("GET", "HEAD", "POST")
OWN: Final = "same-origin"

_FORM: Final = re.compile(r"application/x-www-form-urlencoded\s*(?:;\s*charset=utf-8\s*)?", re.IGNORECASE)
_METHOD: Final = Refusal(
    405, "method_not_allowed", "the allowed methods are GET and POST", (("allow", ", ".join(METHODS)),)
)
_TYPE: Final = Refusal(415, "unsupported_media_type", "the body must be a form, not compressed")
_FOREIGN: Final = Refusal(403, "cross_site", "the request comes from a page of another site")
_UNKNOWN: Final = Refusal(403, "cross_site", "a form of these pages is sent with its Origin")


def check_request(method: str, headers: Mapping[str, str]) -> Refusal | None:
    """Return the refusal of a request that another site may have caused, or None. Header names are in lower case."""
    if method not in METHODS:
        return _METHOD
    if method == "POST":
        return _check_form(headers) or _check_post(headers)
    return _check_get(headers)


def _check_form(headers: Mapping[str, str]) -> Refusal | None:
    is_form = _FORM.fullmatch(headers.get("content-type", "").strip())
    return None if is_form and headers.get("content-encoding", "identity") == "identity" else _TYPE


def _check_post(headers: Mapping[str, str]) -> Refusal | None:
    """Return the refusal of a form that another site may have sent, or None. Programs with a token need no Origin."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        # With some referrer policies, the Origin of a page's own form is `null`.
        return None if site == OWN and (origin in {None, "null"} or _is_own(origin, headers)) else _FOREIGN
    if origin is not None:
        return None if _is_own(origin, headers) else _FOREIGN
    return None if "authorization" in headers else _UNKNOWN


def _check_get(headers: Mapping[str, str]) -> Refusal | None:
    """Return the refusal of a GET by a page of another site, or None. Links to these pages are allowed."""
    if "origin" in headers and not _is_own(headers["origin"], headers):
        return _FOREIGN
    if headers.get("sec-fetch-site", OWN) in {OWN, "none"}:
        return None
    is_link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return None if is_link else _FOREIGN


def _is_own(origin: str | None, headers: Mapping[str, str]) -> bool:
    """Return whether an Origin is that of the Host. It must be https, except on loopback."""
    page, host = parse_origin(origin or ""), parse_authority(headers.get("host", ""))
    if page is None or host is None or (page.scheme != "https" and page.host not in LOOPBACK_HOSTS):
        return False
    return (page.host, page.port) == (host.host, host.port or WEB_PORTS[page.scheme])


# The security headers of every response: nothing is loaded from elsewhere, framed or kept in a cache.

POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""The content security policy: only this server's own style and script, no inline style or script."""
HEADERS: Final = MappingProxyType(
    {
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        # Other sites get no referrer. `no-referrer` would make browsers send `Origin: null` with the page's own forms.
        "referrer-policy": "same-origin",
        "cache-control": "no-store",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=(), clipboard-read=()",
    }
)


def add_headers(app: App) -> App:
    """Return `app` with `HEADERS` added to every response. Headers that the response sets itself are kept."""

    async def middleware(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await app(scope, receive, send_with_headers)

    return middleware
