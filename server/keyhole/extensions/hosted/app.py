"""Build the HTTP application: the middleware, in order, around the MCP server.

From the outermost to the innermost:

1. access log and, if enabled, tracing (telemetry.py)
2. probes (probes.py) and metrics (telemetry.py), which are answered without the checks below
3. draining (probes.py)
4. checks of Host, Origin and method (host_check.py)
5. authentication (authenticate.py)
6. limits per tenant (`AdmissionMiddleware`), which also reads the body (bodies.py), so only of authenticated requests
7. the SDK

The pages below /look have their own authentication and limits, in place of 5 to 7 (extensions/look/hosted/gate.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route

from keyhole.config.config import Config
from keyhole.extensions.hosted.authenticate import add_authentication, create_verifier
from keyhole.extensions.hosted.probes import DrainMiddleware, DrainState, ProbesMiddleware, StoreCheck
from keyhole.extensions.hosted.telemetry import AccessLogMiddleware, Metrics, MetricsMiddleware, StoreSizes
from keyhole.serve.http.asgi import (
    UNREAD_REQUEST,
    App,
    LimitRefusal,
    Receive,
    RequestInfo,
    Scope,
    Send,
    limit_refusal,
    read_request,
    send_limit_refusal,
)
from keyhole.serve.http.bodies import BODY_SECONDS, READING_SLOT, BodyMiddleware, replay
from keyhole.serve.http.host import Verifier
from keyhole.serve.http.host_check import add_host_check, is_page
from keyhole.serve.http.limits import SESSION_IDLE_SECONDS, CallSlots, Rate, SessionCounts, Slots, TokenBuckets
from keyhole.serve.tools import SLOT, WAITED, tenant_of

PATH: Final = "/mcp"
MAX_SESSIONS: Final = 5_000
"""Maximum open sessions of all clients that use the initialize handshake. A session takes 40 KB
(benchmarks/server/http_server.py), so all take 200 MB. Beyond the maximum, `initialize` gets 503. The newer protocol
and stateless servers have no sessions."""

Middleware = Callable[[App], App]


@dataclass(frozen=True, slots=True)
class AppDependencies:
    """Objects that the application shares with the process that runs it."""

    drain_state: DrainState
    check_store: StoreCheck
    store_sizes: StoreSizes
    metrics: Metrics | None = None
    verifier: Verifier | None = None
    """Verifier to use instead of the one that the settings select."""
    outer: Sequence[Middleware] = ()
    """Additional middleware, such as tracing, around everything except the access log."""
    pages: Callable[[Verifier], App] | None = None
    """Returns the application of the pages below /look. Without authentication, the server has no pages."""


def build_app(config: Config, server: Server[Any], dependencies: AppDependencies) -> App:
    """Return the ASGI application of a server. Raises KeyholeError (invalid_argument) for invalid settings."""
    sessions = StreamableHTTPSessionManager(
        server,
        stateless=config.stateless,
        # host_check.py is stricter, and the SDK's check would refuse a Host without a port.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        session_idle_timeout=None if config.stateless else SESSION_IDLE_SECONDS,
        max_sessions=MAX_SESSIONS,
        max_request_body_size=config.max_request_bytes,
    )
    route = Route(PATH, endpoint=StreamableHTTPASGIApp(sessions))
    starlette = Starlette(routes=[route], lifespan=lambda _: sessions.run())
    # A redirect would go to http:// even behind a TLS proxy, and the client would send its token in the clear.
    starlette.router.redirect_slashes = False
    app: App = starlette
    app = AdmissionMiddleware(app, config)
    verifier = dependencies.verifier or create_verifier(config)
    app = add_authentication(app, config, verifier)
    pages = dependencies.pages(verifier) if dependencies.pages and verifier else None
    app = add_host_check(_add_pages(app, pages) if pages else app, config, has_pages=pages is not None)
    app = DrainMiddleware(app, dependencies.drain_state)
    app = MetricsMiddleware(app, dependencies.metrics, config.metrics_token, dependencies.store_sizes)
    app = ProbesMiddleware(app, dependencies.drain_state, dependencies.check_store)
    for middleware in dependencies.outer:
        app = middleware(app)
    return AccessLogMiddleware(app)


def _add_pages(app: App, pages: App) -> App:
    """Return an application that hands requests for the pages to `pages`, and all others to `app`."""

    async def middleware(scope: Scope, receive: Receive, send: Send) -> None:
        is_for_pages = scope["type"] == "http" and is_page(scope["path"])
        await (pages if is_for_pages else app)(scope, receive, send)

    return middleware


# Admission: a call waits for its turn, all other requests are admitted or refused at once. Tool calls and reads of
# stored pages count as calls. All other requests (handshakes, listings, notifications) have separate limits, so that
# a client whose calls are refused can still reconnect. Open streams have separate limits too, since they only use a
# connection.

REQUESTS_PER_CALL: Final = 10
"""Allowed requests for each allowed call: a client sends four requests to start, and one or two around a call."""
MIN_REQUESTS_PER_MINUTE: Final = 600
"""Minimum requests per minute that a tenant may send: enough for some ten clients that start at once."""
REQUESTS_PER_TENANT: Final = 64
"""Maximum concurrent requests of one tenant whose body is being read (bodies.py), or that are not calls or streams.
Each takes milliseconds, so that only slow bodies reach this maximum."""
MAX_REQUESTS: Final = 512
"""Maximum of such requests for all tenants together."""
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
        self._wait_seconds = wait_share * config.timeout
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
