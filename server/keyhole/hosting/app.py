"""The HTTP application, from the outermost layer to the MCP server. The order of layers, and no layer itself.

From the outside in: probes and metrics answer at once (probes.py); the draining server refuses (drain.py); Host,
Origin and methods are checked (gate.py); a tenant is known by its token, through the SDK's authentication
(identity.py); bodies are bounded (bodies.py), after that, so that a stranger's is not even read; the tenant's rate and
calls at once are limited (admission.py); then comes the SDK.
"""

from __future__ import annotations

from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

from keyhole.config import Config
from keyhole.hosting.bodies import Bounded
from keyhole.hosting.gate import gated
from keyhole.hosting.identity import authenticated, verifier
from keyhole.hosting.layer import App

PATH = "/mcp"


def application(config: Config, server: Server[Any], *, host: str) -> App:
    """The ASGI application of a server. Raises KeyholeError (invalid_argument) for settings that cannot be used."""
    core = server.streamable_http_app(
        streamable_http_path=PATH,
        host=host,
        stateless_http=config.stateless,
        max_request_body_size=config.max_request_bytes,
        # The gate's check is the stricter one, and the SDK's would refuse a Host without a port.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    bounded = Bounded(core, config.max_request_bytes)
    return gated(authenticated(bounded, config, verifier(config)), config)
