"""Offer the MCP App to the clients that declare its extension: the tools that it belongs to, and its page.

The extension is specified by SEP-1865, version 2026-01-26: https://github.com/modelcontextprotocol/ext-apps. For all
other clients nothing changes. A result is the same for every client, and has no id for the view: several hosts drop
`_meta` on its way to a view (modelcontextprotocol/ext-apps#646), so the view sends the text of the result back instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext

EXTENSION: Final = "io.modelcontextprotocol/ui"
MIME_TYPE: Final = "text/html;profile=mcp-app"
URI: Final = "ui://keyhole/call"
TOOL: Final = "show_call"
"""The tool that only the view calls."""


def is_declared(ctx: ServerRequestContext[Any]) -> bool:
    """Return True if the client of a request declared that it shows views in HTML."""
    capabilities = ctx.session.client_capabilities
    settings = (capabilities.extensions if capabilities else None) or {}
    kinds = settings.get(EXTENSION, {}).get("mimeTypes")
    return isinstance(kinds, list) and MIME_TYPE in kinds


def with_app(tools: Sequence[types.Tool]) -> list[types.Tool]:
    """Return the tools, each linked with the view, and the tool that the view calls."""
    linked = [tool.model_copy(update={"meta": {**(tool.meta or {}), "ui": {"resourceUri": URI}}}) for tool in tools]
    return [*linked, _show_call()]


def _show_call() -> types.Tool:
    """Return the tool of the view. `visibility` hides it from the model."""
    properties = {
        "result": {"type": "string", "description": "The text of a call's result, exactly as it was sent."},
        "id": {"type": "string", "description": "Instead of result: the id of a stored text."},
        "start": {"type": "integer", "minimum": 0, "description": "The first character of a part of that text."},
        "end": {"type": "integer", "minimum": 1, "description": "The character after the part."},
    }
    return types.Tool(
        name=TOOL,
        title="Show a call",
        description="For Keyhole's view of a call: returns as JSON what was asked, read and shown, or a part left out.",
        input_schema={"type": "object", "properties": properties, "additionalProperties": False},
        annotations=types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
        _meta={"ui": {"visibility": ["app"]}},
    )


def find_page(ctx: ServerRequestContext[Any], uri: str) -> types.ReadResourceResult | None:
    """Return the view for its URI, None for another URI or a client without the extension.

    The view needs no origin, and of the browser's rights only the one to copy text.
    """
    if uri != URI or not is_declared(ctx):
        return None
    rights = {
        "csp": {"connectDomains": [], "resourceDomains": []},
        "permissions": {"clipboardWrite": {}},
        "prefersBorder": True,
    }
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=URI, mime_type=MIME_TYPE, text=html(), _meta={"ui": rights})]
    )


@cache
def html() -> str:
    """Return the HTML of the view: one file with its style and script."""
    return Path(__file__).with_name("call.html").read_text("utf-8")
