"""Changes of a JSON text with comments that touch nothing but what they are about. Text in, text out.

A change is made of steps on the text, each after a new look at where things stand: the files are small, and a step
need not know what those before it moved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from keyhole.cli.install.entries import nested
from keyhole.cli.install.jsonc_parse import Member, Node, line_of, read

EMPTY: Final = "{}"
_BLANK: Final = " \t\r\n"
_INDENTED: Final = re.compile(r"\n([ \t]+)\S")


def parse(text: str) -> dict[str, Any]:
    """The object that the text is; an empty text is an empty one. Raises ValueError, which names the line."""
    node = read(text if text.strip() else EMPTY)
    if node.members is None:
        raise ValueError(f"line {line_of(text, node.start)}: an object was expected")
    value: dict[str, Any] = node.value
    return value


def put(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with this object at this path, and above it what is missing. Of an object that is there only what
    differs is changed. Raises ValueError where something else than an object stands on the way."""
    if not text.strip():
        text = EMPTY + (text or "\n")
    there = _at(text, path)
    if there is None:
        for depth in range(len(path)):
            if _at(text, path[: depth + 1]) is None:
                return _inserted(text, path[:depth], path[depth], nested(path[depth + 1 :], value))
    for key in there.value if there else ():
        if key not in value:
            text = _removed(text, [*path, key])
    for key, wanted in value.items():
        text = _set(text, path, key, wanted)
    return text


def drop(text: str, path: Sequence[str]) -> str:
    """The text without what stands at this path, and without the objects above it that are empty then."""
    text = _removed(text, path)
    for depth in range(len(path) - 1, 0, -1):
        node = _at(text, path[:depth])
        if node is None or text[node.start : node.end] != EMPTY:
            break
        text = _removed(text, path[:depth])
    return text


def _set(text: str, path: Sequence[str], key: str, wanted: Any) -> str:
    there = _at(text, [*path, key], objects=False)
    if there is None:
        return _inserted(text, path, key, wanted)
    if there.value == wanted and type(there.value) is type(wanted):
        return text
    if isinstance(there.value, dict) and isinstance(wanted, Mapping):
        return put(text, [*path, key], wanted)
    return text[: there.start] + _written(text, wanted, _indent(text, there.start)) + text[there.end :]


def _at(text: str, path: Sequence[str], *, objects: bool = True) -> Node | None:
    """What stands at a path, if anything does; the last of equal keys, as with every client."""
    node = read(text, path)
    for number, key in enumerate(path):
        found = [member.node for member in node.members or () if member.key == key]
        if not found:
            return None
        node = found[-1]
        if not isinstance(node.value, dict) and (objects or number < len(path) - 1):
            raise ValueError(f"line {line_of(text, node.start)}: {key!r} is no object")
    return node


def _inserted(text: str, path: Sequence[str], key: str, value: Any) -> str:
    node = _at(text, path)
    assert node is not None and node.members is not None  # noqa: S101 - for the type checker; the caller looked
    inner_end = node.end - 1
    at = len(text[:inner_end].rstrip(_BLANK))
    last = node.members[-1] if node.members else None
    compact = _compact(text, node)
    indent = _member_indent(text, node)
    member = f"{_json(key)}: {_json(value) if compact else _written(text, value, indent)}"
    comma = "," if last and last.comma is None else ""
    member += "," if last and last.comma is not None else ""
    if compact:
        before, after = " " if last else "", text[at:inner_end]
    else:
        before, after = _newline(text) + indent, text[at:inner_end]
        if "\n" not in after:
            after = _newline(text) + _indent(text, node.start)
    # The comma goes right behind the last value: a comment may stand between it and the end.
    behind = last.node.end if last else at
    return f"{text[:behind]}{comma}{text[behind:at]}{before}{member}{after}{text[inner_end:]}"


def _removed(text: str, path: Sequence[str]) -> str:
    node = _at(text, path[:-1])
    places = [n for n, member in enumerate((node.members if node else None) or ()) if member.key == path[-1]]
    if node is None or node.members is None or not places:
        return text
    index = places[-1]
    member, later = node.members[index], node.members[index + 1 :]
    start = len(text[: member.start].rstrip(_BLANK))
    end = member.node.end if member.comma is None else member.comma + 1
    if "\n" in text[start : member.start] and "\n" not in text[end : _next(node, later)]:
        start = member.start  # what is before may be a comment, which would swallow what follows on this line
    if member.comma is None and index:
        comma = node.members[index - 1].comma
        assert comma is not None  # noqa: S101 - for the type checker; a member follows
        text, start, end = text[:comma] + text[comma + 1 :], start - 1, end - 1
    text = text[:start] + text[end:]
    left = _at(text, path[:-1])
    if left is not None and not left.members and not text[left.start + 1 : left.end - 1].strip(_BLANK):
        return text[: left.start] + EMPTY + text[left.end :]
    return text


def _next(node: Node, later: Sequence[Member]) -> int:
    return later[0].start if later else node.end - 1


def _compact(text: str, node: Node) -> bool:
    """Whether an object is written in one line, or is empty in a file that is."""
    root = read(text)
    whole = root if not node.members else node
    return bool(whole.members) and "\n" not in text[whole.start : whole.end]


def _member_indent(text: str, node: Node) -> str:
    for member in reversed(node.members or ()):
        start = text.rfind("\n", 0, member.start) + 1
        if not text[start : member.start].strip(" \t"):
            return text[start : member.start]
    return _indent(text, node.start) + _unit(text)


def _indent(text: str, at: int) -> str:
    """The white space that the line of this place begins with."""
    start = text.rfind("\n", 0, at) + 1
    return text[start : len(text) - len(text[start:].lstrip(" \t"))]


def _unit(text: str) -> str:
    """By how much the file indents: its first indented line stands one level below its beginning."""
    found = _INDENTED.search(text)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _written(text: str, value: Any, indent: str) -> str:
    return json.dumps(value, indent=_unit(text), ensure_ascii=False).replace("\n", _newline(text) + indent)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
