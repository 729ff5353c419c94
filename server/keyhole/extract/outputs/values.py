"""Find the lines of data whose values are rare or far from the others of their field. Pure.

Of a thousand orders that were shipped, the one that was refunded is what a reader who asks nothing looks for; of a
column of numbers, the one that is far from the others. A field is a column of a table or a key of JSON and YAML.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, islice
from typing import Final, NamedTuple

from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.output import Span
from keyhole.text.parse_json import parse_json

VALUED_KINDS: Final = frozenset({"csv", "json", "jsonl", "yaml", "log", "text", "listing"})
"""Kinds that may be data with fields. Logs, text and listings are only if they begin with the header of a table."""
MAX_LINES: Final = 3_000
"""Maximum lines, or keys of JSON and YAML, that are examined. This takes up to ten milliseconds."""
MIN_VALUES: Final = 12
"""Fields with fewer values are not examined."""
MAX_DISTINCT_SHARE: Final = 0.25
"""A rare value tells something if at most this share of the field's values is different: names all differ."""
RARE_SHARE: Final = 0.03
"""A value is rare if at most this share of the field's values equals it."""
MAX_VALUE_CHARS: Final = 60
"""Characters of a value that may be rare. A longer one is a sentence."""
OUTLIER_FACTOR: Final = 12.0
"""A number is far from the others if its distance from their median is this many times the median of the distances."""
MAX_FOUND: Final = 3
"""Maximum lines per field with rare values, and the same number with numbers far from the others."""
MAX_FIELDS: Final = 60
"""Fields that are examined."""

_KEY_LINE = lazy_pattern(
    r"^([ \t]*(?:- )?)\"?([\w./-]{1,60})\"?[ \t]*: ?(?:\"([^\"\n]*)\"|([^\"{\[\n][^\n]*?)),?$", re.MULTILINE
)
_TABLE_HEADER = lazy_pattern(r"[A-Z][A-Z0-9%_()/.#-]*(?:[ \t]+[A-Z%#][A-Z0-9%_()/.#-]*){2,}[ \t]*$")
_PLAIN: Final = frozenset({str, int, float, bool})
"""The types of the values of JSON that are compared."""


class Field(NamedTuple):
    """The values of a field, and the lines that have them."""

    values: list[str]
    lines: list[Span]


def find_telling_values(text: str, kind: str) -> tuple[Span, ...]:
    """Return the lines of data of a kind with a rare value, or with a number that is far from the others, in order."""
    fields = _fields_of(text, kind)
    found = {
        field.lines[number]
        for field in fields.values()
        if len(field.values) >= MIN_VALUES
        for number in (*_rare(field.values), *_far(field.values))
    }
    return tuple(sorted(found | _exceptional(fields)))


def _exceptional(fields: Mapping[str, Field]) -> set[Span]:
    """Return the first lines of fields that few records have, such as the reason why one of them failed.

    In JSON and YAML, a field that is indented less than the records' fields does not belong to them.
    """
    most = max((len(field.values) for field in fields.values()), default=0)
    indent = next((_indent(name) for name, field in fields.items() if len(field.values) == most), 0)
    rare = [
        field.lines[0]
        for name, field in fields.items()
        if len(field.values) <= RARE_SHARE * most and _indent(name) >= indent and field.values[0]
    ]
    return set(rare[:MAX_FOUND]) if most >= MIN_VALUES and len(rare) <= 2 * MAX_FOUND else set()


def _indent(name: str) -> int:
    """Return the indent in the name of a field of JSON or YAML, 0 for any other field."""
    indent, space, _ = name.partition(" ")
    return int(indent) if space and indent.isdigit() else 0


def _fields_of(text: str, kind: str) -> dict[str, Field]:
    if kind in ("json", "yaml"):
        return _fields_of_keys(text)
    lines = text.split("\n", MAX_LINES)[:MAX_LINES]
    if kind == "jsonl":
        return _fields_of_records(lines)
    if kind == "csv":
        return _fields_of_rows(lines, list(_rows(lines)))
    if not _TABLE_HEADER.match(lines[0]):
        return {}
    columns = len(lines[0].split())
    return _fields_of_rows(lines, [line.split(None, columns - 1) for line in lines])


def _spans_of(lines: Iterable[str]) -> Iterator[Span]:
    """Yield the offsets of lines that follow each other, each with its line break."""
    start = 0
    for line in lines:
        yield start, start + len(line) + 1
        start += len(line) + 1


