"""Drain a stopping server: refuse new requests, let active ones finish, close idle streams.

uvicorn_server.py starts draining and ends the process afterwards.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

from keyhole.serve.http.asgi import App, Message, Receive, Refusal, Scope, Send, refuse

RETRY_AFTER: Final = 1
"""Seconds until a client should retry: a load balancer that polls /readyz then uses another server, or this server has
restarted."""

_DRAINING: Final = Refusal(
    503,
    "draining",
    "this server is stopping; ask again",
    (("retry-after", str(RETRY_AFTER)), ("connection", "close")),
)


@dataclass(slots=True)
class DrainState:
    """The progress of draining, and the number of active requests."""

    active_requests: int = 0
    started: asyncio.Event = field(default_factory=asyncio.Event)
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while no request is active."""

    def __post_init__(self) -> None:
        self.idle.set()

    def start(self) -> None:
        """Start draining."""
        self.started.set()

    def add_active(self, count: int) -> None:
        """Add `count`, which may be negative, to the active requests."""
        self.active_requests += count
        if self.active_requests:
            self.idle.clear()
        else:
            self.idle.set()


class DrainMiddleware:
    """Middleware that counts active requests and, while draining, refuses new ones and closes idle streams."""

    def __init__(self, app: App, state: DrainState) -> None:
        self._app = app
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["method"] == "GET":
            await self._get(scope, receive, send)
        elif self._state.started.is_set() and scope["method"] != "DELETE":  # a client may end its session
            await refuse(send, _DRAINING)
        else:
            self._state.add_active(1)
            try:
                await self._app(scope, receive, send)
            finally:
                self._state.add_active(-1)

    async def _get(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a GET, which may be a stream that is open until its session ends; close it when draining starts."""
        if self._state.started.is_set():
            await refuse(send, _DRAINING)
            return
        response_open = False

        async def track(message: Message) -> None:
            nonlocal response_open
            response_open = message["type"] == "http.response.start" or bool(message.get("more_body"))
            await send(message)

        await self._app(scope, _disconnect_on(self._state.started, receive), track)
        if response_open:
            await send({"type": "http.response.body", "body": b""})


def _disconnect_on(event: asyncio.Event, receive: Receive) -> Receive:
    """Return `receive`, except that it reports a disconnect once `event` is set."""

    async def receive_or_disconnect() -> Message:
        message, ended = asyncio.ensure_future(receive()), asyncio.ensure_future(event.wait())
        try:
            await asyncio.wait((message, ended), return_when=asyncio.FIRST_COMPLETED)
            return message.result() if message.done() else {"type": "http.disconnect"}
        finally:
            message.cancel()
            ended.cancel()

    return receive_or_disconnect
