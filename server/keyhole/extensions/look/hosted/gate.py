"""Admit each person of a hosted server to the pages of its tenant: sign-in, the check of the token, and limits.

The token is checked at every request, by the verifier of the MCP endpoint. A browser sends it in a cookie, a program
in the Authorization header.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Protocol

from starlette.responses import Response

from keyhole.errors import KeyholeError
from keyhole.extensions.look.hosted.attempts import Attempts
from keyhole.extensions.look.hosted.responses import WRONG_TOKEN, limited, redirect, refused, sign_in_page, unavailable
from keyhole.extensions.look.hosted.sign_in import clear_cookie, keep_cookie, own_path, read_sign_in, read_token
from keyhole.extensions.look.page import LOOK, Look
from keyhole.extensions.look.same_origin import check_request
from keyhole.serve.http.asgi import App, Receive, Refusal, Scope, Send, read_body
from keyhole.serve.http.bodies import BODY_SECONDS, replay
from keyhole.serve.http.host import Verifier
from keyhole.serve.http.host_check import PAGES_PATH
from keyhole.serve.http.refusals import LimitRefusal, limit_refusal
from keyhole.serve.http.slots import Slots
from keyhole.serve.http.token_bucket import Rate, TokenBuckets

FIRST: Final = f"{PAGES_PATH}/"
SIGN_IN: Final = f"{PAGES_PATH}/sign-in"
SIGN_OUT: Final = f"{PAGES_PATH}/sign-out"
STATIC: Final = f"{PAGES_PATH}/static/"
LIVE: Final = f"{PAGES_PATH}/live"
"""Path of the streams, which are open for minutes and compute nothing."""
MAX_FORM_BYTES: Final = 64_000
"""Maximum bytes of a form. Its longest field is a token or an address."""
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
"""Opens what a tenant may look at. Its store and its log stay open until the block ends."""
_SLOW: Final = Refusal(408, "request_timeout", f"the form did not arrive within {BODY_SECONDS:.0f} seconds")
_LARGE: Final = Refusal(413, "request_too_large", f"a form has at most {MAX_FORM_BYTES:,} bytes")


@dataclass(frozen=True, slots=True)
class Person:
    """The owner of a valid token."""

    tenant: str = ""
    """The name of the tenant, "" for the operator."""


OPERATOR: Final = Person()


class Operator(Protocol):
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
        operator: Operator,
        scopes: Sequence[str] = (),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`pages`: the application of the pages. `scopes`: those that a token must have."""
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
    """Return the body of a form, or why it is refused."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = await read_body(receive, MAX_FORM_BYTES)
    except TimeoutError:
        return _SLOW
    return _LARGE if body is None else body
