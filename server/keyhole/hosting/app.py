"""The HTTP application, from the outermost layer to the MCP server. The order of layers, and no layer itself.

From the outside in: probes and metrics answer at once (probes.py); the draining server refuses (drain.py); Host,
Origin and methods are checked (gate.py); bodies are bounded (bodies.py); a tenant is known by its token, through
the SDK's authentication (identity.py); its rate and its calls at once are limited (admission.py); then comes the SDK.
"""

from __future__ import annotations

from typing import Any

from mcp.server.lowlevel import Server
from starlette.applications import Starlette

from keyhole.config import Config

PATH = "/mcp"


def application(config: Config, server: Server[Any], *, host: str) -> Starlette:
    """The ASGI application of a server."""
    return server.streamable_http_app(streamable_http_path=PATH, host=host, stateless_http=config.stateless)
