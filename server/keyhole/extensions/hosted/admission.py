"""Limit the requests of each tenant: a call waits for its turn, all other requests are admitted or refused at once.

Tool calls and reads of stored pages count as calls. All other requests (handshakes, listings, notifications) have
separate limits, so that a client whose calls are refused can still reconnect. Open streams have separate limits too,
since they only use a connection.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from keyhole.config.config import Config
from keyhole.serve.http.asgi import App, Receive, Scope, Send
from keyhole.serve.http.bodies import BODY_SECONDS, READING_SLOT, BodyMiddleware, replay
from keyhole.serve.http.refusals import (
    UNREAD_REQUEST,
    LimitRefusal,
    RequestInfo,
    limit_refusal,
    read_request,
    send_limit_refusal,
)
from keyhole.serve.http.sessions import SessionCounts
from keyhole.serve.http.slots import CallSlots, Slots
from keyhole.serve.http.token_bucket import Rate, TokenBuckets
from keyhole.serve.tools import SLOT, WAITED, tenant_of

REQUESTS_PER_CALL: Final = 10
"""Allowed requests for each allowed call: a client sends four requests to start, and one or two around a call."""
MIN_REQUESTS_PER_MINUTE: Final = 600
"""Least requests per minute that a tenant is allowed: enough for some ten clients that start at once."""
REQUESTS_PER_TENANT: Final = 64
"""Maximum concurrent requests of one tenant whose body is being read (bodies.py), or that are not calls or streams.
Each takes milliseconds, so that only slow bodies reach this maximum."""
MAX_REQUESTS: Final = 512
"""Maximum of such requests of all tenants."""
STREAMS_PER_TENANT: Final = 100
"""Maximum open streams of one tenant: every session of a client has one."""
MAX_STREAMS: Final = 800
"""Maximum open streams of all tenants: fewer than the 1,024 files that a process may open by default, so that calls can
open files too."""


WAIT_SHARE: Final = 0.5
"""Share of a call's deadline that it may wait for its turn. The rest is for its work."""


class AdmissionMiddleware:
    """Middleware that limits each tenant's rates and its calls, requests, streams and sessions at once."""

    def __init__(
        self,
        app: App,
        config: Config,
        now: Callable[[], float] = time.monotonic,
        body_seconds: float = BODY_SECONDS,
        wait_share: float = WAIT_SHARE,
    ) -> None:
        self._app = app
        self._now = now
        self._read_body = BodyMiddleware(self._handle_body, config.max_request_bytes, seconds=body_seconds)
        self._calls = CallSlots(config.calls_at_once, config.max_calls)
        self._wait_seconds = wait_share * min(config.timeout, config.search_timeout)
        self._requests = Slots(REQUESTS_PER_TENANT, MAX_REQUESTS)
        self._streams = Slots(STREAMS_PER_TENANT, MAX_STREAMS)
        self._sessions = SessionCounts(now)
        self._call_rate = TokenBuckets(Rate(config.calls_per_minute))
        requests_per_minute = max(MIN_REQUESTS_PER_MINUTE, config.calls_per_minute * REQUESTS_PER_CALL)
        self._request_rate = TokenBuckets(Rate(requests_per_minute))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif refusal := self._refuse_request(tenant_of(scope)):
            await send_limit_refusal(send, refusal, UNREAD_REQUEST if scope["method"] == "POST" else RequestInfo())
        elif scope["method"] == "GET":
            await self._stream(tenant_of(scope), RequestInfo(), scope, receive, send)
        else:
            await self._request(tenant_of(scope), scope, receive, send)

    async def _request(self, tenant: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Read a request's body in a request slot; calls and streams release that slot before they start."""
        with ExitStack() as reading:
            reading.enter_context(self._requests.slot(tenant))
            scope[READING_SLOT] = reading
            await self._read_body(scope, receive, send)

    async def _handle_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request whose body `receive` returns in one piece."""
        tenant, request = tenant_of(scope), RequestInfo()
        if scope["method"] == "POST":
            body = (await receive())["body"]
            request, receive = read_request(body), replay(body, receive)
        if request.kind == "light":
            await self._light(tenant, request, scope, receive, send)
            return
        scope.pop(READING_SLOT).close()
        handle = self._stream if request.kind == "stream" else self._call
        await handle(tenant, request, scope, receive, send)

    async def _light(self, tenant: str, request: RequestInfo, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request that is answered at once; it may open a session."""
        if request.opens_session and self._sessions.is_full(tenant):
            await send_limit_refusal(send, limit_refusal("open_sessions"), request)
        else:
            await self._run_app(tenant, scope, receive, send)

    async def _stream(self, tenant: str, request: RequestInfo, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request for a stream, which is open until the client closes it."""
        if self._streams.is_full_for(tenant) or self._streams.is_full():
            await send_limit_refusal(send, limit_refusal("open_streams"), request)
            return
        with self._streams.slot(tenant):
            await self._run_app(tenant, scope, receive, send)

    async def _call(self, tenant: str, request: RequestInfo, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a call. The server's handler finds the call's slot in the scope and holds it until the work ends."""
        if wait := self._call_rate.take(tenant, self._now()):
            await send_limit_refusal(send, limit_refusal("calls_per_minute", wait), request)
            return
        start = self._now()
        slot = await self._calls.slot(tenant, self._wait_seconds)
        if slot is None:
            self._call_rate.refund(tenant)
            full = limit_refusal("calls_at_once" if self._calls.is_full_for(tenant) else "server_full")
            await send_limit_refusal(send, full, request)
            return
        with slot:
            scope[SLOT], scope[WAITED] = slot, self._now() - start
            await self._run_app(tenant, scope, receive, send)

    async def _run_app(self, tenant: str, scope: Scope, receive: Receive, send: Send) -> None:
        with self._sessions.track(tenant, scope, send) as tracked_send:
            await self._app(scope, receive, tracked_send)

    def _refuse_request(self, tenant: str) -> LimitRefusal | None:
        if self._requests.is_full_for(tenant) or self._requests.is_full():
            return limit_refusal("open_requests")
        wait = self._request_rate.take(tenant, self._now())
        return limit_refusal("requests_per_minute", wait) if wait else None
