"""Read a conversation with a model in the format of a provider's API. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from keyhole.extract.conversations import anthropic, chat, responses
from keyhole.extract.conversations.groups import group_items
from keyhole.extract.conversations.values import FORMATS, Conversation, Format, Group, Item, ItemFacts, Result

__all__ = ["FORMATS", "Conversation", "Format", "Group", "Item", "Result", "dialect", "read_conversation"]


class Dialect(Protocol):
    """The module of a format."""

    TEXT_PART: str
    """The type of a text part that the user writes."""
    RESULT_FIELD: str
    """The field of an item that holds a tool result, or the list of them."""

    def read_item(self, item: Item, index: int) -> ItemFacts:
        """Return the facts of an item."""
        ...


_DIALECTS: Final[Mapping[Format, Dialect]] = {"responses": responses, "chat": chat, "anthropic": anthropic}
_ANTHROPIC_BLOCKS: Final = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})
_RESPONSES_PARTS: Final = frozenset({"input_text", "output_text", "input_image", "input_file", "refusal"})


def read_conversation(items: Sequence[Item], format: Format | None = None) -> Conversation:
    """Return the groups of a conversation. `format`: None to recognise it."""
    format = format or recognise(items)
    read_item = _DIALECTS[format].read_item
    return group_items(format, [read_item(item, index) for index, item in enumerate(items)])


def dialect(format: Format) -> Dialect:
    """Return the module of a format."""
    return _DIALECTS[format]


def recognise(items: Sequence[Item]) -> Format:
    """Return the format of a conversation. Plain messages are the same in all; they count as Chat Completions."""
    for item in items:
        if "role" not in item or item.get("type") == "message":
            return "responses"
        if item["role"] in ("tool", "function") or item.get("tool_calls"):
            return "chat"
        types = _part_types(item.get("content"))
        if types & _ANTHROPIC_BLOCKS:
            return "anthropic"
        if types & _RESPONSES_PARTS:
            return "responses"
    return "chat"


def _part_types(content: object) -> set[str]:
    parts = content if isinstance(content, list) else []
    return {str(part.get("type")) for part in parts if isinstance(part, Mapping)}
