"""Find the lines of data whose values are rare or far from the others of their field. Pure.

Of a thousand orders that were shipped, the one that was refunded is what a reader who asks nothing looks for; of a
column of numbers, the one that is far from the others. A field is a column of a table or a key of JSON and YAML.
"""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import Final, NamedTuple

from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.output import Span

VALUED_KINDS: Final = frozenset({"csv", "json", "jsonl", "yaml", "log", "text", "listing"})
"""Kinds that may be data with fields. Logs, text and listings are only if they begin with the header of a table."""
MAX_LINES: Final = 20_000
"""Lines that are examined, which bounds the time to some tenths of a second."""
MIN_VALUES: Final = 12
"""Values that a field has at least."""
MAX_DISTINCT_SHARE: Final = 0.25
"""Share of the values of a field that are different, up to which a rare one tells something: names all differ."""
RARE_SHARE: Final = 0.03
"""Share of the values up to which a value is rare."""
MAX_VALUE_CHARS: Final = 60
"""Characters of a value that may be rare. A longer one is a sentence."""
OUTLIER_FACTOR: Final = 12.0
"""A number is far from the others if its distance from their median is this many times the median of the distances."""
MAX_FOUND: Final = 3
"""Lines of one field that are found for rare values, and as many for numbers."""
MAX_FIELDS: Final = 60
"""Fields that are examined."""

_NUMBER = lazy_pattern(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?%?")
_KEY_LINE = lazy_pattern(
    r"^([ \t]*(?:- )?)\"?([\w./-]{1,60})\"?[ \t]*: ?(?:\"([^\"\n]*)\"|([^\"{\[\n][^\n]*?)),?$", re.MULTILINE
)
_TABLE_HEADER = lazy_pattern(r"[A-Z][A-Z0-9%_()/.#-]*(?:[ \t]+[A-Z%#][A-Z0-9%_()/.#-]*){2,}[ \t]*$")


class Value(NamedTuple):
    """A value of a field, and the line that has it."""

    field: str
    text: str
    start: int
    end: int


def find_telling_values(text: str, kind: str) -> tuple[Span, ...]:
    """Return the lines of data of a kind with a rare value, or with a number that is far from the others, in order."""
    fields: dict[str, list[Value]] = defaultdict(list)
    for value in _values(text, kind):
        if value.field in fields or len(fields) < MAX_FIELDS:
            fields[value.field].append(value)
    found = [
        value for values in fields.values() if len(values) >= MIN_VALUES for value in (*_rare(values), *_far(values))
    ]
    return tuple(sorted({(value.start, value.end) for value in (*found, *_exceptional(fields))}))


def _exceptional(fields: Mapping[str, list[Value]]) -> list[Value]:
    """Return the first values of fields that few records have, such as the reason why one of them failed.

    Fields of JSON and YAML that are indented less than those of the records are not theirs.
    """
    if not fields:
        return []
    common = max(fields, key=lambda field: len(fields[field]))
    most, indent = len(fields[common]), _indent(common)
    rare = [
        values[0]
        for field, values in fields.items()
        if len(values) <= RARE_SHARE * most and _indent(field) >= indent and len(values[0].text) > 0
    ]
    return rare[:MAX_FOUND] if most >= MIN_VALUES and len(rare) <= 2 * MAX_FOUND else []


def _indent(field: str) -> int:
    """Return the indent in the name of a field of JSON or YAML, 0 for any other field."""
    indent, space, _ = field.partition(" ")
    return int(indent) if space and indent.isdigit() else 0


def _values(text: str, kind: str) -> Iterator[Value]:
    if kind in ("json", "yaml"):
        return _values_of_keys(text)
    lines = _lines(text)
    if kind == "jsonl":
        return _values_of_records(lines)
    if kind == "csv":
        return _values_of_rows(text, lines)
    header = text[: text.find("\n")] if kind in VALUED_KINDS else ""
    return _values_of_columns(header, lines) if _TABLE_HEADER.match(header) else iter(())


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the first lines of a text with their offsets."""
    position = 0
    for line in text.split("\n", MAX_LINES)[:MAX_LINES]:
        yield position, line
        position += len(line) + 1


def _values_of_keys(text: str) -> Iterator[Value]:
    """Yield the values of keys. Keys with the same name and indent are one field."""
    for number, match in enumerate(_KEY_LINE.finditer(text)):
        if number >= MAX_LINES:
            return
        value = match[3] if match[3] is not None else match[4]
        yield Value(f"{len(match[1])} {match[2]}", value.strip(), match.start(), match.end() + 1)


def _values_of_records(lines: Iterable[tuple[int, str]]) -> Iterator[Value]:
    for start, line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            for key, value in record.items():
                if isinstance(value, str | int | float):
                    yield Value(str(key), str(value), start, start + len(line) + 1)


def _values_of_rows(text: str, lines: Iterable[tuple[int, str]]) -> Iterator[Value]:
    first = text[: text.find("\n")]
    separator = max(",\t;|", key=first.count)
    for number, (start, line) in enumerate(lines):
        cells = next(csv.reader([line], delimiter=separator), []) if number and '"' in line else line.split(separator)
        for column, cell in enumerate(cells if number else ()):
            yield Value(str(column), cell.strip(), start, start + len(line) + 1)


def _values_of_columns(header: str, lines: Iterable[tuple[int, str]]) -> Iterator[Value]:
    """Yield the values of a table that is set with spaces, as `ps` and `kubectl get` print it."""
    names = header.split()
    for number, (start, line) in enumerate(lines):
        cells = line.split(None, len(names) - 1)
        if number and len(cells) == len(names):
            yield from (
                Value(name, cell, start, start + len(line) + 1) for name, cell in zip(names, cells, strict=True)
            )


def _rare(values: list[Value]) -> list[Value]:
    """Return the first values of a field that are rare, if most of its values are a few."""
    first: dict[str, Value] = {}
    counts: dict[str, int] = defaultdict(int)
    for value in values:
        first.setdefault(value.text, value)
        counts[value.text] += 1
    if len(counts) > MAX_DISTINCT_SHARE * len(values) or max(counts.values()) < MIN_VALUES // 2:
        return []
    most = max(1, RARE_SHARE * len(values))
    rare = [text for text in first if counts[text] <= most and 0 < len(text) <= MAX_VALUE_CHARS]
    is_exception = sum(counts[text] for text in rare) <= 2 * most
    return [first[text] for text in sorted(rare, key=counts.__getitem__)[:MAX_FOUND]] if is_exception else []


def _far(values: list[Value]) -> list[Value]:
    """Return the values of a field of numbers that are far from the others, the farthest first."""
    numbers = [(_number(value.text), value) for value in values if _NUMBER.fullmatch(value.text)]
    if len(numbers) < max(MIN_VALUES, 0.9 * len(values)):
        return []
    middle = median(number for number, _ in numbers)
    spread = median(abs(number - middle) for number, _ in numbers)
    far = [(abs(number - middle), value) for number, value in numbers if abs(number - middle) > OUTLIER_FACTOR * spread]
    if not spread or len(far) > 2 * MAX_FOUND:
        return []
    return [value for _, value in sorted(far, key=lambda each: -each[0])[:MAX_FOUND]]


def _number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-").rstrip("%"))
