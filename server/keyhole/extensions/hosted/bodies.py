"""Read complete request bodies and check their size, time and nesting, before any parser reads them.

The application receives each body in one piece. The body bytes of all open requests are limited too, in total and per
tenant.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Final

from keyhole.serve.http.asgi import App, Message, Receive, Refusal, Scope, Send, refuse, replay
from keyhole.serve.http.limits import BODY_SECONDS
from keyhole.serve.stdio import replace_lone_surrogates
from keyhole.serve.tools import tenant_of

MAX_DEPTH: Final = 64
"""Maximum nesting depth of arrays and objects. A call has four levels. Python's parser fails at about a thousand, with
an error that its callers do not expect."""
MAX_OPENERS: Final = 20_000
"""Maximum arrays and objects in a body; opening brackets in strings count too. A call has ten, and no argument is
longer than 4,000 characters. A megabyte of brackets takes twenty megabytes in the parser."""
MAX_OPEN_BYTES: Final = 16_000_000
"""Maximum body bytes of all open requests. A call has one kilobyte, so this allows sixteen thousand calls, or sixteen
bodies of the largest size."""
MAX_OPEN_BYTES_PER_TENANT: Final = 4_000_000
"""Maximum body bytes of one tenant's open requests, so that its slow bodies do not keep other tenants out."""
LINGER_SECONDS: Final = 2.0
"""Seconds for which the rest of a refused body is read and dropped. Closing at once would reset the connection, and the
client would not receive the refusal (RFC 9112, section 9.6)."""
READING_SLOT: Final = "keyhole.reading"
"""Key in a request's scope: an ExitStack that releases the request's slot (app.py)."""

_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_OBJECT: Final = re.compile(rb"[ \t\r\n]*\{")
_NOT_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")
_STEPS: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}

_TOO_LARGE: Final = Refusal(413, "request_too_large", "the body has more bytes than KEYHOLE_MAX_REQUEST_BYTES allows")
_TOO_SLOW: Final = Refusal(408, "request_timeout", f"the body did not arrive within {BODY_SECONDS:.0f} seconds")
_ENCODED: Final = Refusal(415, "unsupported_encoding", "the body must not be compressed", (("accept-encoding", ""),))
_TENANT_FULL: Final = Refusal(
    503, "open_requests", "one user has too many large requests open", (("retry-after", "1"),)
)
_SERVER_FULL: Final = Refusal(503, "server_full", "too many large requests are open", (("retry-after", "1"),))


@dataclass(slots=True)
class _Reading:
    """The state of a body that is being read."""

    tenant: str
    body: bytearray = field(default_factory=bytearray)
    counted: int = 0
    """Bytes of this body that count against the limits until the request is answered."""
    is_complete: bool = False
    is_disconnected: bool = False

    def take_body(self) -> bytes:
        """Return the body and release its buffer, so that only one copy stays in memory."""
        body, self.body = bytes(self.body), bytearray()
        return body


def check_body_headers(headers: Mapping[bytes, bytes], max_bytes: int) -> Refusal | None:
    """Return the refusal of a body by its headers, before it is read, or None."""
    if headers.get(b"content-encoding", b"identity").strip().lower() not in {b"identity", b""}:
        return _ENCODED
    declared = headers.get(b"content-length", b"0")
    if declared.isdigit() and (len(declared) > 18 or int(declared) > max_bytes):
        return _TOO_LARGE
    return None


def check_body(body: bytes) -> Refusal | None:
    """Return the refusal of a body that must not be parsed, or None. Takes linear time."""
    if not _OBJECT.match(body):
        return Refusal(400, "invalid_request", "the body must be one JSON-RPC message; batches are not supported")
    if b"\0" in body:  # UTF-16: Python's parser reads it too, but brackets are counted in UTF-8
        return Refusal(400, "invalid_request", "the body must be in UTF-8")
    if body.count(b"[") + body.count(b"{") > MAX_OPENERS:
        return Refusal(400, "invalid_request", f"the body has more than {MAX_OPENERS:,} arrays and objects")
    if nesting_depth(body) > MAX_DEPTH:
        return Refusal(400, "invalid_request", f"the body nests deeper than {MAX_DEPTH} levels")
    return None


