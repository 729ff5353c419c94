"""Where everything stands in a JSON text with comments and trailing commas. Reads text only; changes nothing.

Editors' settings are JSON as people write it: libraries of Python that read it lose where a comment stood, so that a
change would write the whole file anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

MAX_DEPTH: Final = 200
"""Levels of nesting: no settings file has a tenth of it, and each costs a call of ours."""
_TOKEN: Final = re.compile(
    r'(?P<space>\s+|//[^\n]*|/\*.*?\*/)|(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<mark>[{}\[\],:])|(?P<word>[-+.\w]+)',
    re.DOTALL,
)
_SPACE: Final = " \t\r\n"
_PLAIN: Final = json.JSONDecoder()
"""Reads what has no comments in it, a hundred times as fast: some clients keep megabytes of history in their file."""


@dataclass(slots=True)
class Node:
    """A value with where it stands; of an object also its members."""

    start: int
    end: int
    value: Any
    members: list[Member] | None = None


@dataclass(slots=True)
class Member:
    """One key of an object with its value, and where the comma after it stands, if there is one."""

    key: str
    start: int
    node: Node
    comma: int | None = None


@dataclass(slots=True)
class _Tokens:
    """The text with the piece that comes next. `end`: where the last piece that was taken ends."""

    text: str
    next: tuple[str, int, int] = ("", 0, 0)
    end: int = 0

    def take(self) -> tuple[str, int, int]:
        taken = self.next
        self.go(taken[2])
        return taken

    def take_if(self, mark: str) -> bool:
        if self.next[0] != mark:
            return False
        self.take()
        return True

    def go(self, at: int) -> None:
        """Go on behind this place."""
        self.end = at
        self.next = _piece(self.text, at)


def read(text: str, path: Sequence[str] = ()) -> Node:
    """The one value of a text; of the objects in it, those on the path have their members.

    Raises ValueError, which names the line, for what is no JSON with comments.
    """
    tokens = _Tokens(text, _piece(text, 0))
    node = _value(tokens, 0, path)
    if tokens.next[0]:
        raise _wrong(text, tokens.next[1], "something follows the end")
    return node


def line_of(text: str, at: int) -> int:
    """The number of the line, from 1."""
    return text.count("\n", 0, at) + 1


def _piece(text: str, at: int) -> tuple[str, int, int]:
    """The next piece with its place, white space and comments passed over; an empty one at the end."""
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found:
            raise _wrong(text, at, f"{text[at : at + 10]!r} is not expected here")
        if found.lastgroup != "space":
            return found[0], found.start(), found.end()
        if found[0].isspace() and found[0].strip(_SPACE):
            raise _wrong(text, at, "this white space is none of JSON's")
        at = found.end()
    return "", at, at


def _value(tokens: _Tokens, depth: int, path: Sequence[str] | None = None) -> Node:
    """`path`: what of the value is on the way; None where it is beside it and only its end matters."""
    if depth > MAX_DEPTH:
        raise _wrong(tokens.text, tokens.next[1], "this is nested too deeply")
    if path is None and tokens.next[0] in ("{", "["):
        try:
            value, end = _PLAIN.raw_decode(tokens.text, tokens.next[1])
        except (ValueError, RecursionError):
            pass  # it has a comment or a last comma, or is wrong
        else:
            node = Node(tokens.next[1], end, value)
            tokens.go(end)
            return node
    piece, start, end = tokens.take()
    if piece == "{":
        return _object(tokens, start, depth, path)
    if piece == "[":
        return _list(tokens, start, depth)
    try:
        return Node(start, end, json.loads(piece))
    except ValueError:
        raise _wrong(
            tokens.text, start, f"{piece[:20]!r} is no value" if piece else "the text ends too early"
        ) from None


def _object(tokens: _Tokens, start: int, depth: int, path: Sequence[str] | None) -> Node:
    members: list[Member] = []
    while not tokens.take_if("}"):
        if members and members[-1].comma is None:
            raise _wrong(tokens.text, tokens.next[1], "a comma or } is missing before this")
        at = tokens.next[1]
        key = _value(tokens, depth + 1).value
        if not isinstance(key, str):
            raise _wrong(tokens.text, at, "a key must be a text in quotes")
        if not tokens.take_if(":"):
            raise _wrong(tokens.text, tokens.next[1], "a colon is missing before this")
        inner = path[1:] if path and path[0] == key else None
        members.append(Member(key, at, _value(tokens, depth + 1, inner)))
        if tokens.take_if(","):
            members[-1].comma = tokens.end - 1
    return Node(start, tokens.end, {member.key: member.node.value for member in members}, members)


def _list(tokens: _Tokens, start: int, depth: int) -> Node:
    values: list[Any] = []
    more = True
    while not tokens.take_if("]"):
        if not more:
            raise _wrong(tokens.text, tokens.next[1], "a comma or ] is missing before this")
        values.append(_value(tokens, depth + 1).value)
        more = tokens.take_if(",")
    return Node(start, tokens.end, values)


def _wrong(text: str, at: int, what: str) -> ValueError:
    return ValueError(f"line {line_of(text, at)}: {what}")
