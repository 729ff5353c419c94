"""Edit TOML, changing only one table and its subtables.

A table is edited as the lines from its header to the next header. A table in another form (an inline table,
dotted keys) is edited by tomlkit, which keeps comments but may move blank lines.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from keyhole.extensions.install.clients import ValuePosition, nest

_TOKEN: Final = re.compile(
    r"""(?P<space>#[^\n]*|\s+)|(?P<mark>[\[\]{},])|(?<!\\)"{3}(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}|'{3}.*?'{3,5}"""
    r"""|(?<!\\)"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s\[\]{},#"']+""",
    re.DOTALL,
)
"""A string, another word, or the text between words."""
_ENTRY: Final = re.compile(r"""\s*([^\s="']+|"[^"]*"|'[^']*')\s*=\s*""")


def parse(text: str) -> dict[str, Any]:
    """Return the values in the text. Raises ValueError with the line number."""
    return tomllib.loads(text)


def put(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return the text with `value` at `path`. In an existing table only the keys that differ are changed."""
    lines = text.splitlines(keepends=True)
    regions = _table_regions(lines, path)
    if len(regions) == 1:
        (start, end) = regions[0]
        region = _edit("".join(lines[start:end]), path, value)
        return "".join(lines[:start]) + region + "".join(lines[end:])
    if regions or _has_path(parse(text), path):
        return _edit(text, path, value)
    try:
        result = _append(text, path, value)
        parse(result)
        return result
    except tomllib.TOMLDecodeError:  # a parent is an inline table
        return _edit(text, path, value)


def drop(text: str, path: Sequence[str]) -> str:
    """Return the text without the table at `path` and its subtables."""
    lines = text.splitlines(keepends=True)
    for start, end in reversed(_table_regions(lines, path)):
        if end == len(lines) and start > 0 and not lines[-1].endswith("\n"):
            lines[start - 1] = lines[start - 1].rstrip("\r\n")
        del lines[start:end]
        if start and not lines[start - 1].strip():
            del lines[start - 1]
            if start - 1 == len(lines) and lines and not text.endswith("\n"):
                lines[-1] = lines[-1].rstrip("\r\n")
    result = "".join(lines)
    # Part of the table may be written elsewhere, and lines without their header may not be valid TOML.
    return _delete(text, path) if _has_path(_try_parse(result), path, True) else result


def copy(source: str, text: str, path: Sequence[str]) -> str:
    """Return the text with the table at `path` exactly as another text has it. Both have it in one piece."""
    lines, others = text.splitlines(keepends=True), source.splitlines(keepends=True)
    old, new = _table_regions(lines, path), _table_regions(others, path)
    if len(old) != 1 or len(new) != 1:
        raise ValueError("the table is written in several places")
    (start, end), (first, last) = old[0], new[0]
    return "".join([*lines[:start], *others[first:last], *lines[end:]])


def locate(text: str, path: Sequence[str]) -> ValuePosition | None:
    """Return the position of the value at `path`, None if it has no line of its own in its table."""
    lines, (*table, key) = text.splitlines(keepends=True), path
    start = _next_header(lines, 0, table)
    while start < len(lines) and _parse_header(lines[start]) != tuple(table):
        start = _next_header(lines, start + 1, table)
    for number in range(start + 1, _next_header(lines, start + 1)):
        found = _ENTRY.match(lines[number])
        if found and found[1] in (key, f'"{key}"', f"'{key}'") and _try_parse("".join(lines[start:number])) is not None:
            return _value_at(text, sum(map(len, lines[:number])) + found.end())
    return None


def separator(text: str, before: ValuePosition, key: str) -> str:
    """Return the text between a value and the value of the key that `command_words` adds after it."""
    line = text[text.rfind("\n", 0, before.start) + 1 : before.start]
    indent = line[: len(line) - len(line.lstrip())]
    return f"{_newline(text)}{indent}{key}= "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _value_at(text: str, start: int) -> ValuePosition | None:
    """Return the position of the value that begins at an offset, None for an inline table or an unreadable value."""
    items: list[tuple[int, int]] = []
    depth, offset, first, last = 0, start, -1, -1
    while (token := _TOKEN.match(text, offset)) is not None:
        offset, mark = token.end(), token["mark"] or ""
        if token["space"]:
            continue
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark, 0)
        if depth == 0:
            items += [(first, last)] if first >= 0 else []
            return None if mark == "}" else ValuePosition(start, token.end(), tuple(items) if mark == "]" else None)
        if depth == 1 and mark == ",":
            items.append((first, last))
            first = -1
        elif token.start() > start:
            first, last = (token.start() if first < 0 else first), token.end()
    return None


def _append(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return the text with the table at its end, after a blank line, and with a final newline if the text has one."""
    import tomlkit

    newline = _newline(text)
    block = tomlkit.dumps(nest(path, value)).strip("\n").replace("\n", newline)
    if not text.strip():
        return text + block + newline
    return f"{text}{newline}{block}{newline}" if text.endswith("\n") else f"{text}{newline}{newline}{block}"


def _edit(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return the text with the keys that differ changed by tomlkit."""
    import tomlkit

    document = tomlkit.parse(text)
    table: Any = document
    for key in path[:-1]:
        table = table.setdefault(key, {})
    if path[-1] not in table:
        table[path[-1]] = dict(value)
    else:
        _merge(table[path[-1]], value)
    return tomlkit.dumps(document)


def _merge(table: Any, value: Mapping[str, Any]) -> None:
    for key in [key for key in table if key not in value]:
        del table[key]
    for key, item in value.items():
        if isinstance(item, Mapping) and key in table and isinstance(table[key], Mapping):
            _merge(table[key], item)
        elif key not in table or table[key] != item:
            table[key] = item


def _delete(text: str, path: Sequence[str]) -> str:
    """Return the text with the table removed by tomlkit."""
    import tomlkit

    document = tomlkit.parse(text)
    table: Any = document
    for key in path[:-1]:
        table = table[key]
    del table[path[-1]]
    return tomlkit.dumps(document)


def _table_regions(lines: Sequence[str], path: Sequence[str]) -> list[tuple[int, int]]:
    """Return the ranges of lines that contain a table and its subtables; adjacent ranges are joined.

    A range ends before the blank lines and comments above the next header, which may belong to that header.
    """
    regions: list[tuple[int, int]] = []
    start = 0
    while (start := _next_header(lines, start, path)) < len(lines):
        following = end = _next_header(lines, start + 1)
        while end > start + 1 and (not (line := lines[end - 1].strip()) or line.startswith("#")):
            end -= 1
        if regions and not any(line.strip() for line in lines[regions[-1][1] : start]):
            start = regions.pop()[0]
        regions.append((start, end))
        start = following
    return regions


def _next_header(lines: Sequence[str], start: int, path: Sequence[str] = ()) -> int:
    """Return the number of the next line that is a header of a table at or below `path`; `len(lines)` without one.

    A line that looks like a header may be part of a multi-line string or list. In that case the lines before it are not
    valid TOML.
    """
    for number in range(start, len(lines)):
        header = _parse_header(lines[number])
        if header is None or header[: len(path)] != tuple(path):
            continue
        if _try_parse("".join(lines[:number])) is not None:
            return number
    return len(lines)


def _parse_header(line: str) -> tuple[str, ...] | None:
    """Return the path in a header line, or None. The path of an array of tables ends with "[]", so no table has it."""
    if not line.lstrip().startswith("["):
        return None
    try:
        table: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None  # part of a multi-line list or string
    keys: list[str] = []
    while isinstance(table, dict) and table:
        ((key, table),) = table.items()
        keys.append(key)
    return tuple(keys) if table == {} else (*keys, "[]")


def _has_path(values: Any, path: Sequence[str], default: bool = False) -> bool:
    """Return True if the tables have a value at `path`; `default` if `values` is None."""
    for key in path:
        if not isinstance(values, Mapping) or key not in values:
            return values is None and default
        values = values[key]
    return True


def _try_parse(text: str) -> dict[str, Any] | None:
    try:
        return parse(text)
    except tomllib.TOMLDecodeError:
        return None
