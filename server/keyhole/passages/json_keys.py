"""Find the arrays and objects of JSON in a text with their paths, such as `partitions[0].services.s3`. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final, NamedTuple

MAX_JSON_CHARS: Final = 2_000_000
"""Characters of a block that are read: half a second. The arrays and objects after them have no paths."""

MAX_DEPTH: Final = 30
"""Arrays and objects inside more others are read as parts of these."""

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|[\[\]{},:]')
_NAME = re.compile(r"[\w-]+")
_CLOSING = re.compile(r"[\s\]},]*")


class Container(NamedTuple):
    """An array or object `text[opening:end]`. It begins at its key, or at its bracket if it has none."""

    start: int
    opening: int
    end: int
    path: str
    parent: int
    """The number of the array or object that contains it, -1 for none."""


def find_containers(text: str, start: int, end: int) -> list[Container]:
    """Return the arrays and objects of the JSON `text[start:end]` in order. Invalid JSON is read as far as it goes."""
    found: list[Container] = []
    opened: list[tuple[int, bool]] = []
    deeper = 0
    items = [0]
    string, key = (start, ""), (start, "")
    for token in _TOKEN.finditer(text, start, min(end, start + MAX_JSON_CHARS)):
        mark = token[0]
        if mark[0] == '"':
            string = token.start(), mark
        elif mark == ":":
            key = string
        elif mark == ",":
            items[-1] += 1
        elif mark in "[{" and len(opened) == MAX_DEPTH:
            deeper += 1
        elif mark in "]}" and deeper:
            deeper -= 1
        elif mark in "[{":
            parent, in_array = opened[-1] if opened else (-1, True)
            path = found[parent].path if opened else ""
            if opened:
                path = f"{path}[{items[-1]}]" if in_array else _join(path, key[1])
            found.append(Container(token.start() if in_array else key[0], token.start(), end, path, parent))
            opened.append((len(found) - 1, mark == "["))
            items.append(0)
        elif opened:
            number = opened.pop()[0]
            items.pop()
            found[number] = found[number]._replace(end=token.end())
    return found


def path_at(text: str, containers: Sequence[Container], start: int, end: int) -> str:
    """Return the path of the array or object that has the first value of a range, "" for the outermost and outside."""
    closing = _CLOSING.match(text, start, end)
    offset = closing.end() if closing else start
    number = bisect_left(containers, offset, key=lambda each: each.start) - 1
    while number >= 0 and not containers[number].opening < offset < containers[number].end:
        number = containers[number].parent
    return containers[number].path if number >= 0 else ""


def _join(path: str, key: str) -> str:
    name = key[1:-1]
    if not _NAME.fullmatch(name):
        return f"{path}[{key}]"
    return f"{path}.{name}" if path else name
