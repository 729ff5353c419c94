"""Parse JSON with comments and trailing commas, with the offset of each value.

Editors' settings files are written by people. Python's libraries for such JSON drop the comments, so that an edit would
rewrite the whole file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

MAX_DEPTH: Final = 200
"""Greatest depth of nesting: each level is a recursive call. Settings files have less than a tenth of these levels."""
_TOKEN: Final = re.compile(
    r'(?P<space>\s+|//[^\n]*|/\*.*?(?:\*/|(?P<open>\Z)))|(?P<text>(?<!\\)"(?:[^"\\\n]|\\.)*")|(?P<mark>[{}\[\],:])|(?P<word>[-+.\w]+)',
    re.DOTALL,
)
_SPACE: Final = " \t\r\n"
_FAST_DECODER: Final = json.JSONDecoder()
"""Parses values without comments a hundred times as fast. Some clients store megabytes of history in their file."""


@dataclass(slots=True)
class Node:
    """A value and its offsets in the text. `members`: of an object or list on the requested path, otherwise None."""

    start: int
    end: int
    value: Any
    members: list[JsonMember] | None = None


@dataclass(slots=True)
class JsonMember:
    """A key of an object, or an index of a list, with its value. `comma`: offset of the comma after it, if any."""

    key: str | int
    start: int
    node: Node
    comma: int | None = None


@dataclass(slots=True)
class _Tokens:
    """The tokens of a text. `next`: the next token with its start and end; `end`: end of the token before it."""

    text: str
    next: tuple[str, int, int] = ("", 0, 0)
    end: int = 0

    def take(self) -> tuple[str, int, int]:
        token = self.next
        self.skip_to(token[2])
        return token

    def take_if(self, mark: str) -> bool:
        if self.next[0] != mark:
            return False
        self.take()
        return True

    def skip_to(self, offset: int) -> None:
        """Continue at this offset."""
        self.end = offset
        self.next = _next_token(self.text, offset)


def read(text: str, path: Sequence[str | int] = ()) -> Node:
    """Return the value in a text. The objects and lists along `path`, of keys and indexes, have their members.

    Raises ValueError with the line number if the text is not valid.
    """
    tokens = _Tokens(text, _next_token(text, 0))
    node = _parse_value(tokens, 0, path)
    if tokens.next[0]:
        raise _error(text, tokens.next[1], "unexpected text after the end")
    return node


def line_number(text: str, offset: int) -> int:
    """Return the number of the line at this offset, counted from 1."""
    return text.count("\n", 0, offset) + 1


def _next_token(text: str, offset: int) -> tuple[str, int, int]:
    """Return the next token with its start and end, skipping white space and comments; "" at the end of the text."""
    while offset < len(text):
        found = _TOKEN.match(text, offset)
        if not found:
            raise _error(text, offset, f"unexpected {text[offset : offset + 10]!r}")
        if found["open"] is not None:
            raise _error(text, offset, "the comment has no end")
        if found.lastgroup != "space":
            return found[0], found.start(), found.end()
        if found[0].isspace() and found[0].strip(_SPACE):
            raise _error(text, offset, "JSON does not allow this white space character")
        offset = found.end()
    return "", offset, offset


def _parse_value(tokens: _Tokens, depth: int, path: Sequence[str | int] | None = None) -> Node:
    """Return the value at the next token. `path`: the path still to follow; None if no members are needed."""
    if depth > MAX_DEPTH:
        raise _error(tokens.text, tokens.next[1], "nested too deeply")
    if path is None and tokens.next[0] in ("{", "["):
        try:
            value, end = _FAST_DECODER.raw_decode(tokens.text, tokens.next[1])
        except (ValueError, RecursionError):
            pass  # a comment, a trailing comma or an error: parse it below
        else:
            node = Node(tokens.next[1], end, value)
            tokens.skip_to(end)
            return node
    word, start, end = tokens.take()
    if word == "{":
        return _parse_object(tokens, start, depth, path)
    if word == "[":
        return _parse_list(tokens, start, depth, path)
    try:
        return Node(start, end, json.loads(word))
    except ValueError:
        message = f"{word[:20]!r} is not a value" if word else "the text ends too early"
        raise _error(tokens.text, start, message) from None


def _parse_object(tokens: _Tokens, start: int, depth: int, path: Sequence[str | int] | None) -> Node:
    members: list[JsonMember] = []
    while not tokens.take_if("}"):
        if members and members[-1].comma is None:
            raise _error(tokens.text, tokens.next[1], "a comma or } is missing before this")
        key_start = tokens.next[1]
        key = _parse_value(tokens, depth + 1).value
        if not isinstance(key, str):
            raise _error(tokens.text, key_start, "a key must be a string in quotes")
        if not tokens.take_if(":"):
            raise _error(tokens.text, tokens.next[1], "a colon is missing before this")
        rest = path[1:] if path and path[0] == key else None
        members.append(JsonMember(key, key_start, _parse_value(tokens, depth + 1, rest)))
        if tokens.take_if(","):
            members[-1].comma = tokens.end - 1
    return Node(start, tokens.end, {member.key: member.node.value for member in members}, members)


def _parse_list(tokens: _Tokens, start: int, depth: int, path: Sequence[str | int] | None) -> Node:
    items: list[JsonMember] = []
    while not tokens.take_if("]"):
        if items and items[-1].comma is None:
            raise _error(tokens.text, tokens.next[1], "a comma or ] is missing before this")
        rest = path[1:] if path and path[0] == len(items) else None
        node = _parse_value(tokens, depth + 1, rest)
        items.append(JsonMember(len(items), node.start, node))
        if tokens.take_if(","):
            items[-1].comma = tokens.end - 1
    return Node(start, tokens.end, [item.node.value for item in items], items)


def _error(text: str, offset: int, message: str) -> ValueError:
    return ValueError(f"line {line_number(text, offset)}: {message}")