def _fields_of_keys(text: str) -> dict[str, Field]:
    """Return the fields of the first and the last keys. Keys with the same name and indent are one field."""
    values: dict[str, list[str]] = defaultdict(list)
    places: dict[str, list[Span]] = defaultdict(list)
    first = list(islice(_KEY_LINE.finditer(text), MAX_LINES // 2))
    first_end = first[-1].end() if first else len(text)
    last = islice(_KEY_LINE.finditer(text, max(first_end, len(text) - first_end)), MAX_LINES // 2)
    for match in chain(first, last):
        before, key, quoted, plain = match.groups()
        name = f"{len(before)} {key}"
        values[name].append(quoted if quoted is not None else plain)
        places[name].append((match.start(), match.end() + 1))
    return {name: Field(values[name], places[name]) for name in islice(values, MAX_FIELDS)}


def _fields_of_records(lines: Sequence[str]) -> dict[str, Field]:
    """Return the fields of JSON Lines: the keys of their objects whose values are texts, numbers or truth values."""
    alike: dict[tuple[str, ...], list[tuple[Sequence[object], Span]]] = defaultdict(list)
    for record, place in zip(_records(lines), _spans_of(lines), strict=True):
        if isinstance(record, dict):
            alike[tuple(record)].append((tuple(record.values()), place))
    fields: dict[str, Field] = {}
    for keys, found in alike.items():
        columns = zip(*(values for values, _ in found), strict=True)
        places = [place for _, place in found]
        for key, column in zip(keys, columns, strict=True):
            field = fields.setdefault(key, Field([], []))
            is_plain = [kind in _PLAIN for kind in map(type, column)]
            field.values.extend(map(str, compress(column, is_plain)))
            field.lines.extend(compress(places, is_plain))
    return {key: fields[key] for key in islice(fields, MAX_FIELDS) if fields[key].values}


def _records(lines: Sequence[str]) -> list[object]:
    """Return the values of lines of JSON, None for a line that is not JSON. Reading them at once is faster."""
    try:
        if len(records := parse_json(f"[{','.join(line or 'null' for line in lines)}]")) == len(lines):
            return list(records)
    except ValueError:
        pass
    return [_record(line) for line in lines]


def _record(line: str) -> object:
    try:
        return parse_json(line)
    except ValueError:
        return None


def _rows(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the cells of the lines of a table with a separator."""
    separator = max(",\t;|", key=lines[0].count)
    for line in lines:
        yield next(csv.reader([line], delimiter=separator), []) if '"' in line else line.split(separator)


def _fields_of_rows(lines: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, Field]:
    """Return the columns of a table, without its header and without the lines that have another number of cells."""
    header, spans = rows[0], list(_spans_of(lines))
    whole = [number for number, row in enumerate(rows) if number and len(row) == len(header)]
    places = [spans[number] for number in whole]
    columns = zip(*(rows[number] for number in whole), strict=True)
    return {str(name): Field(list(column), places) for name, column in zip(range(MAX_FIELDS), columns, strict=False)}


def _rare(values: Sequence[str]) -> Iterator[int]:
    """Yield the position at which each of the rarest values first occurs, if most values are among a few."""
    counts = Counter(values)
    most = max(1.0, RARE_SHARE * len(values))
    if len(counts) > MAX_DISTINCT_SHARE * len(values) or max(counts.values()) < MIN_VALUES // 2:
        return
    rare = [text for text, count in counts.items() if count <= most and text.strip() and len(text) <= MAX_VALUE_CHARS]
    if sum(map(counts.__getitem__, rare)) <= 2 * most:
        yield from (values.index(text) for text in sorted(rare, key=counts.__getitem__)[:MAX_FOUND])


def _median(numbers: Sequence[float]) -> float:
    """Return the upper median. Importing `statistics` would take longer than reading most outputs."""
    return sorted(numbers)[len(numbers) // 2]


def _far(values: Sequence[str]) -> Iterator[int]:
    """Yield the positions of the values that are far from the others, the farthest first, if all values are numbers."""
    try:
        numbers = list(map(float, values))
    except ValueError:
        return
    middle = _median(numbers)
    distances = [abs(number - middle) for number in numbers]
    spread = _median(distances)
    far = [place for place, distance in enumerate(distances) if distance > OUTLIER_FACTOR * spread]
    if spread and len(far) <= 2 * MAX_FOUND:
        yield from sorted(far, key=lambda place: -distances[place])[:MAX_FOUND]
