"""Read the messages of pydantic-ai: objects, or the dicts that `ModelMessagesTypeAdapter` makes of them. Pure.

Source: https://ai.pydantic.dev/message-history. The tools of a `response` are answered by the next `request`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from keyhole.extensions.conversations.formats.values import ItemFacts, Path, ToolResult, View

_USER: Final = frozenset({"user-prompt", "retry-feedback"})
_SYSTEM: Final = frozenset({
    "system-prompt", "instruction", "instruction-delta", "instruction-baseline", "instruction-digest",
    "tool-availability-delta", "capability-load-delta", "model-settings-delta", "compaction",
})  # fmt: skip
_RESULTS: Final = frozenset({"tool-return", "retry-prompt"})
_MODEL: Final = frozenset({
    "text", "thinking", "tool-call", "builtin-tool-call", "builtin-tool-return", "file", "speech", "compaction",
})  # fmt: skip


def is_own(item: View) -> bool:
    """Return True for a message that no other format has."""
    return item.get("kind") in ("request", "response") and isinstance(item.get("parts"), list)


def read_item(item: View, index: int) -> ItemFacts:
    """Return the facts of a message."""
    if not is_own(item):
        return ItemFacts("unknown", unknown=(f"kind {item.get('kind')}",))
    kinds = [part.get("part_kind") if isinstance(part, dict) else None for part in item["parts"]]
    is_request = item["kind"] == "request"
    known = _USER | _SYSTEM | _RESULTS if is_request else _MODEL
    unknown = tuple(f"part {kind}" for kind in kinds if kind not in known)
    is_fixed = not _SYSTEM.isdisjoint(kinds)
    if not is_request:
        calls = tuple((_id(part),) for part in item["parts"] if _kind(part) == "tool-call")
        return ItemFacts("model", calls=calls, is_fixed=is_fixed, unknown=unknown)
    results = tuple(
        ToolResult(index, ("parts", number, "content"), (_id(part),), part.get("content"))
        for number, part in enumerate(item["parts"])
        if _kind(part) == "tool-return" or (_kind(part) == "retry-prompt" and part.get("tool_name"))
    )
    has_text = any(kind in _USER or kind == "retry-prompt" for kind in kinds) and len(results) < len(kinds)
    return ItemFacts(
        "result" if results else "system" if is_fixed and not has_text else "user",
        results=() if unknown else results,
        has_user_text=has_text,
        is_fixed=is_fixed,
        unknown=unknown,
    )


def _kind(part: Any) -> object:
    return part.get("part_kind") if isinstance(part, Mapping) else None


def _id(part: Mapping[str, Any]) -> str:
    return str(part.get("tool_call_id") or "")


def text_path(item: View) -> Path:
    """Return where a request has the user's text: the content of its last prompt."""
    number = max((number for number, part in enumerate(item["parts"]) if _kind(part) in _USER), default=0)
    return ("parts", number, "content")


def text_part(text: str) -> str:
    """Return a text as a part of a prompt's content."""
    return text


def user_item(text: str) -> dict[str, Any]:
    """Return a request with a prompt."""
    return {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": text}]}
