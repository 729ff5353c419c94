"""Implement the ports `Views` and `HostedPages`: the view of a call in clients, and the pages on an HTTP server.

A result is the same for every client, and has no id for the view: several hosts drop `_meta` on its way to a view
(modelcontextprotocol/ext-apps#646), so the view sends the text of the result back instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import mcp_types as types

from keyhole.config.config import Config
from keyhole.retrieval.call import Caller
from keyhole.retrieval.retrieve import Retrieval
from keyhole.serve.http.asgi import App
from keyhole.serve.http.host import Verifier
from keyhole.serve.mcp_apps import MIME_TYPE
from keyhole.serve.tenants_loader import TenantsLoader

URI: Final = "ui://keyhole/call"
TOOL: Final = "show_call"
"""The tool that only the view calls."""


def link(tools: Sequence[types.Tool]) -> list[types.Tool]:
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


def read() -> types.ReadResourceResult:
    """Return the view. It loads nothing from other origins, and may write to the clipboard."""
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
    return Path(__file__).with_name("mcp_app.html").read_text("utf-8")


class LookViews:
    """The view of a call in clients, and the pages of an HTTP server; see the ports."""

    uri = URI
    tool = TOOL

    def link(self, tools: Sequence[types.Tool]) -> list[types.Tool]:
        return link(tools)

    def read(self) -> types.ReadResourceResult:
        return read()

    async def show(self, retrieval: Retrieval, caller: Caller, arguments: Mapping[str, Any]) -> str:
        from keyhole.extensions.look.mcp_app import show_call

        return await show_call(retrieval, caller, arguments)

    def hosted_pages(
        self, config: Config, tenants: TenantsLoader, names: Callable[[], Iterable[str]]
    ) -> Callable[[Verifier], App]:
        from keyhole.extensions.look.hosted.pages import hosted_pages

        return hosted_pages(config, tenants.get_retrieval, tenants.get, names)
