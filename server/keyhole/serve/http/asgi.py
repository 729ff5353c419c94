"""ASGI types, request bodies, JSON responses and refusals that the applications and the middleware share."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from keyhole.retrieval import instrumentation

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An ASGI application. Middleware is an application that wraps another."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The response to a request that is refused."""

    status: int
    code: str
    message: str
    headers: tuple[tuple[str, str], ...] = ()


async def read_body(receive: Receive, most: int | None = None) -> bytes | None:
    """Return the body of a request, b"" if the client has gone, or None if it has more than `most` bytes."""
    body = bytearray()
    while (message := await receive())["type"] == "http.request":
        body += message.get("body", b"")
        if most is not None and len(body) > most:
            return None
        if not message.get("more_body"):
            return bytes(body)
    return b""


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that returns the body in one piece, then the original's messages, such as a disconnect."""
    pieces: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pieces.pop() if pieces else await receive()

    return replay


async def refuse(send: Send, refusal: Refusal) -> None:
    """Send a refusal as the JSON body `{"error": code, "message": message}`."""
    instrumentation.count_refusal(refusal.code)
    await send_json(send, refusal.status, {"error": refusal.code, "message": refusal.message}, refusal.headers)


async def send_json(
    send: Send, status: int, value: Mapping[str, Any], headers: tuple[tuple[str, str], ...] = ()
) -> None:
    """Send a response with a JSON body."""
    await send_body(send, status, json.dumps(value).encode(), (("content-type", "application/json"), *headers))


async def send_body(send: Send, status: int, body: bytes, headers: tuple[tuple[str, str], ...]) -> None:
    """Send a response; `headers` must include its content type."""
    fields = [(name.encode(), value.encode()) for name, value in (*headers, ("content-length", str(len(body))))]
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": body})
