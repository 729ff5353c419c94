"""The end of a server without the loss of a call: new ones are refused, those under way finish, idle streams close.

Who begins it, and what happens when it is over, is in running.py."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

from keyhole.serve.http.asgi import App, Message, Receive, Scope, Send, refuse

RETRY_AFTER: Final = 1
"""Seconds: by then a load balancer that looks at /readyz sends elsewhere, and one server has been started anew."""


@dataclass(slots=True)
class Draining:
    """Whether the server ends, and how many requests it still answers."""

    under_way: int = 0
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while no request is under way."""

    def __post_init__(self) -> None:
        self.idle.set()

    def begin(self) -> None:
        """From now on nothing new is taken."""
        self.begun.set()

    def entered(self, count: int) -> None:
        """So many requests more, or fewer, are under way."""
        self.under_way += count
        if self.under_way:
            self.idle.clear()
        else:
            self.idle.set()


class Drain:
    """The layer: counts requests, refuses new ones while the server ends, and ends the streams that only wait."""

    def __init__(self, app: App, draining: Draining) -> None:
        self._app = app
        self._draining = draining

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["method"] == "GET":
            await self._waiting(scope, receive, send)
        elif self._draining.begun.is_set() and scope["method"] != "DELETE":  # a client may end its session
            await _refused(send)
        else:
            self._draining.entered(1)
            try:
                await self._app(scope, receive, send)
            finally:
                self._draining.entered(-1)

    async def _waiting(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A GET, whose answer may be a stream that carries nothing until the session ends: it ends with the server,
        and in order."""
        if self._draining.begun.is_set():
            await _refused(send)
            return
        open_response = False

        async def noting(message: Message) -> None:
            nonlocal open_response
            open_response = message["type"] == "http.response.start" or bool(message.get("more_body"))
            await send(message)

        await self._app(scope, _until(receive, self._draining.begun), noting)
        if open_response:
            await send({"type": "http.response.body", "body": b""})


async def _refused(send: Send) -> None:
    headers = (("retry-after", str(RETRY_AFTER)), ("connection", "close"))
    await refuse(send, 503, "draining", "this server is stopping; ask again", headers)


def _until(receive: Receive, end: asyncio.Event) -> Receive:
    """The same, but when the server ends, the client seems to be gone."""

    async def received() -> Message:
        message, ended = asyncio.ensure_future(receive()), asyncio.ensure_future(end.wait())
        try:
            await asyncio.wait((message, ended), return_when=asyncio.FIRST_COMPLETED)
            return message.result() if message.done() else {"type": "http.disconnect"}
        finally:
            message.cancel()
            ended.cancel()

    return received
