"""Read the messages of OpenAI's Chat Completions, which most local servers take too. Pure.

Source: https://platform.openai.com/docs/api-reference/chat/create. A message of role `tool` follows the assistant
message whose `tool_calls` name its `tool_call_id`; every call needs one. `function_call` is the older form.
"""

from __future__ import annotations

from typing import Any, Final

from keyhole.extensions.conversations.formats.values import ItemFacts, ItemKind, Path, ToolResult, View

_KINDS: Final[dict[str, ItemKind]] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "model", "tool": "result",
    "function": "result",
}  # fmt: skip
PARTS: Final = frozenset({
    "text", "refusal", "image_url", "input_audio", "file", "video_url", "audio_url", "thinking", "reasoning",
})  # fmt: skip
"""Types of parts: those of OpenAI, and further ones of local servers and gateways."""


def is_own(item: View) -> bool:
    """Return True for a message that no other format has."""
    has_calls = bool(item.get("tool_calls") or item.get("function_call"))
    return item.get("role") in ("tool", "function") or ("role" in item and has_calls)


def read_item(item: View, index: int) -> ItemFacts:
    """Return the facts of a message."""
    kind = _KINDS.get(str(item.get("role")), "unknown")
    calls, unknown = _read_calls(item)
    unknown += unknown_parts(item.get("content"), PARTS)
    if kind == "unknown":
        return ItemFacts("unknown", unknown=(role_or_type(item),))
    if unknown:
        return ItemFacts(kind, calls=calls, unknown=unknown, has_user_text=kind == "user")
    if kind == "result":
        call = str(item.get("tool_call_id") or item.get("name") or "")
        return ItemFacts("result", results=(ToolResult(index, ("content",), (call,), item.get("content")),))
    return ItemFacts(kind, calls=calls if kind == "model" else (), has_user_text=kind == "user")


def role_or_type(item: View) -> str:
    """Return the role of a message that is not understood, or its type if it has no role."""
    return f"type {item['type']}" if "type" in item and "role" not in item else f"role {item.get('role')}"


def unknown_parts(content: Any, known: frozenset[str]) -> tuple[str, ...]:
    """Return the unknown types of the parts of a content; "content" if it is neither a text nor a list."""
    if content is None or isinstance(content, str):
        return ()
    if not isinstance(content, list):
        return ("content",)
    types = [part.get("type") if isinstance(part, dict) else "text" for part in content]
    return tuple(f"block {each}" for each in types if each not in known)


def _read_calls(item: View) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """Return the names of the calls of a message, and the fields that were not understood."""
    calls: Any = item.get("tool_calls") or []
    function: Any = item.get("function_call")
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        return (), ("tool_calls",)
    ids = [(str(call.get("id") or ""),) for call in calls]
    named = [(str(function.get("name") or ""),)] if isinstance(function, dict) else []
    return (*ids, *named), ()


def text_path(_item: View) -> Path:
    """Return where a message of the user has its text."""
    return ("content",)


def text_part(text: str) -> dict[str, Any]:
    """Return a text as a part of a content."""
    return {"type": "text", "text": text}


def user_item(text: str) -> dict[str, Any]:
    """Return a message of the user."""
    return {"role": "user", "content": text}
