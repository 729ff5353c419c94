"""Edit JSON with comments, changing only the object that is added, replaced or removed.

A path leads to the object through keys of objects and indexes of lists; the index after the last item adds an item.

An edit is a sequence of changes, and the text is parsed again for each of them: the files are small, and no change has
to track the offsets that earlier changes moved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from keyhole.extensions.install.clients import ValuePosition, nest

Path = Sequence[str | int]
EMPTY, EMPTY_LIST = "{}", "[]"
_BLANK: Final = " \t\r\n"
_INDENTED: Final = re.compile(r"\n([ \t]+)\S")


def parse(text: str) -> dict[str, Any]:
    """Return the object in the text; {} for an empty text. Raises ValueError with the line number."""
    node = read(text if text.strip() else EMPTY)
    if not isinstance(node.value, dict):
        raise ValueError(f"line {line_number(text, node.start)}: expected an object")
    value: dict[str, Any] = node.value
    return value


def put(text: str, path: Path, value: Mapping[str, Any]) -> str:
    """Return the text with `value` at `path`; missing objects and lists along the path are added.

    If there is an object at the path, only the keys that differ are changed. Raises ValueError if a value along the
    path is of another type.
    """
    if not text.strip():
        text = EMPTY + (text or "\n")
    existing = _find(text, path)
    if existing is None:
        for depth in range(len(path)):
            if _find(text, path, depth + 1) is None:
                return _insert(text, path[:depth], path[depth], nest(path[depth + 1 :], value))
    for key in existing.value if existing else ():
        if key not in value:
            text = _remove(text, [*path, key])
    for key, item in value.items():
        text = _set(text, path, key, item)
    return text


def drop(text: str, path: Path) -> str:
    """Return the text without the value at `path` and without parent objects and lists that become empty."""
    text = _remove(text, path)
    for depth in range(len(path) - 1, 0, -1):
        node = _find(text, path, depth)
        if node is None or text[node.start : node.end] not in (EMPTY, EMPTY_LIST):
            break
        text = _remove(text, path[:depth])
    return text


def copy(source: str, text: str, path: Path) -> str:
    """Return the text with the object at `path` exactly as another text has it. Both have one."""
    old, new = _find(text, path), _find(source, path)
    if old is None or new is None:
        raise ValueError("there is no object at the path")
    return text[: old.start] + source[new.start : new.end] + text[old.end :]


def locate(text: str, path: Path) -> ValuePosition | None:
    """Return the position of the value at `path`, None if there is no value."""
    node = _find(text, path, containers=False)
    if node is None:
        return None
    items = tuple((member.start, member.node.end) for member in node.members or ())
    return ValuePosition(node.start, node.end, items if isinstance(node.value, list) else None)


def separator(_text: str, _before: ValuePosition, key: str) -> str:
    """Return the text between a value and the value of the key that `command_words` adds after it."""
    return f",{_json(key)}: "


def _set(text: str, path: Path, key: str, value: Any) -> str:
    """Return the text with `value` at `key` of the object at `path`."""
    existing = _find(text, [*path, key], containers=False)
    if existing is None:
        return _insert(text, path, key, value)
    if existing.value == value and type(existing.value) is type(value):
        return text
    if isinstance(existing.value, dict) and isinstance(value, Mapping):
        return put(text, [*path, key], value)
    return text[: existing.start] + _format(text, value, _indent(text, existing.start)) + text[existing.end :]


def _find(text: str, path: Path, depth: int | None = None, *, containers: bool = True) -> Node | None:
    """Return the node at the first `depth` steps of `path`, by default at all of them; None if there is none.

    Of duplicate keys the last one is used, as in every client. Raises ValueError if a value along the path is not the
    object or list that the next step needs; with `containers`, also if the node at the end of `path` is not an object.
    """
    depth = len(path) if depth is None else depth
    node = read(text, path)
    for number, key in enumerate(path[:depth], 1):
        nodes = [member.node for member in node.members or () if member.key == key]
        if not nodes:
            return None
        node = nodes[-1]
        is_list = number < len(path) and isinstance(path[number], int)
        if not isinstance(node.value, list if is_list else dict) and (containers or number < len(path)):
            kind = "a list" if is_list else "an object"
            raise ValueError(f"line {line_number(text, node.start)}: {key!r} is not {kind}")
    return node


def _insert(text: str, path: Path, key: str | int, value: Any) -> str:
    """Return the text with a new member at the end of the object or list at `path`."""
    node = _find(text, [*path, key], len(path))
    assert node is not None and node.members is not None  # noqa: S101 - for the type checker; callers checked it
    inner_end = node.end - 1
    content_end = len(text[:inner_end].rstrip(_BLANK))
    last = node.members[-1] if node.members else None
    is_compact = _is_compact(text, node)
    indent = _member_indent(text, node)
    name = f"{_json(key)}: " if isinstance(key, str) else ""
    member = f"{name}{_json(value) if is_compact else _format(text, value, indent)}"
    comma = "," if last and last.comma is None else ""
    member += "," if last and last.comma is not None else ""
    if is_compact:
        before, after = " " if last else "", text[content_end:inner_end]
    else:
        before, after = _newline(text) + indent, text[content_end:inner_end]
        if "\n" not in after:
            after = _newline(text) + _indent(text, node.start)
    # The comma is inserted directly after the last value, because a comment may follow the value.
    value_end = last.node.end if last else content_end
    return f"{text[:value_end]}{comma}{text[value_end:content_end]}{before}{member}{after}{text[inner_end:]}"


def _remove(text: str, path: Path) -> str:
    """Return the text without the member at `path`."""
    node = _find(text, path, len(path) - 1)
    indexes = [n for n, member in enumerate((node.members if node else None) or ()) if member.key == path[-1]]
    if node is None or node.members is None or not indexes:
        return text
    index = indexes[-1]
    member, later = node.members[index], node.members[index + 1 :]
    start = len(text[: member.start].rstrip(_BLANK))
    end = member.node.end if member.comma is None else member.comma + 1
    next_start = later[0].start if later else node.end - 1
    if "\n" in text[start : member.start] and "\n" not in text[end:next_start]:
        start = member.start  # keep the line break: the line before may end with a comment
    if member.comma is None and index:
        comma = node.members[index - 1].comma
        assert comma is not None  # noqa: S101 - for the type checker; a member follows
        text, start, end = text[:comma] + text[comma + 1 :], start - 1, end - 1
    text = text[:start] + text[end:]
    parent = _find(text, path, len(path) - 1)
    if parent is not None and not parent.members and not text[parent.start + 1 : parent.end - 1].strip(_BLANK):
        return f"{text[: parent.start + 1]}{text[parent.end - 1 :]}"
    return text


def _is_compact(text: str, node: Node) -> bool:
    """Return True for an object on one line; for an empty object, True if the whole file is on one line."""
    root = read(text)
    measured = node if node.members else root
    return bool(measured.members) and "\n" not in text[measured.start : measured.end]


def _member_indent(text: str, node: Node) -> str:
    for member in reversed(node.members or ()):
        start = text.rfind("\n", 0, member.start) + 1
        if not text[start : member.start].strip(" \t"):
            return text[start : member.start]
    return _indent(text, node.start) + _unit(text)


def _indent(text: str, offset: int) -> str:
    """Return the white space at the beginning of the line at this offset."""
    start = text.rfind("\n", 0, offset) + 1
    return text[start : len(text) - len(text[start:].lstrip(" \t"))]


def _unit(text: str) -> str:
    """Return the indentation of one level: that of the first indented line."""
    found = _INDENTED.search(text)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _format(text: str, value: Any, indent: str) -> str:
    """Return a value as JSON, indented as the file is."""
    return json.dumps(value, indent=_unit(text), ensure_ascii=False).replace("\n", _newline(text) + indent)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# The parser. It accepts comments and trailing commas, and keeps the offset of each value: editors' settings files are
# written by people, and Python's libraries for such JSON drop the comments, so that an edit would rewrite the file.

MAX_DEPTH: Final = 200
"""Greatest depth of nesting: each level is a recursive call. Settings files have less than a tenth of these levels."""
_TOKEN: Final = re.compile(
    r'(?P<space>\s+|//[^\n]*|/\*.*?(?:\*/|(?P<open>\Z)))|(?P<text>(?<!\\)"(?:[^"\\\n]|\\.)*")|(?P<mark>[{}\[\],:])|(?P<word>[-+.\w]+)',
    re.DOTALL,
)
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
        if found[0].isspace() and found[0].strip(_BLANK):
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
