"""Read the rows of a benchmark from JSON Lines. A row that cannot be run is named and left out; it raises nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from io import TextIOWrapper
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from keyhole.extensions.hosted.bodies import nesting_depth

Row = dict[str, Any]
Check = Callable[[Any], bool]
"""Returns True if a benchmark can use a value, of any type of JSON."""

NOTHING: Final[Mapping[str, Check]] = MappingProxyType({})
MAX_SHOWN: Final = 80
"""Characters shown of a value or an id."""
MAX_DEPTH: Final = 150
"""Arrays and objects inside each other. The parser of the MCP SDK fails at 200, request included, and then answers
without the request's id."""


def is_string(value: object) -> bool:
    """Return True for any string."""
    return isinstance(value, str)


def is_text(value: object) -> bool:
    """Return True for a string that UTF-8 can encode, which a lone surrogate is not."""
    return _is_encodable(value, "utf-8")


def is_latin1(value: object) -> bool:
    """Return True for a string of characters that are one byte each."""
    return _is_encodable(value, "latin-1")


def is_number(value: object) -> bool:
    """Return True for a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_anything(_: object) -> bool:
    """Return True."""
    return True


def one_of(*values: object) -> Check:
    """Return a check for one of these values."""
    return lambda value: any(value == each and type(value) is type(each) for each in values)


def list_of(check: Check) -> Check:
    """Return a check for a list whose elements pass a check."""
    return lambda value: isinstance(value, list) and all(map(check, value))


def map_of(check: Check) -> Check:
    """Return a check for an object whose values pass a check."""
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def has_fields(required: Mapping[str, Check], optional: Mapping[str, Check] = NOTHING) -> Check:
    """Return a check for an object with these fields. Other fields may be present."""
    return lambda value: not find_fault(value, required, optional)


def find_fault(row: object, required: Mapping[str, Check], optional: Mapping[str, Check] = NOTHING) -> str:
    """Return why a row cannot be run, or ""."""
    if not isinstance(row, dict):
        return f"it is {_show(row)}, not an object"
    for name, check in {**required, **optional}.items():
        if name not in row:
            if name in required:
                return f"it has no `{name}`"
        elif not check(row[name]):
            return f"its `{name}` is {_show(row[name])}"
    return ""


def parse_rows(
    lines: Iterable[str],
    required: Mapping[str, Check],
    optional: Mapping[str, Check] = NOTHING,
) -> tuple[list[Row], list[str]]:
    """Return the rows that can be run, and a line on each other row. A row without an id gets its line's number."""
    rows, faults = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if nesting_depth(line.encode("utf-8", "surrogatepass")) > MAX_DEPTH:
            faults.append(f"line {number} cannot be run: it nests deeper than {MAX_DEPTH} levels")
            continue
        try:
            row = json.loads(line, parse_constant=_refuse_constant)
        except ValueError as error:
            faults.append(f"line {number} cannot be run: it is not JSON ({str(error)[:MAX_SHOWN]})")
            continue
        if fault := find_fault(row, required, optional):
            faults.append(f"line {number} cannot be run: {fault}")
            continue
        id = row.get("id")
        rows.append({**row, "id": ascii(id)[1:-1][:MAX_SHOWN] if isinstance(id, str) and id else f"line {number}"})
    return rows, faults


def load_rows(
    file: Path, required: Mapping[str, Check], optional: Mapping[str, Check] = NOTHING
) -> tuple[list[Row], int]:
    """Return the rows of a file that can be run, print the faults of the others, and return their number."""
    # Not `splitlines`, which would also split at U+2028 inside a string.
    rows, faults = parse_rows(file.read_text(encoding="utf-8", errors="replace").split("\n"), required, optional)
    return rows, report(faults)


def report(faults: Iterable[str]) -> int:
    """Print the faults of rows that cannot be run, and their number if there are any; return the number."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # texts of rows may have characters that a terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    faults = list(faults)
    for fault in faults:
        print(fault)
    if faults:
        print(f"{len(faults)} rows cannot be run")
    return len(faults)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _is_encodable(value: object, encoding: str) -> bool:
    try:
        return isinstance(value, str) and value.encode(encoding) is not None
    except UnicodeEncodeError:
        return False


def _show(value: object) -> str:
    shown = json.dumps(value)
    return shown if len(shown) <= MAX_SHOWN else f"{shown[: MAX_SHOWN - 1]}…"
