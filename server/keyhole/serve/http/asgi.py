"""What the layers of the HTTP server have in common: the shape of one, and answers that end a request. No policy."""

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
"""An ASGI application. A layer is one that was made with the application under it."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """How a request ends that is not let in."""

    status: int
    code: str
    message: str
    headers: tuple[tuple[str, str], ...] = ()


async def refuse(send: Send, status: int, code: str, message: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
    """End a request with a JSON body that names what is wrong: `{"error": code, "message": message}`."""
    instrumentation.refused(code)
    await say(send, status, {"error": code, "message": message}, headers)


async def say(send: Send, status: int, said: Mapping[str, Any], headers: tuple[tuple[str, str], ...] = ()) -> None:
    """End a request with a JSON body."""
    await say_bytes(send, status, json.dumps(said).encode(), (("content-type", "application/json"), *headers))


async def say_bytes(send: Send, status: int, body: bytes, headers: tuple[tuple[str, str], ...]) -> None:
    """End a request with a body of the type that the headers name."""
    fields = [(name.encode(), value.encode()) for name, value in (*headers, ("content-length", str(len(body))))]
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": body})
