"""The values that describe a conversation: its items, the calls and results in them, and its groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

Item = Any
"""One element of a conversation, as a program passes it to a provider's SDK: a mapping, or an object of the SDK."""
View = Mapping[str, Any]
"""An item as plain JSON values."""
Path = tuple[str | int, ...]
"""The keys and indexes that lead from an item to a value in it."""
Format = Literal["responses", "chat", "anthropic", "gemini", "langchain", "pydantic-ai"]
"""OpenAI's Responses items, Chat Completions messages, Anthropic's Messages, Gemini's contents, or the message objects
of LangChain and pydantic-ai."""
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
ItemKind = Literal["system", "user", "model", "result", "unknown"]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool result: its place and its content."""

    item: int
    path: Path
    """The path of the content in the item."""
    names: tuple[str, ...]
    """The ids, or else the name, by which the result names its call; the best first."""
    content: Any
    """The content as plain values: a text, a list of parts, or an object."""
    is_replaceable: bool = True
    """False if the provider takes the content only unchanged."""

    @property
    def place(self) -> tuple[int, int | None]:
        """Return the index of its item, and of its block or part in the item, or None."""
        return self.item, next((key for key in self.path if isinstance(key, int)), None)


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """The role of an item in the conversation, and the calls and results in it."""

    kind: ItemKind
    calls: tuple[tuple[str, ...], ...] = ()
    """For each call that the client must answer, the names by which a result can name it."""
    hosted: tuple[str, ...] = ()
    """The ids of calls that the provider runs, and may answer in a later item."""
    closes: tuple[str, ...] = ()
    """The ids of calls that the provider runs and that this item answers."""
    results: tuple[ToolResult, ...] = ()
    """The results in it. Those of hosted calls are in items of the model."""
    references: tuple[str, ...] = ()
    """The ids of other calls that the item belongs to, such as the program that calls a tool."""
    names: tuple[str, ...] = ()
    """All ids in an item that was not understood, by which other items may name it."""
    is_reasoning: bool = False
    is_tied: bool = False
    """True for a call that a provider knows by its id, and refuses without the reasoning before it."""
    has_user_text: bool = False
    """True for a message with text or files of the user, even if it has tool results too."""
    is_fixed: bool = False
    """True if the provider needs the item later, such as a list of tools or a summary that the provider made."""
    unknown: tuple[str, ...] = ()
    """The types of its parts that were not understood."""


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """Items that are kept or left out together: one message, or a turn of the model with its calls and results."""

    kind: ItemKind
    items: tuple[int, ...]
    rounds: tuple[tuple[ToolResult, ...], ...] = ()
    """The results that a stub may replace. Those of a round have no call of the model between them."""
    calls: int = 0
    is_open: bool = False
    """True if a call has no result and the conversation ends with this group."""
    is_broken: bool = False
    """True if a provider would refuse the group: it has a result without a call, or a call without a result."""
    has_user_text: bool = False
    strays: tuple[ToolResult, ...] = ()
    """Results without a call, in a message of the user. A provider takes them only as text."""
    is_fixed: bool = False
    """True if the group is kept in any case."""
    answered_at: int = -1
    """The index of the item that answers its last call."""

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """Return the results of all rounds."""
        return tuple(result for results in self.rounds for result in results)


@dataclass(frozen=True, slots=True)
class GroupedConversation:
    """The groups of a conversation, in the order of their first items."""

    format: Format
    groups: tuple[MessageGroup, ...]
    kinds: tuple[ItemKind, ...]
    """The kind of each item."""
    unknown: tuple[tuple[int, str], ...] = ()
    """The items that were not fully understood, each with the name of a type."""
