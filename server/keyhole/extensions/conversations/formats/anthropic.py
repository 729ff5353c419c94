"""Read the messages of Anthropic's Messages API. Pure.

Sources: https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use and
https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/programmatic-tool-calling. The results of all `tool_use`
blocks of an assistant message are in the next user message, before its text. Calls that Anthropic runs itself
(`server_tool_use`) have their results in the same message, or, after a pause or while a program calls tools of the
client, in a later message of the same turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from keyhole.extensions.conversations.formats.chat import role_or_type
from keyhole.extensions.conversations.formats.values import ItemFacts, ItemKind, Path, ToolResult, View

_HOSTED_CALLS: Final = frozenset({"server_tool_use", "mcp_tool_use"})
_HOSTED_RESULTS: Final = frozenset({
    "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result", "tool_search_tool_result", "advisor_tool_result", "mcp_tool_result",
})  # fmt: skip
_CONTENTS: Final = frozenset({
    "text", "image", "document", "search_result", "thinking", "redacted_thinking", "container_upload", "fallback",
})  # fmt: skip
_STATES: Final = frozenset({"compaction", "tool_addition", "tool_removal", "mcp_tool_listing"})
"""Types of blocks that change what the model has from then on."""
_CLIENT: Final = frozenset({"tool_use", "tool_result"})
_KNOWN: Final = _HOSTED_CALLS | _HOSTED_RESULTS | _CONTENTS | _STATES | _CLIENT
_ROLES: Final[dict[str, ItemKind]] = {"system": "system", "developer": "system", "user": "user", "assistant": "model"}
MARKS: Final = _KNOWN - {"text", "image", "document"}
"""Types of blocks that only this API has."""


def is_own(item: View) -> bool:
    """Return True for a message that no other format has: by its blocks, or a response of the API as it came."""
    is_response = item.get("type") == "message" and "model" in item
    return "role" in item and (is_response or any(block.get("type") in MARKS for block in _blocks(item)))


def read_item(item: View, index: int) -> ItemFacts:
    """Return the facts of a message."""
    kind = _ROLES.get(str(item.get("role")), "unknown")
    blocks = _blocks(item)
    unknown = tuple(f"block {block.get('type')}" for block in blocks if block.get("type") not in _KNOWN)
    if kind == "unknown":
        return ItemFacts("unknown", unknown=(role_or_type(item),))
    if not isinstance(item.get("content"), str | list):
        return ItemFacts(kind, unknown=("content",))
    results = tuple(_results(blocks, index)) if not unknown else ()
    is_fixed = any(block.get("type") in _STATES for block in blocks)
    if kind == "model":
        return ItemFacts(
            "model",
            calls=tuple((_id(block, "id"),) for block in blocks if block.get("type") == "tool_use"),
            hosted=tuple(_id(block, "id") for block in blocks if block.get("type") in _HOSTED_CALLS),
            results=results,
            closes=tuple(_id(block, "tool_use_id") for block in blocks if block.get("type") in _HOSTED_RESULTS),
            references=tuple(_callers(blocks)),
            is_fixed=is_fixed,
            unknown=unknown,
        )
    answers = [block for block in blocks if block.get("type") == "tool_result"]
    if kind == "user" and answers:
        kind = "result"
    has_text = kind in ("user", "result") and len(answers) < max(1, len(blocks))
    return ItemFacts(kind, results=results, has_user_text=has_text, is_fixed=is_fixed, unknown=unknown)


def _results(blocks: list[Mapping[str, Any]], index: int) -> list[ToolResult]:
    return [
        ToolResult(index, ("content", number, "content"), (_id(block, "tool_use_id"),), block.get("content"))
        for number, block in enumerate(blocks)
        if block.get("type") in ("tool_result", "mcp_tool_result")
    ]


def _callers(blocks: list[Mapping[str, Any]]) -> list[str]:
    """Return the ids of the programs that made the calls."""
    callers = [block["caller"].get("tool_id") for block in blocks if isinstance(block.get("caller"), dict)]
    return [str(caller) for caller in callers if caller]


def _id(block: Mapping[str, Any], name: str) -> str:
    return str(block.get(name) or "")


def _blocks(item: View) -> list[Mapping[str, Any]]:
    """Return the blocks of a message. A block that is no object has an unknown type."""
    content = item.get("content")
    if not isinstance(content, list):
        return []
    return [block if isinstance(block, dict) else {"type": type(block).__name__} for block in content]


def text_path(_item: View) -> Path:
    """Return where a message of the user has its text."""
    return ("content",)


def text_part(text: str) -> dict[str, Any]:
    """Return a text as a part of a content."""
    return {"type": "text", "text": text}


def user_item(text: str) -> dict[str, Any]:
    """Return a message of the user."""
    return {"role": "user", "content": text}
