"""Read the items of OpenAI's Responses API. Pure.

Sources: https://platform.openai.com/docs/api-reference/responses/create,
https://platform.openai.com/docs/guides/reasoning and the union `ResponseInputItemParam` of the package openai 3.57. The
result of a call has its `call_id` and comes after it. A call with an `id` is refused without the reasoning items before
it that belong to the same response.
"""

from __future__ import annotations

from typing import Any, Final

from keyhole.extensions.conversations.formats.chat import unknown_parts
from keyhole.extensions.conversations.formats.values import ItemFacts, ItemKind, Path, ToolResult, View

CALLS: Final = frozenset({
    "function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call",
})  # fmt: skip
"""Types of calls that the caller runs. Each needs an item of the same type with the ending `_output`."""
RESULTS: Final = frozenset(f"{call}_output" for call in CALLS)
_OWN: Final = frozenset({
    "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call",
})  # fmt: skip
"""Types of items that the provider made, with the results of its own tools in them."""
_PAIRED: Final = frozenset({"program", "mcp_approval_request", "tool_search_call"})
"""Types of items that a later item may name."""
_STATES: Final = frozenset({
    "compaction", "compaction_trigger", "additional_tools", "configuration_update", "mcp_list_tools",
})  # fmt: skip
"""Types of items that change what the model has from then on."""
_ANSWERS: Final = frozenset({"program_output", "mcp_approval_response", "tool_search_output"})
_TYPES: Final = CALLS | RESULTS | _OWN | _PAIRED | _STATES | _ANSWERS | {"reasoning"}
_PARTS: Final = frozenset({
    "input_text", "output_text", "input_image", "input_file", "input_audio", "refusal", "text", "summary_text",
    "reasoning_text", "computer_screenshot",
})  # fmt: skip
_PART_MARKS: Final = frozenset({"input_text", "output_text", "input_image", "input_file"})
_ROLES: Final[dict[str, ItemKind]] = {"system": "system", "developer": "system", "user": "user", "assistant": "model"}


def is_own(item: View) -> bool:
    """Return True for an item that no other format has."""
    content = item.get("content")
    if item.get("type") in _TYPES or (item.get("type") == "message" and "role" in item and isinstance(content, str)):
        return True
    parts = content if isinstance(content, list) and "role" in item else []
    return any(isinstance(part, dict) and part.get("type") in _PART_MARKS for part in parts)


def read_item(item: View, index: int) -> ItemFacts:
    """Return the facts of an item. A message may have no `type`."""
    item_type = item.get("type", "message")
    if item_type in CALLS:
        names = (*_typed(item_type, item), *_names(item))
        return ItemFacts("model", calls=(names,), references=_caller(item), is_tied=bool(item.get("id")))
    if item_type in RESULTS:
        names = (*_typed(item_type.removesuffix("_output"), item), *_names(item))
        result = ToolResult(index, ("output",), names, item.get("output"), item_type != "apply_patch_call_output")
        return ItemFacts("result", results=(result,))
    if item_type in _OWN:
        results = (ToolResult(index, ("output",), (), item["output"]),) if item.get("output") else ()
        return ItemFacts("model", results=results, references=_caller(item), is_tied=True)
    if item_type in _PAIRED:
        # The output of a search that the provider runs follows at once, and names nothing.
        is_hosted = item_type == "tool_search_call" and item.get("execution") != "client"
        return ItemFacts("model", hosted=() if is_hosted else _names(item), references=_caller(item), is_tied=True)
    if item_type in _ANSWERS:
        return ItemFacts("result" if _is_of_client(item) else "model", closes=_names(item), is_tied=True)
    if item_type == "reasoning":
        return ItemFacts("model", is_reasoning=True)
    if item_type in _STATES:
        return ItemFacts("system")
    return _read_message(item) if item_type == "message" else ItemFacts("unknown", unknown=(str(item_type),))


def _read_message(item: View) -> ItemFacts:
    kind = _ROLES.get(str(item.get("role")))
    if kind is None:
        return ItemFacts("unknown", unknown=(f"role {item.get('role')}",))
    return ItemFacts(kind, has_user_text=kind == "user", unknown=unknown_parts(item.get("content"), _PARTS))


def _is_of_client(item: View) -> bool:
    return item["type"] == "mcp_approval_response" or item.get("execution") == "client"


def _caller(item: View) -> tuple[str, ...]:
    """Return the ids of the program that made a call, and of the approval that it needed."""
    caller = item.get("caller")
    program = caller.get("caller_id") if isinstance(caller, dict) else None
    return tuple(str(id) for id in (program, item.get("approval_request_id")) if id)


def _typed(call_type: str, item: View) -> tuple[str, ...]:
    """Return the ids of a call with its type, because a result answers only a call of its type."""
    return tuple(f"{call_type} {name}" for name in _names(item))


def _names(item: View) -> tuple[str, ...]:
    """Return the ids of an item. A result of `local_shell_call` has the id of its call as its own."""
    ids = (item.get("call_id"), item.get("approval_request_id"), item.get("id"))
    return tuple(str(id) for id in ids if id) or ("",)


def text_path(_item: View) -> Path:
    """Return where a message of the user has its text."""
    return ("content",)


def text_part(text: str) -> dict[str, Any]:
    """Return a text as a part of a content."""
    return {"type": "input_text", "text": text}


def user_item(text: str) -> dict[str, Any]:
    """Return a message of the user."""
    return {"role": "user", "content": text}
