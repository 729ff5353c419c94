"""Show to people what agents read: pages of `keyhole look` and of an HTTP server, and a view in clients."""

from __future__ import annotations

from keyhole.runtime.extensions import Command, Extension

EXTENSION = Extension(
    commands={"look": Command("keyhole.extensions.look.arguments:add_look", "keyhole.extensions.look.command")},
    port="keyhole.extensions.look.views:LookViews",
)
