"""Put words in front of the command of an entry, and take them away: no other byte of the text changes.

The text of the old program moves into the list of arguments as it is, and back again. A list that is added stands
directly after the program in a form that people and formatters do not write, so that `remove_words` finds it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from keyhole.extensions.install.entries import Shape, Value

Edit = tuple[int, int, str]
"""The start and the end of a part of the text, and what replaces it."""


def add_words(editor: ModuleType, text: str, path: Sequence[str], shape: Shape, words: Sequence[str]) -> str:
    """Return the text with `words` in front of the command of the entry at `path`.

    Raises ValueError if the command is not written in a form that is known.
    """
    program = _locate(editor, text, path, shape.program)
    if not shape.args:
        return _apply(text, [_insertion(program, [_quote(word) for word in words])])
    own = text[program.start : program.end]
    items = [*map(_quote, words[1:]), own]
    arguments = editor.locate(text, [*path, shape.args])
    if arguments is None:
        added = f"{editor.separator(text, program, shape.args)}[{', '.join(items)}]"
        return _apply(text, [(program.start, program.end, _quote(words[0]) + added)])
    return _apply(text, [(program.start, program.end, _quote(words[0])), _insertion(arguments, items)])


def remove_words(editor: ModuleType, text: str, path: Sequence[str], shape: Shape, count: int) -> str:
    """Return the text without the first `count` words of the command of the entry at `path`.

    Raises ValueError if the command is not written in a form that is known.
    """
    program = _locate(editor, text, path, shape.program)
    if not shape.args:
        return _apply(text, [_removal(program, count)])
    arguments = _locate(editor, text, path, shape.args)
    start, end = _items(arguments)[count - 1]
    own = text[start:end]
    separator = editor.separator(text, program, shape.args)
    if len(_items(arguments)) == count and text[program.end : arguments.start] == separator:
        return _apply(text, [(program.start, arguments.end, own)])
    return _apply(text, [(program.start, program.end, own), _removal(arguments, count)])


def _locate(editor: ModuleType, text: str, path: Sequence[str], key: str) -> Value:
    value = editor.locate(text, [*path, key])
    if not isinstance(value, Value):
        raise ValueError(f"{key!r} is written in a form that is not known")
    return value


def _items(value: Value) -> tuple[tuple[int, int], ...]:
    if value.items is None:
        raise ValueError("there is no list")
    return value.items


def _insertion(value: Value, words: Sequence[str]) -> Edit:
    """Return the insertion of words at the beginning of a list, on the line of its first item."""
    items = _items(value)
    place = items[0][0] if items else value.start + 1
    return place, place, ", ".join(words) + (", " if items else "")


def _removal(value: Value, count: int) -> Edit:
    items = _items(value)
    return items[0][0], items[count][0] if count < len(items) else items[-1][1], ""


def _apply(text: str, edits: Sequence[Edit]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _quote(word: Any) -> str:
    """Return a word as a string of JSON, which is one of TOML too."""
    return json.dumps(word, ensure_ascii=False)
