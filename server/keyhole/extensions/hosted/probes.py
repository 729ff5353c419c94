"""Answer the probes of orchestrators, `/healthz` and `/readyz`, and drain a stopping server."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from keyhole.errors import KeyholeError
from keyhole.serve.http.asgi import App, Message, Receive, Refusal, Scope, Send, refuse, send_json
from keyhole.store.base import LOCAL
from keyhole.store.stores import Stores

# Probes are answered before all checks of requests, since orchestrators connect by address and without a token.

log = logging.getLogger(__name__)

CACHE_SECONDS: Final = 1.0
"""Seconds for which the result of a store check is reused, so that probes cause at most one small read a second."""
CHECK_TIMEOUT: Final = 2.0
"""Seconds for a store check. Probes give up after one to five seconds, and calls cannot use a slower store."""
NO_STORE: Final = (("cache-control", "no-store"),)
READY: Final = "ready"
STARTING: Final = "starting"
DRAINING: Final = "draining"
UNAVAILABLE: Final = "store_unavailable"
IN_MEMORY: Final = "kept_in_memory"
"""The warning of stores that fell back to memory."""

StoreCheck = Callable[[], Awaitable[str]]
"""Checks the store: returns `ready` or a status word, or raises KeyholeError or OSError."""


class ProbesMiddleware:
    """Middleware that answers `/healthz` and `/readyz`."""

    def __init__(
        self,
        app: App,
        drain_state: DrainState,
        check_store: StoreCheck,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._drain_state = drain_state
        self._check_store = check_store
        self._now = now
        self._store_status, self._valid_until = STARTING, 0.0
        self._check: asyncio.Future[str] | None = None
        self._lock = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") else ""
        if path == "/healthz":
            await send_json(send, 200, {"status": "ok"}, NO_STORE)
        elif path == "/readyz":
            status = await self._status()
            await send_json(send, 200 if status == READY else 503, {"status": status}, NO_STORE)
        else:
            await self._app(scope, receive, send)

    async def _status(self) -> str:
        if self._drain_state.started.is_set():
            return DRAINING
        async with self._lock:  # probes that wait here use the same result
            if self._now() >= self._valid_until:
                before, self._store_status = self._store_status, await self._run_check()
                self._valid_until = self._now() + CACHE_SECONDS
                if before != self._store_status:
                    level = logging.INFO if self._store_status == READY else logging.WARNING
                    log.log(level, "the server is %s, and was %s", self._store_status, before)
        return self._store_status

    async def _run_check(self) -> str:
        """Check the store; return the status.

        A check that exceeds the timeout goes on, and the next probe waits for it, since each check occupies a thread.
        """
        if self._check is None:
            self._check = asyncio.ensure_future(self._check_store())
            self._check.add_done_callback(_retrieve_exception)
        done, _ = await asyncio.wait([self._check], timeout=CHECK_TIMEOUT)
        if not done:
            return UNAVAILABLE
        check, self._check = self._check, None
        try:
            return check.result()
        except (KeyholeError, OSError):
            return UNAVAILABLE


def _retrieve_exception(check: asyncio.Future[str]) -> None:
    """Retrieve the exception of a check that nobody awaits any more, so that asyncio does not log it."""
    if not check.cancelled():
        check.exception()


def check_stores(stores: Stores, in_memory: bool) -> str:
    """Return READY if a small read succeeds, or UNAVAILABLE if the stores fell back to memory and `in_memory` is False.

    Raises KeyholeError or OSError if the read fails.
    """
    stores.for_tenant(LOCAL)[0].remembers(b"")
    return UNAVAILABLE if stores.warning() == IN_MEMORY and not in_memory else READY


# Draining: a server that stops refuses new requests, lets active ones finish and closes idle streams.
# uvicorn_server.py starts draining and ends the process afterwards.

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
        """Answer a GET, which may be a stream for the length of a session; close it when draining starts."""
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
