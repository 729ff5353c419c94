"""Changes of a TOML text that touch nothing but one table and those below it. Text in, text out.

A table is the lines from its header to what the next one says of itself. Where those lines are no longer the whole
of it (an inline table, dotted keys), tomlkit changes the document, which keeps comments but may move blank lines.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from keyhole.cli.install.entries import nested


def parse(text: str) -> dict[str, Any]:
    """What the text says. Raises ValueError, which names the line."""
    return tomllib.loads(text)


def put(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with this table at this path. Of a table that is there only what differs is changed."""
    lines = text.splitlines(keepends=True)
    regions = _regions(lines, path)
    if len(regions) == 1:
        (start, end) = regions[0]
        region = _edited("".join(lines[start:end]), path, value)
        return "".join(lines[:start]) + region + "".join(lines[end:])
    if regions or _holds(parse(text), path):
        return _edited(text, path, value)
    try:
        whole = _appended(text, path, value)
        parse(whole)
        return whole
    except tomllib.TOMLDecodeError:  # a table on the way is an inline one
        return _edited(text, path, value)


def drop(text: str, path: Sequence[str]) -> str:
    """The text without this table and those below it."""
    lines = text.splitlines(keepends=True)
    for start, end in reversed(_regions(lines, path)):
        if end == len(lines) and start > 0 and not lines[-1].endswith("\n"):
            lines[start - 1] = lines[start - 1].rstrip("\r\n")
        del lines[start:end]
        if start and not lines[start - 1].strip():
            del lines[start - 1]
            if start - 1 == len(lines) and lines and not text.endswith("\n"):
                lines[-1] = lines[-1].rstrip("\r\n")
    without = "".join(lines)
    return _without(text, path) if _holds(_or_nothing(without), path, True) else without


def _appended(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The table after all that is there, with a blank line between, and a line's end last where the text has one."""
    import tomlkit

    newline = "\r\n" if "\r\n" in text else "\n"
    block = tomlkit.dumps(nested(path, value)).strip("\n").replace("\n", newline)
    if not text.strip():
        return text + block + newline
    return f"{text}{newline}{block}{newline}" if text.endswith("\n") else f"{text}{newline}{newline}{block}"


def _edited(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with what differs set by tomlkit."""
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
    for key, wanted in value.items():
        if isinstance(wanted, Mapping) and key in table and isinstance(table[key], Mapping):
            _merge(table[key], wanted)
        elif key not in table or table[key] != wanted:
            table[key] = wanted


def _without(text: str, path: Sequence[str]) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    table: Any = document
    for key in path[:-1]:
        table = table[key]
    del table[path[-1]]
    return tomlkit.dumps(document)


def _regions(lines: Sequence[str], path: Sequence[str]) -> list[tuple[int, int]]:
    """The lines of a table and of those below it: from a header up to the last line that is neither blank nor a
    comment before the next header, whose comment that may be. Neighbouring ones are one."""
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
    """The next line that is the header of a table, of one at or below `path`; the number of all where there is none.

    What looks like one may stand in a text or list of several lines: before a header, the file is whole.
    """
    for number in range(start, len(lines)):
        found = _header(lines[number])
        if found is not None and found[: len(path)] == tuple(path) and _or_nothing("".join(lines[:number])) is not None:
            return number
    return len(lines)


def _header(line: str) -> tuple[str, ...] | None:
    """The path that a line is the header of; of an array of tables none that anything equals."""
    if not line.lstrip().startswith("["):
        return None
    try:
        table: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None  # part of a list or a text of several lines
    keys: list[str] = []
    while isinstance(table, dict) and table:
        ((key, table),) = table.items()
        keys.append(key)
    return tuple(keys) if table == {} else (*keys, "[]")


def _holds(values: Any, path: Sequence[str], default: bool = False) -> bool:
    for key in path:
        if not isinstance(values, Mapping) or key not in values:
            return values is None and default
        values = values[key]
    return True


def _or_nothing(text: str) -> dict[str, Any] | None:
    try:
        return parse(text)
    except tomllib.TOMLDecodeError:
        return None
