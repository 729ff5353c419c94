"""Read and change the content of a message or tool result: a text, or a list of parts of which some are texts. Pure."""

from __future__ import annotations

from typing import Any, Final

from keyhole.extract.conversations.values import Item

TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text"})
"""Types of text parts: Chat Completions and Anthropic, and both kinds of the Responses API."""


def text_of(content: object) -> str:
    """Return the text of a content, its parts separated by line feeds."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in _parts(content) if _is_text(part))


def replace_result(item: Item, field: str, block: int | None, text: str, part_type: str) -> Item:
    """Return an item with the text of a result replaced. Images and files in it stay.

    `field`: where the result, or the list of results in which it is the one numbered `block`, stands in the item.
    """
    if block is None:
        return {**item, field: _replace_texts(item.get(field), text, part_type)}
    blocks = list(item[field])
    blocks[block] = {**blocks[block], "content": _replace_texts(blocks[block].get("content"), text, part_type)}
    return {**item, field: blocks}


def show_results_as_text(item: Item) -> Item:
    """Return a message whose blocks of type `tool_result` are replaced by the parts of their contents."""
    blocks: list[Any] = []
    for block in item["content"]:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            content = block.get("content")
            blocks += content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
        else:
            blocks.append(block)
    return {**item, "content": blocks}


def add_text_part(content: object, text: str, part_type: str) -> object:
    """Return a content with a text after it."""
    if isinstance(content, list):
        return [*content, {"type": part_type, "text": text}]
    return f"{content}\n\n{text}" if content else text


def _replace_texts(content: object, text: str, part_type: str) -> object:
    if not isinstance(content, list):
        return text
    return [{"type": part_type, "text": text}, *(part for part in content if not _is_text(part))]


def _parts(content: object) -> list[Any]:
    return content if isinstance(content, list) else []


def _is_text(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") in TEXT_TYPES and isinstance(part.get("text"), str)
