"""How much a tenant may ask of this server: a layer that lets a request in or refuses it at once. It never queues.

Calls of tools and reads of stored pages are the work; everything else (handshakes, listings, notifications) has bounds
of its own, wide ones, so that a client whose calls are refused can still come back. So have streams that are held open,
which hold a connection and nothing more.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final, Protocol

from keyhole.config.config import Config
from keyhole.serve.http.asgi import App, Receive, Scope, Send
from keyhole.serve.http.bodies import BODY_SECONDS, READING, Bounded, replay
from keyhole.serve.http.limits.shared.calls import Verdict
from keyhole.serve.http.limits.slots import Places
from keyhole.serve.http.limits.token_bucket import Buckets, Rate
from keyhole.serve.http.refusals import UNREAD, Asked, Refusal, answer, asked, refusal
from keyhole.serve.http.sessions import Sessions
from keyhole.serve.tools import PLACE, tenant_of

REQUESTS_PER_CALL: Final = 10
"""Requests a minute for each call that is permitted: a client sends four to begin and one or two around a call."""
FEWEST_REQUESTS: Final = 600
"""Requests a minute that everybody has, however few calls are permitted: some ten clients that begin at once."""
REQUESTS_AT_ONCE: Final = 64
"""Requests of one tenant that are being read (bodies.py), or answered and no call: these take milliseconds, so that
more are only ever slow bodies."""
ALL_REQUESTS: Final = 512
"""Of these, of all tenants."""
STREAMS_AT_ONCE: Final = 100
"""Streams that one tenant holds open: every session of a client has one."""
ALL_STREAMS: Final = 800
"""Of these, of all tenants: below the 1,024 files that a process may open by default, with room for calls."""


class Others(Protocol):
    """The other servers that the same tenants use. Nothing here raises or waits long."""

    async def begin(self, tenant: str) -> Verdict:
        """Ask for one call."""
        ...

    def end(self, tenant: str, lease: str) -> None:
        """The call with this lease has ended."""
        ...

    async def aclose(self) -> None:
        """Let go of them."""
        ...


class Admission:
    """The layer."""

    def __init__(
        self,
        app: App,
        config: Config,
        others: Others | None = None,
        now: Callable[[], float] = time.monotonic,
        reading: float = BODY_SECONDS,
    ) -> None:
        self._app = app
        self._others = others
        self._now = now
        self._read = Bounded(self._judged, config.max_request_bytes, seconds=reading)
        self._calls = Places(config.calls_at_once, config.max_calls)
        self._requests = Places(REQUESTS_AT_ONCE, ALL_REQUESTS)
        self._streams = Places(STREAMS_AT_ONCE, ALL_STREAMS)
        self._sessions = Sessions(now)
        self._call_rate = Buckets(Rate(config.calls_per_minute))
        self._request_rate = Buckets(Rate(max(FEWEST_REQUESTS, config.calls_per_minute * REQUESTS_PER_CALL)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through to the application, or refuse it."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif scope["type"] != "http":
            await self._app(scope, receive, send)
        elif no := self._request_refusal(tenant_of(scope)):
            await answer(send, no, UNREAD if scope["method"] == "POST" else Asked())
        elif scope["method"] == "GET":
            await self._stream(tenant_of(scope), Asked(), scope, receive, send)
        else:
            await self._request(tenant_of(scope), scope, receive, send)

    async def _request(self, tenant: str, scope: Scope, receive: Receive, send: Send) -> None:
        """A request with a body, held while it is read; a call or a stream is let go of before it begins."""
        with ExitStack() as reading:
            reading.enter_context(self._requests.hold(tenant))
            scope[READING] = reading
            await self._read(scope, receive, send)

    async def _judged(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The same with its body in one piece."""
        tenant, request = tenant_of(scope), Asked()
        if scope["method"] == "POST":
            body = (await receive())["body"]
            request, receive = asked(body), replay(body, receive)
        if request.kind == "light":
            await self._light(tenant, request, scope, receive, send)
            return
        scope.pop(READING).close()
        go_on = self._stream if request.kind == "stream" else self._call
        await go_on(tenant, request, scope, receive, send)

    def calls_under_way(self) -> int:
        """How many calls this server has under way."""
        return self._calls.taken

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        finally:
            if self._others is not None:
                await self._others.aclose()

    async def _light(self, tenant: str, request: Asked, scope: Scope, receive: Receive, send: Send) -> None:
        """A request that is answered at once; it may open a session."""
        if request.opens_session and self._sessions.full(tenant):
            await answer(send, refusal("open_sessions"), request)
        else:
            await self._through(tenant, scope, receive, send)

    async def _stream(self, tenant: str, request: Asked, scope: Scope, receive: Receive, send: Send) -> None:
        """A stream that is held open for as long as the client likes."""
        if self._streams.full_for(tenant) or self._streams.full():
            await answer(send, refusal("open_streams"), request)
            return
        with self._streams.hold(tenant):
            await self._through(tenant, scope, receive, send)

    async def _call(self, tenant: str, request: Asked, scope: Scope, receive: Receive, send: Send) -> None:
        """A call of a tool. The server's handler holds the same place, found in the scope, while it works."""
        if no := self._call_refusal(tenant):
            await answer(send, no, request)
            return
        place = self._calls.hold(tenant)
        with place:
            # Others are asked with the place held: so long as they think, it is taken.
            verdict = await self._others.begin(tenant) if self._others is not None else Verdict()
            if verdict.lease:
                place.on_free(lambda: self._end(tenant, verdict.lease))
            if not verdict.refused:
                scope[PLACE] = place
                await self._through(tenant, scope, receive, send)
        if verdict.refused:
            self._learn(tenant, verdict)
            await answer(send, refusal(verdict.refused, verdict.wait), request)

    async def _through(self, tenant: str, scope: Scope, receive: Receive, send: Send) -> None:
        with self._sessions.around(tenant, scope, send) as watched:
            await self._app(scope, receive, watched)

    def _learn(self, tenant: str, verdict: Verdict) -> None:
        """What others know of a tenant's rate holds here too, so that they are not asked in vain."""
        if verdict.refused == "calls_per_minute":
            self._call_rate.empty(tenant, self._now(), verdict.wait)
        else:
            self._call_rate.give_back(tenant)

    def _end(self, tenant: str, lease: str) -> None:
        if self._others is not None:
            self._others.end(tenant, lease)

    def _request_refusal(self, tenant: str) -> Refusal | None:
        if self._requests.full_for(tenant) or self._requests.full():
            return refusal("open_requests")
        wait = self._request_rate.take(tenant, self._now())
        return refusal("requests_per_minute", wait) if wait else None

    def _call_refusal(self, tenant: str) -> Refusal | None:
        if self._calls.full_for(tenant):
            return refusal("calls_at_once")
        if self._calls.full():
            return refusal("server_full")
        wait = self._call_rate.take(tenant, self._now())
        return refusal("calls_per_minute", wait) if wait else None
