"""Bodies of HTTP requests: whole, bounded in size, time and nesting before anybody parses one. No meaning of them.

A body is read here and handed on as one piece. What all requests under way hold together is bounded too: a full
server says so at once, and one tenant cannot fill it.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from keyhole.serve.http.asgi import App, Message, Receive, Refusal, Scope, Send, refuse
from keyhole.serve.surrogates import without_halves
from keyhole.serve.tools import tenant_of

MAX_DEPTH: Final = 64
"""Arrays and objects within each other. A call has four; Python's own parser gives up at about a thousand, and not
with an error that its callers expect."""
MAX_OPENERS: Final = 20_000
"""Arrays and objects in a body, those in strings counted. A call has ten, and no argument is longer than 4,000
characters; a megabyte of them becomes twenty in the parser."""
BODY_SECONDS: Final = 20.0
"""For a whole body: a megabyte over a line of 0.4 Mbit/s. One that drips keeps a connection no longer."""
MAX_HELD: Final = 16_000_000
"""Bytes of bodies of all requests under way. A call has one kilobyte, so this is sixteen thousand of them, or sixteen
of the largest."""
MAX_HELD_EACH: Final = 4_000_000
"""Bytes of those of one tenant, so that its slow bodies shut nobody else out."""
LINGER_SECONDS: Final = 2.0
"""How long a refused body is read and dropped: closing at once would reset the connection, and the client would see
that instead of our answer (RFC 9112, section 9.6)."""
READING: Final = "keyhole.reading"
"""In the scope of a request: what lets go of its place among those that are being read (admission.py)."""

_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_OBJECT: Final = re.compile(rb"[ \t\r\n]*\{")
_NOT_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")
_STEPS: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}

_TOO_LARGE: Final = Refusal(413, "request_too_large", "the body has more bytes than KEYHOLE_MAX_REQUEST_BYTES allows")
_TOO_SLOW: Final = Refusal(408, "request_timeout", f"the body did not come within {BODY_SECONDS:.0f} seconds")
_ENCODED: Final = Refusal(415, "unsupported_encoding", "the body must not be compressed", (("accept-encoding", ""),))
_TOO_MANY: Final = Refusal(503, "open_requests", "too many large requests of one user", (("retry-after", "1"),))
_FULL: Final = Refusal(503, "server_full", "too many large requests are under way", (("retry-after", "1"),))


@dataclass(slots=True)
class _Reading:
    """A body as far as it has come."""

    tenant: str
    body: bytearray = field(default_factory=bytearray)
    held: int = 0
    """Bytes that it counts for, until the request is answered."""
    finished: bool = False
    gone: bool = False
    """The client went away, so that there is nobody to answer."""

    def whole(self) -> bytes:
        """The body, which is then held once."""
        body, self.body = bytes(self.body), bytearray()
        return body


def head_refusal(headers: Mapping[bytes, bytes], max_bytes: int) -> Refusal | None:
    """Why a body is not even read, or None: what its headers say of it."""
    if headers.get(b"content-encoding", b"identity").strip().lower() not in {b"identity", b""}:
        return _ENCODED
    declared = headers.get(b"content-length", b"0")
    if declared.isdigit() and (len(declared) > 18 or int(declared) > max_bytes):
        return _TOO_LARGE
    return None


def body_refusal(body: bytes) -> Refusal | None:
    """Why a body must not be parsed, or None. Linear, and the parser is the judge of everything else."""
    if not _OBJECT.match(body):
        return Refusal(
            400, "invalid_request", "the body must be one JSON-RPC message, an object; batches are not taken"
        )
    if b"\0" in body:  # UTF-16, which Python's parser reads too: there our count of brackets would be wrong
        return Refusal(400, "invalid_request", "the body must be in UTF-8")
    if body.count(b"[") + body.count(b"{") > MAX_OPENERS:
        return Refusal(400, "invalid_request", f"the body has more than {MAX_OPENERS:,} arrays and objects")
    if depth(body) > MAX_DEPTH:
        return Refusal(400, "invalid_request", f"the body nests deeper than {MAX_DEPTH} levels")
    return None


def depth(body: bytes) -> int:
    """How deep arrays and objects nest, or more: brackets in strings do not count where the exact answer matters."""
    openers = body.count(b"[") + body.count(b"{")
    if openers <= MAX_DEPTH:
        return openers
    brackets = _STRING.sub(b"", body).translate(None, _NOT_BRACKETS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def mended(body: bytes) -> bytes:
    """A body without escapes of lone surrogates, which one of the SDK's parsers refuses; all else as it was."""
    return without_halves(body.decode("latin-1")).encode("latin-1") if b"\\u" in body else body


class Bounded:
    """The layer. One for the whole server, since it counts what all requests hold."""

    def __init__(self, app: App, max_bytes: int, *, seconds: float = BODY_SECONDS, max_held: int = MAX_HELD) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._max_held = max(max_held, max_bytes)
        self._max_held_each = max(MAX_HELD_EACH, max_bytes)
        self._held: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, then let the application under it answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        reading = _Reading(tenant_of(scope))
        try:
            wrong = await self._read(scope, receive, reading)
            if wrong is not None:
                if READING in scope:
                    scope[READING].close()  # who is only told so takes nobody's place
                await _end(wrong, reading, receive, send)
            elif not reading.gone:
                await self._app(scope, replay(mended(reading.whole()), receive), send)
        finally:
            self._held -= Counter({reading.tenant: reading.held})  # who holds nothing is not remembered

    async def _read(self, scope: Scope, receive: Receive, reading: _Reading) -> Refusal | None:
        if wrong := head_refusal(dict(scope["headers"]), self._max_bytes):
            return wrong
        try:
            async with asyncio.timeout(self._seconds):
                while not reading.finished:
                    if wrong := self._take(await receive(), reading):
                        return wrong
        except TimeoutError:
            return _TOO_SLOW
        return body_refusal(bytes(reading.body)) if scope["method"] == "POST" and not reading.gone else None

    def _take(self, message: Message, reading: _Reading) -> Refusal | None:
        """One piece more, or why it is too much."""
        reading.gone = message["type"] != "http.request"
        reading.finished = reading.gone or not message.get("more_body", False)
        piece = message.get("body", b"")
        if len(reading.body) + len(piece) > self._max_bytes:
            return _TOO_LARGE
        if self._held[reading.tenant] + len(piece) > self._max_held_each:
            return _TOO_MANY
        if self._held.total() + len(piece) > self._max_held:
            return _FULL
        reading.body += piece
        reading.held += len(piece)
        self._held[reading.tenant] += len(piece)
        return None


def replay(body: bytes, receive: Receive) -> Receive:
    """What the application receives: the body in one piece, then whatever comes, such as that the client went."""
    pieces: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pieces.pop() if pieces else await receive()

    return replay


async def _end(wrong: Refusal, reading: _Reading, receive: Receive, send: Send) -> None:
    """Answer at once; a connection on which more of the body comes is closed once the client has seen the answer."""
    if reading.finished:
        await refuse(send, wrong.status, wrong.code, wrong.message, wrong.headers)
        return

    async def without_end(message: Message) -> None:
        await send({**message, "more_body": True} if message["type"] == "http.response.body" else message)

    await refuse(without_end, wrong.status, wrong.code, wrong.message, (*wrong.headers, ("connection", "close")))
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            while (message := await receive())["type"] == "http.request" and message.get("more_body", False):
                pass
    await send({"type": "http.response.body", "body": b""})
