"""Read the messages of Anthropic's Messages API. Pure.

Source: https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use. The results of all `tool_use`
blocks of an assistant message are in the next user message, before its text. Calls that Anthropic runs itself
(`server_tool_use`) have their results in the same message.
"""

from __future__ import annotations

from typing import Any, Final

from keyhole.extract.conversations.parts import text_of
from keyhole.extract.conversations.values import Item, ItemFacts, Result

TEXT_PART: Final = "text"
RESULT_FIELD: Final = "content"


def read_item(item: Item, index: int) -> ItemFacts:
    """Return the facts of a message."""
    role, blocks = item.get("role"), _blocks(item)
    if role == "assistant":
        calls = tuple(str(block.get("id") or "") for block in blocks if block.get("type") == "tool_use")
        return ItemFacts("model", calls=calls)
    if role in ("system", "developer"):
        return ItemFacts("system")
    if role != "user":
        return ItemFacts("unknown")
    results = tuple(
        Result(index, number, str(block.get("tool_use_id") or ""), text_of(block.get("content")))
        for number, block in enumerate(blocks)
        if block.get("type") == "tool_result"
    )
    has_text = not results or len(results) < len(blocks)
    return ItemFacts("result" if results else "user", results=results, has_user_text=has_text)


def _blocks(item: Item) -> list[dict[str, Any]]:
    """Return the blocks of a message; other elements count as empty blocks, so that indexes stay."""
    content = item.get("content")
    return [block if isinstance(block, dict) else {} for block in content] if isinstance(content, list) else []
