"""Serve over HTTP for several tenants, with sign-in, limits and metrics."""

from __future__ import annotations

from keyhole.runtime.extensions import Command, Extension

EXTENSION = Extension(
    commands={
        "tokens": Command("keyhole.extensions.hosted.arguments:add_tokens", "keyhole.extensions.hosted.tokens_command"),
    },
    port="keyhole.extensions.hosted.run:Host",
)
