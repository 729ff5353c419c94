"""Parse JSON that a stranger wrote, within limits of depth and number of values.

Python's parser fails with a RecursionError at about a thousand levels, and a program that walks a value of some hundred
levels fails later, so the depth is bounded here, once. A body of a few megabytes can hold millions of values, each of
which takes a hundred bytes of memory; so their number is bounded before they are made.
"""

from __future__ import annotations

import json
from typing import Any, Final

from keyhole.text.lazy_pattern import lazy_pattern

MAX_DEPTH: Final = 100
"""Levels of arrays and objects. Answers of APIs have about ten, a thread of replies some dozen."""
MAX_VALUES: Final = 2_000_000
"""Values, at most. The tree of a repository of 100,000 files has about a million."""

CONTAINERS: Final = frozenset({dict, list})
"""The types of arrays and objects in a parsed value. A comparison of types takes a fifth of `isinstance`."""

_NAME = lazy_pattern(r"[A-Za-z_]\w*")


def parse_json(data: bytes | str) -> Any:
    """Return the value of JSON. Raises ValueError if it is malformed, nests too deeply or has too many values."""
    containers, commas = _count(data)
    if containers + commas > MAX_VALUES:
        raise ValueError("the JSON has too many values")
    try:
        value = json.loads(data)
    except RecursionError:
        raise ValueError("the JSON nests too deeply") from None
    if containers > MAX_DEPTH:
        _check_depth(value)
    return value


def address_step(key: str | int) -> str:
    """Return the part of a JSONPath for a key of an object, in quotes as in the text, or a number of an array."""
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key[1:-1]}" if _NAME.fullmatch(key[1:-1]) else f"[{key}]"


def _count(data: bytes | str) -> tuple[int, int]:
    """Return the number of opening brackets and that of commas, both at least as large as in the JSON itself."""
    if isinstance(data, str):
        return data.count("[") + data.count("{"), data.count(",")
    return data.count(b"[") + data.count(b"{"), data.count(b",")


def _check_depth(value: Any) -> None:
    """Raise ValueError if a value has more than `MAX_DEPTH` levels."""
    level = [value] if type(value) in CONTAINERS else []
    for _ in range(MAX_DEPTH):
        level = [
            child
            for each in level
            for child in (each.values() if type(each) is dict else each)
            if type(child) in CONTAINERS
        ]
        if not level:
            return
    raise ValueError("the JSON nests too deeply")
