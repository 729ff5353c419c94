"""The values that describe a conversation: its items, the calls and results in them, and its groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

Item = Mapping[str, Any]
"""One element of a conversation, as a provider's API takes it."""
Format = Literal["responses", "chat", "anthropic"]
"""OpenAI's Responses items, Chat Completions messages, or Anthropic's Messages."""
FORMATS: Final[tuple[str, ...]] = get_args(Format)
Kind = Literal["system", "user", "model", "result", "unknown"]


@dataclass(frozen=True, slots=True)
class Result:
    """A tool result: its place, the id of its call, and its text."""

    item: int
    block: int | None
    """The index in the content of the item, None if the item is the result."""
    call: str
    text: str


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """The role of an item in the conversation, and the calls and results in it."""

    kind: Kind
    calls: tuple[str, ...] = ()
    results: tuple[Result, ...] = ()
    is_reasoning: bool = False
    is_tied: bool = False
    """True for a call that a provider knows by its id, and refuses without the reasoning before it."""
    has_user_text: bool = False
    """True for a message with text or files of the user, also if it has tool results."""


@dataclass(frozen=True, slots=True)
class Group:
    """Items that are kept or left out together: one message, or a turn of the model with its calls and results."""

    kind: Kind
    items: tuple[int, ...]
    rounds: tuple[tuple[Result, ...], ...] = ()
    """The results in it. Those of a round have no call of the model between them."""
    calls: int = 0
    is_open: bool = False
    """True if a call has no result and the conversation ends with this group."""
    is_broken: bool = False
    """True if a provider would refuse it: a result without a call, or a call without a result."""
    has_user_text: bool = False
    is_unpaired: bool = False
    """True for a message of the user that also has results of no call, which a provider takes only as text."""

    @property
    def results(self) -> tuple[Result, ...]:
        """Return the results of all rounds."""
        return tuple(result for results in self.rounds for result in results)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The groups of a conversation, in the order of their first items."""

    format: Format
    groups: tuple[Group, ...]
