"""Write items that a conversation leaves out as a text that can be searched by lines, and read it back. Pure.

Each item is one line of JSON. A string with several lines is an object `{"keyhole:lines": N}` in it, and its N lines
follow below the item, in the order of the objects. A string with control characters stays JSON, which escapes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

LINES: Final = "keyhole:lines"
"""The key that stands for a string with several lines."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def write_transcript(items: Sequence[object]) -> str:
    """Return items as a text, from which `read_transcript` makes them again."""
    lines: list[str] = []
    for item in items:
        texts: list[str] = []
        line = json.dumps(_without_texts(item, texts), ensure_ascii=False, default=str)
        lines += [_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line), *texts]
    return "\n".join(lines)


def read_transcript(text: str) -> list[Any]:
    """Return the items of a text that `write_transcript` wrote."""
    lines = iter(text.split("\n") if text else ())
    return [_with_texts(json.loads(line), lines) for line in lines]


def _without_texts(value: object, texts: list[str]) -> object:
    """Return a value with objects in the place of strings with several lines, which are added to `texts`."""
    if isinstance(value, str) and "\n" in value and not _CONTROL.search(value):
        texts.append(value)
        return {LINES: value.count("\n") + 1}
    if isinstance(value, Mapping):
        return {name: _without_texts(each, texts) for name, each in value.items()}
    return [_without_texts(each, texts) for each in value] if isinstance(value, list) else value


def _with_texts(value: Any, lines: Iterator[str]) -> Any:
    if isinstance(value, dict):
        if value.keys() == {LINES}:
            return "\n".join(next(lines) for _ in range(value[LINES]))
        return {name: _with_texts(each, lines) for name, each in value.items()}
    return [_with_texts(each, lines) for each in value] if isinstance(value, list) else value
