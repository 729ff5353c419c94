"""Serve another MCP server, with its long results bounded."""

from __future__ import annotations

from keyhole.runtime.extensions import Command, Extension

EXTENSION = Extension(
    commands={
        "proxy": Command("keyhole.extensions.proxy.arguments:add_proxy", "keyhole.extensions.proxy.proxy_command"),
    },
)
