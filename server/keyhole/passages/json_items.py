"""Find the items of JSON in code blocks, so that passages begin and end at them and name their address. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from keyhole.passages.blocks import CodeBlock
from keyhole.text.parse_json import address_step

MAX_DEPTH: Final = 200
"""Depth down to which items are found."""
MAX_INDENT_CHARS: Final = 80
"""Characters before an item that begins its line."""
MAX_ADDRESS_CHARS: Final = 100
"""Characters of an address. A longer one is left out: its keys are texts."""

_INFO: Final = ("```json", "~~~json")
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|[\[\]{},]')
_SPACE = re.compile(r"\s*+")
_KEY = re.compile(r'((?<!\\)"(?:[^"\\\n]|\\.)*+")\s*+:')
_CLOSING: Final = {"]": "[", "}": "{"}


class JsonItem(NamedTuple):
    """An item of an array or object of JSON that is too long to be one passage, or the whole JSON."""

    start: int
    """Where the item begins: with its key in an object."""
    end: int
    key: str | int | None
    """The key or the number of the item; None for the whole JSON."""
    begins_window: bool
    """Whether a window begins here: the item or the one before it is longer than a window."""
    parent: int = -1
    """The number of the item that contains this one; -1 for none."""


class _Container(NamedTuple):
    bracket: str
    start: int
    starts: list[int]


def find_json_items(text: str, code: Sequence[CodeBlock], window: int, longest: int) -> list[JsonItem]:
    """Return the items in the order of their beginnings, of all arrays and objects with more than `longest` characters.

    `window`: the length of a window.
    """
    blocks = [block for block in code if block.closing - block.opening_end > longest]
    found = [
        item
        for block in blocks
        if text[block.start : block.opening_end].strip() in _INFO
        for item in _items_of_block(text, block, window, longest)
    ]
    found.sort()
    parents: list[int] = []
    inside: list[int] = []
    for number, item in enumerate(found):
        while inside and found[inside[-1]].end <= item.start:
            inside.pop()
        parents.append(inside[-1] if inside else -1)
        inside.append(number)
    return [item._replace(parent=parent) for item, parent in zip(found, parents, strict=True)]


def _items_of_block(text: str, block: CodeBlock, window: int, longest: int) -> Iterator[JsonItem]:
    """Yield the items of one block, those of a container when it is closed. Text that is no JSON ends them."""
    opened = [_Container("", block.opening_end, [])]
    for token in _TOKEN.finditer(text, block.opening_end, block.closing):
        mark, offset = token[0], token.start()
        container = opened[-1]
        if mark in "[{":
            if len(opened) == 1:
                container.starts.append(offset)
            opened.append(_Container(mark, offset, [_skip_space(text, offset + 1)]))
        elif mark == "," and len(opened) > 1:
            container.starts.append(_skip_space(text, offset + 1))
        elif mark in _CLOSING:
            if container.bracket != _CLOSING[mark] or len(opened) > MAX_DEPTH:
                return
            opened.pop()
            if offset - container.start > longest:
                yield from _describe_items(text, container, offset, window)
    yield from _describe_items(text, opened[0], block.closing, window)


def _describe_items(text: str, container: _Container, end: int, window: int) -> Iterator[JsonItem]:
    ends = [*container.starts[1:], end]
    is_long = False
    for number, (start, item_end) in enumerate(zip(container.starts, ends, strict=False)):
        was_long, is_long = is_long, item_end - start > window
        key: str | int | None = number if container.bracket else None
        if container.bracket == "{" and (found := _KEY.match(text, start, item_end)):
            key = found[1]
        yield JsonItem(start, item_end, key, bool(number) and (was_long or is_long))


def _skip_space(text: str, offset: int) -> int:
    found = _SPACE.match(text, offset)
    return found.end() if found else offset


def line_starts(text: str, items: Sequence[JsonItem]) -> dict[int, bool]:
    """Return the beginnings of the lines that begin with an item, and whether a passage begins there."""
    starts: dict[int, bool] = {}
    for item in items:
        line = text.rfind("\n", max(0, item.start - MAX_INDENT_CHARS), item.start) + 1
        if line and not text[line : item.start].strip():
            starts[line] = starts.get(line, False) or item.begins_window
    return starts


def keep_item_ends(text: str, items: Sequence[JsonItem], ends: Sequence[int]) -> list[int]:
    """Return the offsets of `ends` that are not inside an item of JSON, and the last one in any case."""
    return [end for end in ends if end == ends[-1] or not _is_inside(items, _skip_space(text, end))]


def _is_inside(items: Sequence[JsonItem], offset: int) -> bool:
    """Return whether an offset is in JSON, but neither where an item begins nor where one ends."""
    number = bisect_right(items, offset, key=lambda item: item.start) - 1
    while number >= 0 and items[number].end < offset:
        number = items[number].parent
    return number >= 0 and offset not in items[number][:2]


def find_address(text: str, items: Sequence[JsonItem], start: int) -> str:
    """Return the address in JSON of an offset, such as `$.partitions[0].services`; "" outside of JSON.

    The key of an item that begins at the offset is left out, because a passage from there on shows it.
    """
    start = _skip_space(text, start)
    number = bisect_right(items, start, key=lambda item: item.start) - 1
    address = ""
    while number >= 0:
        item = items[number]
        number = item.parent
        if item.key is not None and item.end > start and not (item.start == start and isinstance(item.key, str)):
            address = address_step(item.key) + address
    return f"${address}" if 0 < len(address) <= MAX_ADDRESS_CHARS else ""
