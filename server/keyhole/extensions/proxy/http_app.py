"""Serve the proxy over streamable HTTP: each session has a server process or connection of its own."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from keyhole.extensions.proxy.http_headers import (
    Sender,
    error_status,
    find_demand,
    find_header_error,
    is_sessionless,
    read_authorization,
)
from keyhole.extensions.proxy.http_session import Event, HttpSession, Response
from keyhole.extensions.proxy.json_rpc import Message, invalid_line, one_line, parse
from keyhole.serve.http.asgi import Receive, Refusal, Scope, Send, read_body, refuse, send_body, send_json
from keyhole.serve.http.host import HEADER, SESSION_IDLE_SECONDS, find_session_id
from keyhole.serve.tools import tenant_of

log = logging.getLogger(__name__)

PATH: Final = "/mcp"
MAX_SESSIONS: Final = 100
"""The most open sessions. Each runs its own process of the server."""
REFUSAL_SECONDS: Final = 5.0
"""Seconds that a response of an accepted session waits to begin, so that a refusal of credentials can set its HTTP
status; servers check credentials first. A later refusal is an event. The wait is short, because a client cannot resume
a response that has not begun."""
RESUMABLE: Final = "2025-11-25"
"""The first protocol version whose clients expect an event with an id and no message at the beginning of a response."""
_EVENT_STREAM: Final = (b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")
_NO_SESSION: Final = Refusal(404, "session_not_found", "no session has this id: initialize again")
_FULL: Final = Refusal(503, "server_full", "too many sessions are open", (("retry-after", "10"),))
_WRONG_PATH: Final = Refusal(404, "not_found", f"the only path is {PATH}")
_NO_EVENT: Final = Refusal(400, "event_not_found", "the session has no event with the id of Last-Event-ID")
_NEEDS_SESSION: Final = Refusal(400, "session_required", "the header Mcp-Session-Id is missing: initialize first")

RunSession = Callable[[HttpSession, Sender], Awaitable[None]]
"""Runs the conversation of a session for a caller, until the session ends."""
Challenge = Callable[[Scope, str], str]
"""Rewrites the server's `WWW-Authenticate` for the client that sent a request."""

_Status = tuple[int, tuple[tuple[str, str], ...]]
"""An HTTP status, and the headers that belong to it."""


@dataclass(slots=True)
class _Open:
    """An open session."""

    key: tuple[Sender, str]
    session: HttpSession
    work: asyncio.Task[None]
    used: float = field(default_factory=time.monotonic)
    is_accepted: bool = False
    """True once the server has answered, without asking for credentials."""


