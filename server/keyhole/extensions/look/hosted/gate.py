"""Admit each person of a hosted server to the pages of its tenant: sign-in, the check of the token, and limits.

The token is checked at every request, by the verifier of the MCP endpoint. A browser sends it in a cookie, a program
in the Authorization header.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import re
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Protocol
from urllib.parse import parse_qs

from starlette.responses import HTMLResponse, PlainTextResponse, Response

from keyhole.errors import KeyholeError
from keyhole.extensions.look.access import check_request
from keyhole.extensions.look.page import LOOK, Look, ServedLinks, environment
from keyhole.retrieval import instrumentation
from keyhole.runtime.bounded_dict import BoundedDict
from keyhole.serve.http.asgi import App, Receive, Refusal, Scope, Send, read_body, replay
from keyhole.serve.http.host import PAGES_PATH, RETRY_AFTER, Verifier
from keyhole.serve.http.limits import BODY_SECONDS, LimitRefusal, Rate, Slots, TokenBuckets, limit_refusal

FIRST: Final = f"{PAGES_PATH}/"
SIGN_IN: Final = f"{PAGES_PATH}/sign-in"
SIGN_OUT: Final = f"{PAGES_PATH}/sign-out"
STATIC: Final = f"{PAGES_PATH}/static/"
LIVE: Final = f"{PAGES_PATH}/live"
"""Path of the event streams, which are open for minutes and need no computation."""
MAX_FORM_BYTES: Final = 64_000
"""Maximum bytes of a form. The longest fields are tokens and addresses."""
REQUESTS_PER_MINUTE: Final = 600
"""Requests of one tenant per minute: ten a second, enough for a few open tabs that are renewed after each call."""
PAGES_AT_ONCE: Final = 4
"""Pages of one tenant that are made at once: a page that ranks a large text occupies a processor meanwhile."""
MAX_PAGES: Final = 16
"""Pages of all tenants that are made at once, so that most threads stay free."""
STREAMS_AT_ONCE: Final = 10
"""Open streams of one tenant: each of its open tabs has one."""
MAX_STREAMS: Final = 100
"""Open streams of all tenants. Each asks the tenant's log once a second whether it has changed."""
OpenLook = Callable[[str], AbstractAsyncContextManager[Look]]
"""Opens the `Look` of a tenant. Its store and its log stay open until the block ends."""
_SLOW: Final = Refusal(408, "request_timeout", f"the form did not arrive within {BODY_SECONDS:.0f} seconds")
_LARGE: Final = Refusal(413, "request_too_large", f"a form has at most {MAX_FORM_BYTES:,} bytes")


@dataclass(frozen=True, slots=True)
class Person:
    """The owner of a valid token."""

    tenant: str = ""
    """The name of the tenant, "" for the operator."""


OPERATOR: Final = Person()


class AdmitsOperator(Protocol):
    """The view of the operator, who has a token of its own."""

    def admits(self, token: str) -> bool:
        """Return whether a token is the operator's."""
        ...

    async def show(self) -> Response:
        """Return the view. Raises KeyholeError if the stores cannot be read."""
        ...


