"""Serve over HTTP for several tenants, with sign-in, limits and metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keyhole.runtime.extensions import Command, Extension

if TYPE_CHECKING:
    from keyhole.config.config import Config
    from keyhole.serve.http.host import HttpHost

EXTENSION = Extension(
    commands={
        "tokens": Command("keyhole.extensions.hosted.arguments:add_tokens", "keyhole.extensions.hosted.tokens_command"),
    },
    port="keyhole.extensions.hosted:open_host",
)


def open_host(config: Config) -> HttpHost:
    """Return the HTTP server of the settings. Nothing listens yet."""
    from keyhole.extensions.hosted.run import Host

    return Host(config)