class ProxyApp:
    """The ASGI application of the proxy."""

    def __init__(self, run_session: RunSession, challenge: Challenge | None = None) -> None:
        """`challenge`: None if the callers' credentials are not handed on to the server."""
        self._run_session = run_session
        self._challenge = challenge
        self._sessions: dict[tuple[Sender, str], _Open] = {}
        """Sessions by caller and id. In the newer protocol, which has no sessions, each caller has the id ""."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["path"] != PATH:
            await refuse(send, _WRONG_PATH)
        elif scope["method"] == "POST":
            await self._post(scope, receive, send)
        else:
            await self._get_or_delete(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        for kind in ("startup", "shutdown"):
            await receive()
            if kind == "shutdown":
                await self._end(list(self._sessions))
            await send({"type": f"lifespan.{kind}.complete"})

    async def _post(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            messages = parse(one_line(await read_body(receive) or b""))
        except ValueError as reason:
            await send_json(send, 400, invalid_line(str(reason)).data)
            return
        caller, id = self._caller(scope), find_session_id(scope["headers"])
        shared = not id and is_sessionless(scope["headers"], messages)
        is_first = not id and not shared
        if is_first and not any(message.method == "initialize" for message in messages):
            await refuse(send, _NEEDS_SESSION)
            return
        if shared and (mismatch := find_header_error(scope["headers"], messages)):
            await send_json(send, 400, mismatch.data)
            return
        if id and await self._find((caller, id)) is None:
            await refuse(send, _NO_SESSION)
            return
        id = secrets.token_hex(16) if is_first else id
        opened = await self._open((caller, id), shared=shared)
        if opened is None:
            await refuse(send, _FULL)
            return
        headers = [(HEADER, id.encode())] if is_first else []
        response = await opened.session.post(messages)
        if response is None:
            await send_body(send, 202, b"", ())
        else:
            find_status = partial(self._find_status, scope, opened, shared) if shared or self._challenge else None
            is_primed = not shared and _version(scope, messages) >= RESUMABLE
            await _stream(opened, response, receive, send, headers, find_status, is_primed=is_primed)
            if self._challenge and not opened.is_accepted and opened.session.is_idle:
                await self._end([(caller, id)])  # the server has not accepted its credentials

    def _find_status(self, scope: Scope, opened: _Open, shared: bool, raw: bytes) -> _Status | None:
        """Return the HTTP status for the first message of a response if it is an error with a status, else None."""
        if self._challenge and (demand := find_demand(raw)):
            challenge = self._challenge(scope, demand.challenge)
            return demand.status, (("www-authenticate", challenge),) if demand.challenge or demand.status == 401 else ()
        opened.is_accepted = True
        status = error_status(raw) if shared else None
        return (status, ()) if status else None

    def _caller(self, scope: Scope) -> Sender:
        return Sender(tenant_of(scope), read_authorization(scope["headers"]) if self._challenge else "")

    async def _get_or_delete(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = self._caller(scope), find_session_id(scope["headers"])
        opened = await self._find(key) if key[1] else None
        if opened is None:
            await refuse(send, _NO_SESSION if key[1] else _NEEDS_SESSION)
        elif scope["method"] == "DELETE":
            await self._end([key])
            await send_body(send, 200, b"", ())
        else:
            last_id = _header(scope, b"last-event-id")
            response = opened.session.resume(last_id) if last_id else opened.session.open_general()
            if response is None:
                await refuse(send, _NO_EVENT)
            else:
                await _stream(opened, response, receive, send, [])

    async def _find(self, key: tuple[Sender, str]) -> _Open | None:
        """Return the session of a caller by its id, None if the caller has no such session.

        Clients renew their tokens: with a new token, the session is found if the server accepts this token in it.
        """
        caller, id = key
        known = next((each for each in self._sessions if each[1] == id and each[0].tenant == caller.tenant), key)
        opened = self._sessions.get(key) or self._sessions.get(known)
        if opened is None or opened.key == key:
            return opened
        authorize = opened.session.authorize if caller.authorization else None
        if authorize is None or not await authorize(caller.authorization) or opened.key not in self._sessions:
            return None
        del self._sessions[opened.key]
        opened.key = key
        self._sessions[key] = opened
        return opened

    async def _open(self, key: tuple[Sender, str], *, shared: bool) -> _Open | None:
        """Return the open session, or open one; None if too many are open."""
        if key in self._sessions:
            self._sessions[key].used = time.monotonic()
            return self._sessions[key]
        now = time.monotonic()
        idle = [key for key, each in self._sessions.items() if each.session.is_idle]
        await self._end([key for key in idle if self._sessions[key].used + SESSION_IDLE_SECONDS < now])
        if len(self._sessions) >= MAX_SESSIONS:
            return None
        session = HttpSession(shared=shared)
        work = asyncio.ensure_future(self._run_session(session, key[0]))
        opened = self._sessions[key] = _Open(key, session, work)
        work.add_done_callback(lambda _: self._sessions.pop(opened.key, None))
        return opened

    async def _end(self, keys: Sequence[tuple[Sender, str]]) -> None:
        ended = [self._sessions.pop(key) for key in keys if key in self._sessions]
        for opened in ended:
            await opened.session.end()
        await asyncio.gather(*(opened.work for opened in ended), return_exceptions=True)


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for each, value in scope["headers"] if each == name), "")


def _version(scope: Scope, messages: Sequence[Message]) -> str:
    """Return the protocol version of a request: that of its header, or the one that `initialize` proposes."""
    proposed = (str(each.params.get("protocolVersion", "")) for each in messages if each.method == "initialize")
    return _header(scope, b"mcp-protocol-version") or next(proposed, "")


async def _stream(
    opened: _Open,
    response: Response,
    receive: Receive,
    send: Send,
    headers: list[tuple[bytes, bytes]],
    find_status: Callable[[bytes], _Status | None] | None = None,
    *,
    is_primed: bool = False,
) -> None:
    """Send the events of a response, until it ends or the client closes the connection.

    `find_status` returns the HTTP status of a first message that is sent as JSON, not as an event. `is_primed`: True to
    begin with an event that has an id only.
    """
    gone = asyncio.ensure_future(_wait_for_disconnect(receive))
    following = asyncio.ensure_future(response.receive())
    try:
        if find_status:
            can_begin = opened.is_accepted and opened.session.has_ids
            await _wait(opened, following, gone, REFUSAL_SECONDS if can_begin else None)
            first = following.result() if following.done() else None
            if first is not None and (status := find_status(first.raw)):
                await send_body(send, status[0], first.raw, (("content-type", "application/json"), *status[1]))
                return
        await send({"type": "http.response.start", "status": 200, "headers": [*_EVENT_STREAM, *headers]})
        if is_primed:
            await _send_event(send, b"id: " + Event(response.stream, 0, b"").id + b"\ndata:")
        while await _wait(opened, following, gone) and (event := following.result()) is not None:
            id = b"id: " + event.id + b"\n" if opened.session.has_ids else b""
            await _send_event(send, b"event: message\n" + id + b"data: " + one_line(event.raw))
            following = asyncio.ensure_future(response.receive())
        if not gone.done():
            await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()
        following.cancel()
        opened.used = time.monotonic()
        await opened.session.close(response)


async def _send_event(send: Send, event: bytes) -> None:
    await send({"type": "http.response.body", "body": event + b"\n\n", "more_body": True})


async def _wait(
    opened: _Open, following: asyncio.Future[Event | None], gone: asyncio.Future[None], seconds: float | None = None
) -> bool:
    """Wait for the next event of a response, and return whether it came.

    Return False if the session ended, the client closed the connection or `seconds` have passed.
    """
    await asyncio.wait((following, gone, opened.work), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    return following.done()


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
