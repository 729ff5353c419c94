"""Compact the history of a conversation to an input budget, and restore it."""

from __future__ import annotations

from keyhole.runtime.extensions import Command, Extension

EXTENSION = Extension(
    commands={
        "compact": Command(
            "keyhole.extensions.conversations.arguments:add_compact", "keyhole.extensions.conversations.command"
        ),
    },
)
