"""What the layers of the HTTP server have in common: the shape of one, who asks, and an answer that ends a request.
No policy."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from keyhole import observe
from keyhole.store.base import LOCAL

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An ASGI application. A layer is one that was made with the application under it."""


def tenant_of(scope: Scope) -> str:
    """Who asks, by the name that authentication gave; without authentication all are the one user."""
    token = getattr(scope.get("user"), "access_token", None)
    return str(token.client_id) if token is not None else LOCAL


async def refuse(send: Send, status: int, code: str, message: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
    """End a request with a JSON body that names what is wrong: `{"error": code, "message": message}`."""
    observe.refused(code)
    body = json.dumps({"error": code, "message": message}).encode()
    fields = [("content-type", "application/json"), ("content-length", str(len(body))), *headers]
    encoded = [(name.encode(), value.encode()) for name, value in fields]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
