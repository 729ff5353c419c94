"""The HTTP application, from the outermost layer to the MCP server. The order of layers, and no layer itself.

From the outside in: every request has its line in the log (access.py); probes and metrics answer at once (probes.py,
metrics.py); the draining server refuses (drain.py); Host, Origin and methods are checked (gate.py); bodies are bounded
(bodies.py); a tenant is known by its token, through the SDK's authentication (identity.py); its rate and its calls at
once are limited (admission.py); then comes the SDK.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import TokenVerifier
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Route

from keyhole.config import Config
from keyhole.hosting.access import Access
from keyhole.hosting.drain import Drain, Draining
from keyhole.hosting.layer import App
from keyhole.hosting.metrics import Metrics, MetricsPage, Sizes
from keyhole.hosting.probes import Look, Probes

PATH: Final = "/mcp"
MAX_SESSIONS: Final = 5_000
"""Sessions at once, of clients of the handshake era: one takes 40 KB (benchmarks/http_server.py), all of them
200 MB. More get 503 until one ends; a client of the newer protocol, and any of a stateless server, needs none."""
SESSION_IDLE: Final = 1_800.0
"""Seconds without a request or an open stream, after which a session ends: an agent that pauses longer has mostly gone
without saying so, and one that has not is told to begin anew by a 404, as the protocol wants."""
LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")

Layer = Callable[[App], App]


@dataclass(frozen=True, slots=True)
class Parts:
    """What the application is told by others and tells them."""

    draining: Draining
    look: Look
    """Whether the store works."""
    sizes: Sizes
    metrics: Metrics | None = None
    verifier: TokenVerifier | None = None
    """Who knows the tenant of a token; without it everybody is the one local user."""
    outer: Sequence[Layer] = ()
    """Further layers around everything, such as that of traces."""


def application(config: Config, server: Server[Any], parts: Parts) -> App:
    """The ASGI application of a server."""
    sessions = StreamableHTTPSessionManager(
        server,
        stateless=config.stateless,
        security_settings=_loopback_only() if not config.allowed_hosts else None,
        session_idle_timeout=None if config.stateless else SESSION_IDLE,
        max_sessions=MAX_SESSIONS,
        max_request_body_size=config.max_request_bytes,
    )
    app: App = StreamableHTTPASGIApp(sessions)
    # admission.py: rates and calls at once, of the tenant that is known here.
    if parts.verifier is not None:
        app = _authenticated(app, parts.verifier)
    # identity.py: the metadata of the protected resource, as further routes.
    app = Starlette(routes=[Route(PATH, endpoint=app)], lifespan=lambda _: sessions.run())
    # bodies.py, then gate.py around it.
    app = Drain(app, parts.draining)
    app = MetricsPage(app, parts.metrics, config.metrics_token, parts.sizes)
    app = Probes(app, parts.draining, parts.look)
    for layer in parts.outer:
        app = layer(app)
    return Access(app)


def _authenticated(app: App, verifier: TokenVerifier) -> App:
    """The SDK's authentication: who has no valid token gets 401."""
    required = AuthContextMiddleware(RequireAuthMiddleware(app, []))
    return AuthenticationMiddleware(required, backend=BearerAuthBackend(verifier))


def _loopback_only() -> TransportSecuritySettings:
    names = [f"{name}:*" for name in LOOPBACK]
    return TransportSecuritySettings(allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names])
