"""Read a conversation with a model in the format of a provider's API. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.conversations.formats import anthropic, chat, gemini, langchain, pydantic_ai, responses
from keyhole.extensions.conversations.formats.groups import group_items
from keyhole.extensions.conversations.formats.values import (
    FORMATS,
    Format,
    GroupedConversation,
    Item,
    ItemFacts,
    MessageGroup,
    Path,
    ToolResult,
    View,
)

__all__ = [
    "FORMATS",
    "Dialect",
    "Format",
    "GroupedConversation",
    "Item",
    "MessageGroup",
    "ToolResult",
    "View",
    "dialect",
    "read_conversation",
    "without_unsent",
]


class Dialect(Protocol):
    """The module of a format."""

    def is_own(self, item: View) -> bool:
        """Return True for an item that no other format has."""
        ...

    def read_item(self, item: View, index: int) -> ItemFacts:
        """Return the facts of an item."""
        ...

    def text_path(self, item: View, /) -> Path:
        """Return where a message of the user has its text: a string, or a list that takes text parts."""
        ...

    def text_part(self, text: str) -> Any:
        """Return a text as a part of such a list."""
        ...

    def user_item(self, text: str) -> dict[str, Any]:
        """Return a message of the user."""
        ...


_DIALECTS: Final[Mapping[Format, Dialect]] = {
    "responses": responses, "chat": chat, "anthropic": anthropic, "gemini": gemini, "langchain": langchain,
    "pydantic-ai": pydantic_ai,
}  # fmt: skip
_RECOGNISED: Final[tuple[Format, ...]] = ("chat", "anthropic", "responses", "gemini", "langchain", "pydantic-ai")
"""The formats, in order of preference when a conversation fits several equally."""
_UNSENT: Final[Mapping[Format, frozenset[str]]] = {
    "langchain": frozenset({"artifact", "response_metadata", "usage_metadata"}), "pydantic-ai": frozenset({"metadata"}),
}  # fmt: skip
"""Fields of messages and their parts that are kept by the program and never sent to a provider."""


def read_conversation(items: Sequence[View], format: Format | None = None) -> GroupedConversation:
    """Return the groups of a conversation. `format`: None to recognise it.

    Raises KeyholeError: invalid_argument if no item is understood.
    """
    format = format or recognise(items)
    read_item = _DIALECTS[format].read_item
    facts = [_with_names(read_item(item, index), item) for index, item in enumerate(items)]
    if facts and all(fact.kind == "unknown" for fact in facts):
        raise KeyholeError(
            Code.INVALID_ARGUMENT,
            f"no item of the conversation is understood as {format}: the first one is {facts[0].unknown[0]!r}; "
            f"formats: {', '.join(FORMATS)}",
        )
    return group_items(format, facts)


def _with_names(facts: ItemFacts, item: View) -> ItemFacts:
    """Return the facts of an item, with all ids in it if it was not understood."""
    return replace(facts, names=tuple(_find_ids(item))) if facts.unknown else facts


def _find_ids(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            if isinstance(each, str) and name.lower().endswith("id"):
                yield each
            else:
                yield from _find_ids(each)
    elif isinstance(value, list):
        for each in value:
            yield from _find_ids(each)


def dialect(format: Format) -> Dialect:
    """Return the module of a format."""
    return _DIALECTS[format]


def without_unsent(format: Format, item: View) -> View:
    """Return an item without the fields that are never sent. They can be large, such as the artifact of a tool."""
    names = _UNSENT.get(format)
    if names is None:
        return item
    sent = {name: each for name, each in item.items() if name not in names}
    parts = sent.get("parts")
    if isinstance(parts, list):
        sent["parts"] = [without_unsent(format, part) if isinstance(part, dict) else part for part in parts]
    return sent


def recognise(items: Sequence[View]) -> Format:
    """Return the format that fits the whole conversation best.

    Items that exist in only one format decide. If several formats have such items, or none has, the format that
    understands the most items is chosen, then the one with the most items of its own. Plain messages are the same in
    several formats; they count as Chat Completions.
    """
    owned = Counter(format for item in items for format in _RECOGNISED if _DIALECTS[format].is_own(item))
    candidates = [format for format in _RECOGNISED if format in owned or not owned]
    if len(candidates) == 1:
        return candidates[0]
    return min(candidates, key=lambda format: (_count_unknown(format, items), -owned[format]))


def _count_unknown(format: Format, items: Sequence[View]) -> int:
    read_item = _DIALECTS[format].read_item
    return sum(bool(read_item(item, index).unknown) for index, item in enumerate(items))
