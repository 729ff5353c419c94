"""Read the items of OpenAI's Responses API. Pure.

Source: https://platform.openai.com/docs/api-reference/responses/create and
https://platform.openai.com/docs/guides/reasoning. The result of a call has its `call_id` and comes after it. A call
with an `id` is refused without the reasoning items before it that belong to the same response.
"""

from __future__ import annotations

from typing import Final

from keyhole.extract.conversations.parts import text_of
from keyhole.extract.conversations.values import Item, ItemFacts, Kind, Result

TEXT_PART: Final = "input_text"
RESULT_FIELD: Final = "output"
CALLS: Final = frozenset({
    "function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call",
})  # fmt: skip
"""Types of calls that the caller runs. Each needs an item of the same type with the ending `_output`."""
RESULTS: Final = frozenset(f"{call}_output" for call in CALLS)
HOSTED: Final = frozenset({
    "reasoning", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call",
})  # fmt: skip
"""Types of items that the provider made, with the results of its own tools in them."""
_ROLES: Final[dict[str, Kind]] = {"system": "system", "developer": "system", "user": "user", "assistant": "model"}


def read_item(item: Item, index: int) -> ItemFacts:
    """Return the facts of an item. A message may have no `type`."""
    item_type = item.get("type", "message")
    if item_type in CALLS:
        return ItemFacts("model", calls=(_call_id(item),), is_tied=bool(item.get("id")))
    if item_type in RESULTS:
        return ItemFacts("result", results=(Result(index, None, _call_id(item), text_of(item.get("output"))),))
    if item_type == "mcp_call":
        return ItemFacts("model", results=(Result(index, None, _call_id(item), text_of(item.get("output"))),))
    if item_type in HOSTED:
        return ItemFacts("model", is_reasoning=item_type == "reasoning")
    kind = _ROLES.get(str(item.get("role")), "unknown") if item_type == "message" else "unknown"
    return ItemFacts(kind, has_user_text=kind == "user")


def _call_id(item: Item) -> str:
    return str(item.get("call_id") or item.get("id") or "")
