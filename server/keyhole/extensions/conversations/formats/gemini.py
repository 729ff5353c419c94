"""Read the contents of Google's Gemini API, in the spelling of its JSON and of its SDK's dicts. Pure.

Source: https://ai.google.dev/gemini-api/docs/function-calling and https://ai.google.dev/api/caching#Content. A content
of the model with `functionCall` parts is followed by one content with as many `functionResponse` parts, which name the
call's `id`, or its `name` if it has none. A `thoughtSignature` stays on its part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from keyhole.extensions.conversations.formats.values import ItemFacts, ItemKind, Path, ToolResult, View

_KINDS: Final[dict[str, ItemKind]] = {
    "user": "user",
    "model": "model",
    "function": "user",
    "system": "system",
    "": "user",
}
_CALL: Final = ("functionCall", "function_call")
_RESPONSE: Final = ("functionResponse", "function_response")
_KNOWN: Final = frozenset({
    *_CALL, *_RESPONSE, "text", "inlineData", "inline_data", "fileData", "file_data", "executableCode",
    "executable_code", "codeExecutionResult", "code_execution_result", "toolCall", "tool_call", "toolResponse",
    "tool_response",
})  # fmt: skip
"""Fields that tell the kind of a part."""
_SIGNED_ONLY: Final = frozenset({"thought", "thoughtSignature", "thought_signature"})
"""The fields of a part that only carries a signature."""


def is_own(item: View) -> bool:
    """Return True for an item that no other format has."""
    parts = item.get("parts")
    return isinstance(parts, list) and "kind" not in item and str(item.get("role") or "") in _KINDS


def read_item(item: View, index: int) -> ItemFacts:
    """Return the facts of a content."""
    kind = _KINDS.get(str(item.get("role") or ""), "unknown")
    parts = item.get("parts")
    if kind == "unknown" or not isinstance(parts, list):
        return ItemFacts("unknown", unknown=(f"role {item.get('role')}" if isinstance(parts, list) else "parts",))
    unknown = tuple(f"part {_name(part)}" for part in parts if not _is_known(part))
    if kind == "model":
        calls = tuple(_names(call) for part in parts if (call := _field(part, _CALL)))
        return ItemFacts("model", calls=calls, unknown=unknown)
    results = tuple(
        ToolResult(index, ("parts", number, key), _names(part[key]), part[key])
        for number, part in enumerate(parts)
        for key in _RESPONSE
        if isinstance(part, dict) and isinstance(part.get(key), dict)
    )
    has_text = kind == "user" and (len(results) < len(parts) or not parts)
    kind = "result" if results else kind
    return ItemFacts(kind, results=() if unknown else results, has_user_text=has_text, unknown=unknown)


def _is_known(part: Any) -> bool:
    return isinstance(part, dict) and (not _KNOWN.isdisjoint(part) or _SIGNED_ONLY.issuperset(part))


def _name(part: Any) -> str:
    return ", ".join(map(str, part)) if isinstance(part, dict) else type(part).__name__


def _field(part: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    found = next((part[name] for name in names if isinstance(part, dict) and part.get(name)), None)
    return found if isinstance(found, dict) else {}


def _names(call: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the id and the name of a call or response. A call with an id may be answered by name."""
    return tuple(str(call[key]) for key in ("id", "name") if call.get(key)) or ("",)


def text_path(_item: View) -> Path:
    """Return where a content of the user has its text."""
    return ("parts",)


def text_part(text: str) -> dict[str, Any]:
    """Return a text as a part of a content."""
    return {"text": text}


def user_item(text: str) -> dict[str, Any]:
    """Return a content of the user."""
    return {"role": "user", "parts": [{"text": text}]}