def nesting_depth(body: bytes) -> int:
    """Return the nesting depth of arrays and objects.

    For a body with at most MAX_DEPTH opening brackets, return their number instead, an upper bound that is faster.
    """
    openers = body.count(b"[") + body.count(b"{")
    if openers <= MAX_DEPTH:
        return openers
    brackets = _STRING.sub(b"", body).translate(None, _NOT_BRACKETS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def repair_body(body: bytes) -> bytes:
    """Return the body with escaped lone surrogates replaced: one of the SDK's parsers rejects them."""
    return replace_lone_surrogates(body.decode("latin-1")).encode("latin-1") if b"\\u" in body else body


class BodyMiddleware:
    """Middleware that reads and checks bodies. A server has one: it counts the body bytes of all open requests."""

    def __init__(
        self, app: App, max_bytes: int, *, seconds: float = BODY_SECONDS, max_open_bytes: int = MAX_OPEN_BYTES
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._max_open_bytes = max(max_open_bytes, max_bytes)
        self._max_open_bytes_per_tenant = max(MAX_OPEN_BYTES_PER_TENANT, max_bytes)
        self._open_bytes: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, then call the application with it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        reading = _Reading(tenant_of(scope))
        try:
            refusal = await self._read(scope, receive, reading)
            if refusal is not None:
                if READING_SLOT in scope:
                    scope[READING_SLOT].close()  # a request that is being refused needs no slot
                await _send_refusal(refusal, reading, receive, send)
            elif not reading.is_disconnected:
                await self._app(scope, replay(repair_body(reading.take_body()), receive), send)
        finally:
            self._open_bytes -= Counter({reading.tenant: reading.counted})  # drops tenants without open bytes

    async def _read(self, scope: Scope, receive: Receive, reading: _Reading) -> Refusal | None:
        if refusal := check_body_headers(dict(scope["headers"]), self._max_bytes):
            return refusal
        try:
            async with asyncio.timeout(self._seconds):
                while not reading.is_complete:
                    if refusal := self._add_piece(await receive(), reading):
                        return refusal
        except TimeoutError:
            return _TOO_SLOW
        is_checked = scope["method"] == "POST" and not reading.is_disconnected
        return check_body(bytes(reading.body)) if is_checked else None

    def _add_piece(self, message: Message, reading: _Reading) -> Refusal | None:
        """Add one piece to a body; return a refusal if it exceeds a limit."""
        reading.is_disconnected = message["type"] != "http.request"
        reading.is_complete = reading.is_disconnected or not message.get("more_body", False)
        piece = message.get("body", b"")
        if len(reading.body) + len(piece) > self._max_bytes:
            return _TOO_LARGE
        if self._open_bytes[reading.tenant] + len(piece) > self._max_open_bytes_per_tenant:
            return _TENANT_FULL
        if self._open_bytes.total() + len(piece) > self._max_open_bytes:
            return _SERVER_FULL
        reading.body += piece
        reading.counted += len(piece)
        self._open_bytes[reading.tenant] += len(piece)
        return None


async def _send_refusal(refusal: Refusal, reading: _Reading, receive: Receive, send: Send) -> None:
    """Send a refusal at once. If the body is incomplete, read and drop the rest for LINGER_SECONDS, then close."""
    if reading.is_complete:
        await refuse(send, refusal)
        return

    async def send_without_end(message: Message) -> None:
        await send({**message, "more_body": True} if message["type"] == "http.response.body" else message)

    await refuse(send_without_end, replace(refusal, headers=(*refusal.headers, ("connection", "close"))))
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            while (message := await receive())["type"] == "http.request" and message.get("more_body", False):
                pass
    await send({"type": "http.response.body", "body": b""})
