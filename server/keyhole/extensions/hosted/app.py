"""Build the HTTP application: the middleware, in order, around the MCP server.

From the outermost to the innermost:

1. access log and, if enabled, tracing (telemetry.py)
2. probes (probes.py) and metrics (telemetry.py), which are answered without the checks below
3. draining (probes.py)
4. checks of Host, Origin and method (host_check.py)
5. authentication (authenticate.py)
6. limits per tenant (admission.py), which also reads the body (bodies.py), so only of authenticated requests
7. the SDK

The pages below /look have their own authentication and limits, in place of 5 to 7 (extensions/look/hosted/gate.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route

from keyhole.config.config import Config
from keyhole.extensions.hosted.admission import AdmissionMiddleware
from keyhole.extensions.hosted.authenticate import add_authentication, create_verifier
from keyhole.extensions.hosted.host_check import add_host_check, is_page
from keyhole.extensions.hosted.probes import DrainMiddleware, DrainState, ProbesMiddleware, StoreCheck
from keyhole.extensions.hosted.telemetry import AccessLogMiddleware, Metrics, MetricsMiddleware, StoreSizes
from keyhole.serve.http.asgi import App, Receive, Scope, Send
from keyhole.serve.http.host import SESSION_IDLE_SECONDS, Verifier

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
