"""The HTTP application, from the outermost layer to the MCP server. The order of layers, and no layer itself.

From the outside in: every request has its line in the log (access.py) and, where wanted, its trace (telemetry.py);
probes and metrics answer at once (probes.py, metrics.py); the draining server refuses (drain.py); Host, Origin and
methods are checked (gate.py); a tenant is known by its token, through the SDK's authentication (identity.py); the
tenant's rate and its calls at once are limited (admission.py), and between the two its body is read, bounded
(bodies.py): a stranger's is not read; then comes the SDK.
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
from keyhole.serve.http.asgi import App
from keyhole.serve.http.auth.authenticate import Verifier, authenticated, verifier
from keyhole.serve.http.drain import Drain, Draining
from keyhole.serve.http.host_check import gated
from keyhole.serve.http.limits.admission import Admission
from keyhole.serve.http.limits.shared.open import shared_calls
from keyhole.serve.http.probes import Look, Probes
from keyhole.serve.http.sessions import IDLE
from keyhole.serve.http.telemetry.access_log import Access
from keyhole.serve.http.telemetry.metrics import Metrics, MetricsPage, Sizes

PATH: Final = "/mcp"
MAX_SESSIONS: Final = 5_000
"""Sessions at once, of clients of the handshake era: one takes 40 KB (benchmarks/server/http_server.py), all of them
200 MB. More get 503 until one ends; a client of the newer protocol, and any of a stateless server, needs none."""

Layer = Callable[[App], App]


@dataclass(frozen=True, slots=True)
class Parts:
    """What the application is told by others and tells them."""

    draining: Draining
    look: Look
    """Whether the store works."""
    sizes: Sizes
    metrics: Metrics | None = None
    verifier: Verifier | None = None
    """Who knows the tenant of a token, in place of what the settings name."""
    outer: Sequence[Layer] = ()
    """Further layers around all but the log, such as that of traces."""


def application(config: Config, server: Server[Any], parts: Parts) -> App:
    """The ASGI application of a server. Raises KeyholeError (invalid_argument) for settings that cannot be used."""
    sessions = StreamableHTTPSessionManager(
        server,
        stateless=config.stateless,
        # The gate's check is the stricter one, and the SDK's would refuse a Host without a port.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        session_idle_timeout=None if config.stateless else IDLE,
        max_sessions=MAX_SESSIONS,
        max_request_body_size=config.max_request_bytes,
    )
    route = Route(PATH, endpoint=StreamableHTTPASGIApp(sessions))
    routed = Starlette(routes=[route], lifespan=lambda _: sessions.run())
    # To http, also behind a proxy that speaks https: the token would go in clear.
    routed.router.redirect_slashes = False
    app: App = routed
    app = Admission(app, config, shared_calls(config))
    app = authenticated(app, config, parts.verifier or verifier(config))
    app = gated(app, config)
    app = Drain(app, parts.draining)
    app = MetricsPage(app, parts.metrics, config.metrics_token, parts.sizes)
    app = Probes(app, parts.draining, parts.look)
    for layer in parts.outer:
        app = layer(app)
    return Access(app)