class Gate:
    """Signs people in and out, and hands each person's requests to the pages with the `Look` of the person's tenant."""

    def __init__(
        self,
        pages: App,
        verifier: Verifier,
        open_look: OpenLook,
        operator: AdmitsOperator,
        scopes: Sequence[str] = (),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create it around the application `pages`. `scopes`: those that a token must have."""
        self._pages = pages
        self._verifier = verifier
        self._open_look = open_look
        self._operator = operator
        self._scopes = frozenset(scopes)
        self._now = now
        self._rate = TokenBuckets(Rate(REQUESTS_PER_MINUTE))
        self._attempts = Attempts()
        self._views = Slots(PAGES_AT_ONCE, MAX_PAGES)
        self._streams = Slots(STREAMS_AT_ONCE, MAX_STREAMS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a path of the pages."""
        try:
            response = await self._answer({**scope, "root_path": PAGES_PATH}, receive, send)
        except KeyholeError as error:  # from the verifier or the stores; the pages answer their own errors
            response = unavailable(error)
        if response is not None:
            await response(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> Response | None:
        """Return the response to a request; None if the pages have sent one."""
        path, is_post = scope["path"], scope["method"] == "POST"
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if refusal := check_request(scope["method"], headers):
            return refused(refusal)
        if is_post:
            if isinstance(body := await _read_form(receive), Refusal):
                return refused(body)
            if path == SIGN_IN:
                return await self._sign_in(scope, body)
            if path == SIGN_OUT:
                return redirect(FIRST, clear_cookie())
            receive = replay(body, receive)
        elif path.startswith(STATIC):
            await self._pages(scope, receive, send)
            return None
        person = await self._find_person(scope, token := read_token(scope["headers"]))
        if isinstance(person, LimitRefusal):
            return limited(person)
        if person is None:
            return sign_in_page(FIRST if is_post else _wanted_path(scope), WRONG_TOKEN if token else "")
        if person is OPERATOR:
            return redirect(FIRST) if is_post or path != FIRST else await self._operator.show()
        return await self._serve(person.tenant, scope, receive, send)

    async def _sign_in(self, scope: Scope, body: bytes) -> Response:
        form = read_sign_in(body)
        person = await self._find_person(scope, form.token)
        if isinstance(person, LimitRefusal):
            return limited(person)
        return redirect(form.path, keep_cookie(form.token)) if person else sign_in_page(form.path, WRONG_TOKEN)

    async def _find_person(self, scope: Scope, token: str) -> Person | LimitRefusal | None:
        """Return the owner of a token, None if it is invalid, or a refusal if the address has tried too many tokens.

        Raises KeyholeError if the token cannot be checked now.
        """
        if not token:
            return None
        address = str((scope.get("client") or ("",))[0])
        if wait := self._attempts.begin(address, token, self._now()):
            return limit_refusal("sign_ins_per_minute", wait)
        is_valid = None
        try:
            person = OPERATOR if self._operator.admits(token) else await self._find_tenant(token)
            is_valid = person is not None
        finally:
            self._attempts.end(address, token, is_valid=is_valid)
        return person

    async def _find_tenant(self, token: str) -> Person | None:
        user = await self._verifier.verify_token(token)
        is_tenant = user is not None and user.client_id and self._scopes <= {*user.scopes}
        return Person(user.client_id) if user is not None and is_tenant else None

    async def _serve(self, tenant: str, scope: Scope, receive: Receive, send: Send) -> Response | None:
        """Answer a tenant's request within its limits; return the response only if the pages have sent none."""
        if wait := self._rate.take(tenant, self._now()):
            return limited(limit_refusal("requests_per_minute", wait))
        if scope["path"] in {PAGES_PATH, SIGN_IN, SIGN_OUT}:
            return redirect(FIRST)
        slots = self._streams if scope["path"] == LIVE else self._views
        if slots.is_full_for(tenant):
            return limited(limit_refusal("open_streams" if slots is self._streams else "pages_at_once"))
        if slots.is_full():
            return limited(limit_refusal("server_full"))
        with slots.slot(tenant):
            async with self._open_look(tenant) as look:
                await self._pages({**scope, LOOK: look}, receive, send)
        return None


def _wanted_path(scope: Scope) -> str:
    """Return the path to go to after a sign-in."""
    if scope["path"] in {SIGN_IN, SIGN_OUT}:
        return FIRST
    query = scope["query_string"].decode("latin-1")
    return own_path(f"{scope['path']}?{query}" if query else scope["path"])


async def _read_form(receive: Receive) -> bytes | Refusal:
    """Return the body of a form, or its refusal."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = await read_body(receive, MAX_FORM_BYTES)
    except TimeoutError:
        return _SLOW
    return _LARGE if body is None else body


# The limit of tokens that an address may try, in the form or in cookies: a token that a person chose can be guessed.

REFUSED_PER_MINUTE: Final = 10
"""Invalid tokens of one address per minute, also the most at once: more than a person mistypes, and no more than 14,400
guesses a day. Behind a proxy, all addresses are that of the proxy."""
MAX_ACCEPTED: Final = 1_000
"""Tokens that are remembered as valid, about 200 KB. The least recently used are dropped first."""
_NETWORK_BITS: Final = 64
"""Bits of an IPv6 address that count: a customer of a provider has all addresses that share them."""


class Attempts:
    """Counts the invalid tokens of each address. A token that was valid here is checked without a limit.

    So the attempts of others, even behind the same proxy, lock out nobody who has signed in.
    """

    def __init__(self) -> None:
        self._rate = TokenBuckets(Rate(REFUSED_PER_MINUTE))
        self._accepted: BoundedDict[bytes, None] = BoundedDict(MAX_ACCEPTED)

    def begin(self, address: str, token: str, now: float) -> float:
        """Return 0 if a token may be checked now, else the seconds to wait. Call `end` after the check."""
        return 0.0 if _digest(token) in self._accepted else self._rate.take(_network(address), now)

    def end(self, address: str, token: str, *, is_valid: bool | None) -> None:
        """Record whether a token is valid, None if that could not be checked."""
        digest = _digest(token)
        was_valid = digest in self._accepted
        if is_valid:
            self._accepted[digest] = None
        elif is_valid is False:
            self._accepted.pop(digest, None)
        if is_valid is not False and not was_valid:
            self._rate.refund(_network(address))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _network(address: str) -> str:
    """Return the network that counts as one address."""
    try:
        if (parsed := ipaddress.ip_address(address)).version == 6:
            return str(ipaddress.ip_network((int(parsed) >> _NETWORK_BITS << _NETWORK_BITS, _NETWORK_BITS)))
    except ValueError:  # a socket without an address
        pass
    return address


# The cookie that holds the token of a person's browser, and the form that sends the token once. The cookie is the
# token itself, so that each of several servers can check it, and a revoked token ends at once. Its prefix makes
# browsers accept it only over TLS and from this very host, never from a sibling domain.

COOKIE: Final = "__Host-keyhole"
ATTRIBUTES: Final = "Path=/; Secure; HttpOnly; SameSite=Strict"
"""Attributes of the cookie. Without Max-Age, it ends with the browser."""
MAX_TOKEN_CHARS: Final = 3_800
"""Maximum characters of a token in a cookie: browsers keep cookies of up to 4,096 bytes with name and attributes."""
MAX_PATH_CHARS: Final = 2_000

_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""A bearer token, RFC 6750 section 2.1. All its characters may be in a cookie."""
_PATH: Final = re.compile(r"/look/(?:[A-Za-z0-9_~/-]|%(?!2[Ee])[0-9A-Fa-f]{2})*(?:\?[A-Za-z0-9_~.%&=+:@-]*)?")
"""A path of the pages with its query. Dots, even encoded, are not allowed, because two dots would lead elsewhere."""


@dataclass(frozen=True, slots=True)
class SignInForm:
    """The fields of a sign-in."""

    token: str = field(repr=False)
    """The token, "" if it cannot be kept in a cookie."""
    path: str
    """The path of the pages to go to."""


def read_token(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the token of a request, "" for none: that of its Authorization header or, without one, of its cookie."""
    cookies: list[str] = []
    for name, value in headers:
        text = value.decode("latin-1")
        if name == b"authorization":
            scheme, _, token = text.strip().partition(" ")
            return checked_token(token.strip()) if scheme.lower() == "bearer" else ""
        if name == b"cookie":
            pairs = (pair.strip().partition("=") for pair in text.split(";"))
            cookies += [content for key, _, content in pairs if key == COOKIE]
    # Two cookies of one name come from different places, and one of them may be an attacker's.
    return checked_token(cookies[0]) if len(cookies) == 1 else ""


def checked_token(token: str) -> str:
    """Return a token if a cookie can hold it, else ""."""
    return token if len(token) <= MAX_TOKEN_CHARS and _TOKEN.fullmatch(token) else ""


def read_sign_in(body: bytes) -> SignInForm:
    """Return the fields of a sign-in form; missing and invalid ones are empty."""
    try:
        fields = parse_qs(body.decode("ascii"), max_num_fields=10, errors="strict")
    except (ValueError, UnicodeDecodeError):
        return SignInForm("", own_path(""))
    token, path = (fields.get(name, [""])[0] for name in ("token", "next"))
    return SignInForm(checked_token(token.strip()), own_path(path))


def own_path(path: str) -> str:
    """Return a path if it belongs to the pages, else the path of the first page."""
    return path if len(path) <= MAX_PATH_CHARS and _PATH.fullmatch(path) else "/look/"


def keep_cookie(token: str) -> str:
    """Return the Set-Cookie header that keeps a token."""
    return f"{COOKIE}={token}; {ATTRIBUTES}"


def clear_cookie() -> str:
    """Return the Set-Cookie header that removes the token."""
    return f"{COOKIE}=; {ATTRIBUTES}; Max-Age=0"


# The responses that a person gets before the pages: the sign-in form, and why a request is refused.

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
