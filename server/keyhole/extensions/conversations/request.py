"""Find the conversation in a request to a provider's API, and put a shorter one in its place. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keyhole.budget.items import estimate_item
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.conversations.formats import Format, Item


@dataclass(frozen=True, slots=True)
class Request:
    """A conversation, and the request that it was found in."""

    items: Sequence[Item]
    format: Format | None
    """The format that the request tells, None to recognise it."""
    body: Mapping[str, Any] | None = None
    """None if the conversation stood alone."""
    field: str = ""
    """The field of the body that has the conversation."""

    @property
    def other_tokens(self) -> int:
        """Return an estimate of the tokens of all other fields: the instructions, the tools, the options."""
        rest = {name: value for name, value in (self.body or {}).items() if name != self.field}
        return estimate_item(rest) if rest else 0

    def with_items(self, items: Sequence[Item]) -> object:
        """Return the request with another conversation, or the conversation if it stood alone."""
        return list(items) if self.body is None else {**self.body, self.field: list(items)}


def read_request(value: object) -> Request:
    """Return the conversation of a decoded JSON text: a list of items, or a body that has them in one of its fields.

    Raises KeyholeError: invalid_argument.
    """
    if isinstance(value, list):
        return Request(value, None)
    if isinstance(value, Mapping):
        for field in ("messages", "input", "contents"):
            items = value.get(field)
            if isinstance(items, str):
                items = [{"role": "user", "content": items}] if field != "contents" else [{"parts": [{"text": items}]}]
            if isinstance(items, list):
                return Request(items, _format(field, value), value, field)
    message = "a conversation is a JSON list of messages or items, or a request with `messages`, `input` or `contents`"
    raise KeyholeError(Code.INVALID_ARGUMENT, message)


def _format(field: str, body: Mapping[str, Any]) -> Format | None:
    """Return the format of a request, as far as its fields tell. Only Anthropic has a system text beside messages."""
    if field != "messages":
        return "responses" if field == "input" else "gemini"
    return "anthropic" if "system" in body else None
