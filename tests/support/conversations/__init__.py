"""Generate conversations with a model, valid and invalid ones, and write them in the formats of four APIs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.support.conversations.anthropic import to_anthropic
from tests.support.conversations.chat import to_chat
from tests.support.conversations.events import IDS, KINDS, TEXTS, Event, events, random_events, rich_events
from tests.support.conversations.gemini import to_gemini
from tests.support.conversations.responses import to_responses
from tests.support.conversations.texts import PIXELS

__all__ = [
    "FORMATS",
    "IDS",
    "KINDS",
    "PIXELS",
    "TEXTS",
    "Event",
    "Item",
    "events",
    "random_events",
    "rich_events",
    "to_anthropic",
    "to_chat",
    "to_gemini",
    "to_responses",
    "unknown_items",
]

Item = dict[str, Any]

FORMATS: dict[str, Callable[[Sequence[Event]], list[Item]]] = {
    "chat": to_chat, "anthropic": to_anthropic, "responses": to_responses, "gemini": to_gemini,
}  # fmt: skip


def unknown_items(items: Sequence[Any]) -> dict[int, str]:
    """Return the indexes of the items that no client understands, with the name of what is not understood."""
    found: dict[int, str] = {}
    for number, item in enumerate(items):
        if item.get("type") == "note_of_a_client":
            found[number] = "note_of_a_client"
        elif item.get("role") == "critic":
            found[number] = "role critic"
        else:
            content = item.get("content") or item.get("parts")
            parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
            if any("frobnicate" in (part.get("type"), *part) for part in parts):
                found[number] = "frobnicate"
    return found
