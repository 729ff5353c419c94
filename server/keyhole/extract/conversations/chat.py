"""Read the messages of OpenAI's Chat Completions, which most local servers take too. Pure.

Source: https://platform.openai.com/docs/api-reference/chat/create. A message of role `tool` follows the assistant
message whose `tool_calls` name its `tool_call_id`; every call needs one. `function_call` is the older form.
"""

from __future__ import annotations

from typing import Any, Final

from keyhole.extract.conversations.parts import text_of
from keyhole.extract.conversations.values import Item, ItemFacts, Kind, Result

TEXT_PART: Final = "text"
RESULT_FIELD: Final = "content"
_KINDS: Final[dict[str, Kind]] = {"system": "system", "developer": "system", "user": "user", "assistant": "model"}


def read_item(item: Item, index: int) -> ItemFacts:
    """Return the facts of a message."""
    role = item.get("role")
    if role in ("tool", "function"):
        call = str(item.get("tool_call_id") or item.get("name") or "")
        return ItemFacts("result", results=(Result(index, None, call, text_of(item.get("content"))),))
    if role == "assistant":
        return ItemFacts("model", calls=_calls(item))
    kind = _KINDS.get(str(role), "unknown")
    return ItemFacts(kind, has_user_text=kind == "user")


def _calls(item: Item) -> tuple[str, ...]:
    calls: Any = item.get("tool_calls")
    ids = [str(call.get("id") or "") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    function: Any = item.get("function_call")
    return (*ids, *([str(function.get("name") or "")] if isinstance(function, dict) else []))
