"""Read the messages of LangChain and LangGraph: objects, or the dicts that `model_dump` makes of them. Pure.

Source: https://python.langchain.com/docs/concepts/messages. A `tool` message follows the `ai` message whose
`tool_calls` name its `tool_call_id`.
"""

from __future__ import annotations

from typing import Any, Final

from keyhole.extensions.conversations.formats.values import ItemFacts, ItemKind, Path, ToolResult, View

_KINDS: Final[dict[str, ItemKind]] = {
    "human": "user", "HumanMessageChunk": "user", "ai": "model", "AIMessageChunk": "model", "system": "system",
    "tool": "result", "function": "result",
}  # fmt: skip


def is_own(item: View) -> bool:
    """Return True for a message that no other format has."""
    return item.get("type") in _KINDS and "content" in item and "role" not in item


def read_item(item: View, index: int) -> ItemFacts:
    """Return the facts of a message. The blocks of its content are those of its provider, and are not read."""
    kind = _KINDS.get(str(item.get("type")), "unknown")
    calls = item.get("tool_calls") or []
    if kind == "unknown" or not isinstance(item.get("content"), str | list):
        return ItemFacts("unknown", unknown=(str(item.get("type")),))
    if kind == "result":
        call = str(item.get("tool_call_id") or item.get("name") or "")
        return ItemFacts("result", results=(ToolResult(index, ("content",), (call,), item.get("content")),))
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        return ItemFacts(kind, unknown=("tool_calls",))
    ids = tuple((str(call.get("id") or ""),) for call in calls)
    return ItemFacts(kind, calls=ids if kind == "model" else (), has_user_text=kind == "user")


def text_path(_item: View) -> Path:
    """Return where a message of the user has its text."""
    return ("content",)


def text_part(text: str) -> dict[str, Any]:
    """Return a text as a part of a content."""
    return {"type": "text", "text": text}


def user_item(text: str) -> dict[str, Any]:
    """Return a message of the user."""
    return {"type": "human", "content": text}
