"""Offer MCP Apps, which are views of a call in HTML, to the clients that declare the protocol's extension for them.

The extension is specified by SEP-1865, version 2026-01-26: https://github.com/modelcontextprotocol/ext-apps. For all
other clients nothing changes, and the code of the view is not imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import mcp_types as types
from mcp.server.context import ServerRequestContext

from keyhole.retrieval.call import Caller
from keyhole.retrieval.retrieve import Retrieval
from keyhole.runtime.extensions import open_port

UI_EXTENSION: Final = "io.modelcontextprotocol/ui"
MIME_TYPE: Final = "text/html;profile=mcp-app"


class Views(Protocol):
    """Shows to people, in their clients, what agents read. The extension `look` implements it."""

    uri: str
    """The URI of the view of a call."""
    tool: str
    """The tool that only the view calls."""

    def link(self, tools: Sequence[types.Tool]) -> list[types.Tool]:
        """Return the tools, each linked with the view, and the tool that the view calls."""
        ...

    def read(self) -> types.ReadResourceResult:
        """Return the view."""
        ...

    async def show(self, retrieval: Retrieval, caller: Caller, arguments: Mapping[str, Any]) -> str:
        """Answer a question of the view. Raises KeyholeError."""
        ...


def declared_views(ctx: ServerRequestContext[Any]) -> Views | None:
    """Return the views if the client of a request declared that it shows HTML, else None."""
    capabilities = ctx.session.client_capabilities
    settings = (capabilities.extensions if capabilities else None) or {}
    kinds = settings.get(UI_EXTENSION, {}).get("mimeTypes")
    if not isinstance(kinds, list) or MIME_TYPE not in kinds:
        return None
    views: Views = open_port("look")
    return views


def read_view(ctx: ServerRequestContext[Any], uri: str) -> types.ReadResourceResult | None:
    """Return the view with a URI, None for another URI or a client without the extension."""
    views = declared_views(ctx)
    return views.read() if views and views.uri == uri else None
