"""Read the records of data with the values of their fields: JSON, JSON Lines, YAML, CSV and tables of columns. Pure."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, compress, islice, pairwise, repeat
from typing import Any, Final, NamedTuple

from keyhole.passages.gaps import Span
from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.letters import is_inside_word
from keyhole.text.parse_json import CONTAINERS, parse_json

SHORT_RECORD: Final = 250
"""Characters up to which a record or a line is shown whole for one of its values."""
MAX_ROWS: Final = 8_000
"""Maximum rows of a table, or records of JSON, whose fields are read: 40 ms."""
MAX_BARE_ROWS: Final = 2_000
"""Maximum rows of a table without a header: most logs are read as such a table."""
MAX_KEYS: Final = 3_000
"""Maximum keys of YAML, or of JSON without records, that are read. This takes up to ten milliseconds."""
MAX_FIELDS: Final = 60
"""Fields that are examined."""
MAX_DEPTH: Final = 6
"""Levels of objects in a record of JSON whose values are read."""
MAX_COLUMN_VALUES: Final = 3_000
"""Values of a field of JSON that are read."""

SAMPLE_ROWS: Final = 100
"""Lines of the beginning, and of the end, that decide how the columns of a table are told apart."""
MIN_ROWS: Final = 12
"""Lines that a table has at least: fewer tell nothing of what is usual."""
ROWS_SHARE: Final = 0.8
"""Share of the sample's lines that must have the same number of cells."""
MIN_CELLS: Final = 3
"""Cells of a row at least, unless its first cell is a number, as in the output of `wc` and `du`."""
NUMBER_SHARE: Final = 0.95
"""Share of the cells of a column of numbers that are numbers: `-` and blanks stand for missing ones."""
HEADER_LINES: Final = 20
"""Lines in which the header of a table is looked for: a title and counts may come first."""

_KEY_LINE = lazy_pattern(
    r"^([ \t]*(?:- )?)\"?([\w./-]{1,60})\"?[ \t]*: ?(?:\"([^\"\n]*)\"|([^\"{\[\n][^\n]*?)),?$", re.MULTILINE
)
_STANZA = lazy_pattern(r"^(?!\s)([\w-][\w ./-]{0,40})(?<! )[ \t]*:[ \t].*(?:\n.+)*\n?", re.MULTILINE)
_STANZA_FIELD = lazy_pattern(r"^(?!\s)([\w-][\w ./()-]{0,40}?)[ \t]*:[ \t]?(.*)$", re.MULTILINE)
MIN_STANZAS: Final = 3
"""Stanzas that a text of records has at least."""
_BARS: Final = ("│", "|", "┃")
_GAP = lazy_pattern(r"[ \t]{2,}|\t")
_RULES: Final = " \t-+|=_─━═┼├┤│┌┐└┘┬┴╞╪╡┃┏┓┡┩╇"
"""Characters of blank lines and of the rules in tables."""
_RULE = lazy_pattern(r"-{2,}(?:[ +|]+-{2,})+\s*")
_RULE_PART = lazy_pattern(r"-{2,}")
_CAPITALS = lazy_pattern(r"[A-Z%#][A-Z0-9%_()/.# :-]*")
UNNAMED: Final = "\0"
"""The beginning of the name of a column that has no header."""
_UNITS: Final = {
    "": 1.0, "%": 1.0, "B": 1.0, "K": 1e3, "k": 1e3, "Ki": 1e3, "KB": 1e3, "kB": 1e3, "KiB": 1e3, "M": 1e6, "m": 1e6,
    "Mi": 1e6, "MB": 1e6, "MiB": 1e6, "G": 1e9, "g": 1e9, "Gi": 1e9, "GB": 1e9, "GiB": 1e9, "T": 1e12, "t": 1e12,
    "TB": 1e12, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6,
}  # fmt: skip
"""Units after a number, with their factors. Only numbers of one column are compared."""
_QUANTITY = lazy_pattern(r"(?:[A-Za-z_]\w*=)?([-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?) ?([%BKkMmGgTtisuµ]{0,3})")


class Field(NamedTuple):
    """The values of a field, and the records that have them."""

    values: list[str]
    lines: list[Span]


class Data(NamedTuple):
    """The records of a text and their fields by name."""

    fields: dict[str, Field]
    records: tuple[Span, ...] = ()
    names: tuple[str, ...] = ()
    """The names of the records, () if they have none."""
    heads: tuple[int, ...] = ()
    """Where the head of each record ends, without which its other lines mean little, () if records have none."""
    header: Span | None = None
    """The line with the names of the columns of a table."""


@lru_cache(maxsize=20_000)
def read_number(value: str) -> float | None:
    """Return the number of a value such as `12`, `1.5K` or `3 ms`, None for any other value."""
    if value.isascii() and value.isdigit():
        return float(value)
    found = _QUANTITY.fullmatch(value)
    if found is None or found[2] not in _UNITS:
        return None
    return float(found[1].replace(",", "")) * _UNITS[found[2]]


def read_numbers(values: Iterable[str], most: int) -> list[float] | None:
    """Return the numbers among values, None if more than `most` values are no numbers."""
    numbers: list[float] = []
    for value in values:
        if (number := read_number(value)) is not None:
            numbers.append(number)
        elif (most := most - 1) < 0:
            return None
    return numbers


def is_part_of_number(text: str, start: int, end: int) -> bool:
    """Return whether `text[start:end]` ends with a digit, and is part of a word or of a number such as 16.45."""
    if not text[end - 1].isdigit():
        return False
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    is_fraction = (before[-1:] == "." and before[:1].isdigit()) or (after[:1] == "." and after[1:].isdigit())
    return is_fraction or is_inside_word(text, start) or is_inside_word(text, end)


def place_of(text: str, record: Span, field: str, value: str) -> Span:
    """Return the line of a record with the value of a field, the whole record if it is short and on one line."""
    start, end = record
    if end - start <= SHORT_RECORD and "\n" not in text[start : end - 1]:
        return record
    key = json.dumps(field.rpartition(".")[2])
    place = text.find(key, start, end)
    while 0 <= place < end and not text[place + len(key) : place + len(key) + 80].lstrip(': "').startswith(value[:40]):
        place = text.find(key, place + 1, end)
    place = place if place >= 0 else max(start, text.find(value, start, end))
    return line_at(text, record, place)


def line_at(text: str, record: Span, offset: int, following: int = 0) -> Span:
    """Return the line of a record at an offset with those that follow; of a long line, what is around the offset."""
    start, end = record
    first, last = text.rfind("\n", start, offset) + 1 or start, offset
    for _ in range(1 + following):
        last = text.find("\n", last, end) + 1 or end
    if last - first <= SHORT_RECORD:
        return first, last
    return max(first, offset - SHORT_RECORD // 2), min(last, offset + SHORT_RECORD // 2)


def read_keys(text: str) -> Data:
    """Return the fields of the first and the last keys of YAML. Keys with the same name and indent are one field."""
    fields: dict[str, Field] = defaultdict(lambda: Field([], []))
    first = list(islice(_KEY_LINE.finditer(text), MAX_KEYS // 2))
    first_end = first[-1].end() if first else len(text)
    last = islice(_KEY_LINE.finditer(text, max(first_end, len(text) - first_end)), MAX_KEYS // 2)
    for match in chain(first, last):
        before, key, quoted, plain = match.groups()
        field = fields[f"{len(before)} {key}"]
        field.values.append(quoted if quoted is not None else plain)
        field.lines.append((match.start(), match.end() + 1))
    return Data(dict(islice(fields.items(), MAX_FIELDS)))


def read_json_lines(text: str) -> Data:
    """Return the records of JSON Lines with their fields."""
    lines = text.split("\n", MAX_ROWS)[:MAX_ROWS]
    return read_values(_parse_lines(lines), list(_spans_of(lines)))


def read_values(values: Sequence[Any], spans: Sequence[Span]) -> Data:
    """Return the fields of records of JSON, given as their values with their places."""
    fields: dict[str, Field] = {}
    places = spans[:MAX_ROWS]
    _read_objects(zip(values, places, strict=False), "", fields, MAX_DEPTH)
    return Data(fields, tuple(place for place, value in zip(places, values, strict=False) if value is not None))


def read_stanzas(text: str) -> Data:
    """Return the records of `Name: value` lines between blank lines, as dpkg and mail have them, with their fields."""
    least = max(MIN_STANZAS, ROWS_SHARE * (text.count("\n\n") + 1))
    found = list(islice(_STANZA.finditer(text), MAX_ROWS)) if "\n\n" in text else []
    first = Counter(stanza[1] for stanza in found).most_common(1)
    if not first or first[0][1] < least or sum(len(stanza[0]) for stanza in found) < ROWS_SHARE * found[-1].end():
        return Data({})
    values = [{key: value.strip() for key, value in _STANZA_FIELD.findall(stanza[0])} for stanza in found]
    if sum(map(len, values)) < MIN_CELLS * len(found):
        return Data({})
    names = tuple(stanza[0].split("\n", 1)[0] for stanza in found)
    heads = tuple(stanza.start() + len(name) + 1 for stanza, name in zip(found, names, strict=True))
    return read_values(values, [stanza.span() for stanza in found])._replace(names=names, heads=heads)


def _read_objects(values: Iterable[tuple[Any, Span]], name: str, fields: dict[str, Field], depth: int) -> None:
    """Add the fields of values of JSON with their places. Those inside others have names such as `State.Status`."""
    alike: dict[tuple[str, ...], list[tuple[Any, ...]]] = defaultdict(list)
    for value, place in values:
        if type(value) is dict and len(rows := alike[tuple(value)]) < MAX_COLUMN_VALUES:
            rows.append((place, *value.values()))
    for keys, rows in alike.items():
        own, *columns = zip(*rows, strict=True)
        for key, column in zip(keys, columns, strict=True):
            _read_column(column, own, f"{name}.{key}" if name else key, fields, depth)


def _read_column(
    column: Sequence[Any], places: Sequence[Span], name: str, fields: dict[str, Field], depth: int
) -> None:
    """Add the values of one key of several objects: texts and numbers, and those inside objects and arrays."""
    kinds = set(map(type, column))
    if kinds & _PLAIN and (name in fields or len(fields) < MAX_FIELDS):
        field = fields.setdefault(name, Field([], []))
        room = max(0, MAX_COLUMN_VALUES - len(field.values))
        is_plain = [kind in _PLAIN for kind in map(type, column)] if kinds - _PLAIN else repeat(True)
        field.values.extend(map(_plain_text, islice(compress(column, is_plain), room)))
        field.lines.extend(islice(compress(places, is_plain), room))
    if depth and kinds & CONTAINERS:
        inside = (
            (each, place)
            for value, place in zip(column, places, strict=True)
            if type(value) in CONTAINERS
            for each in (value if type(value) is list else (value,))
        )
        _read_objects(inside, name, fields, depth - 1)


_PLAIN: Final = frozenset({str, int, float, bool})
"""The types of the values of JSON that are compared."""


def _plain_text(value: Any) -> str:
    """Return a value as JSON writes it, a text without its quotes."""
    return value if type(value) is str else ("false", "true")[value] if type(value) is bool else str(value)


def _parse_lines(lines: Sequence[str]) -> list[Any]:
    """Return the values of lines of JSON, None for a line that is not JSON. Reading them at once is faster."""
    try:
        if len(records := parse_json(f"[{','.join(line or 'null' for line in lines)}]")) == len(lines):
            return list(records)
    except ValueError:
        pass
    return [_parse_line(line) for line in lines]


def _parse_line(line: str) -> Any:
    try:
        return parse_json(line)
    except ValueError:
        return None


# Tables: lines with cells, which a separator, a rule below the header, or spaces tell apart.


class Split(NamedTuple):
    """A way to tell the cells of a line apart."""

    cells: Callable[[str], list[str]]
    is_certain: bool = False
    """True if lines with the same number of cells are a table, whatever their cells are."""
    may_lack_header: bool = False
    """True if such lines with a column of numbers are a table, even without a header."""


def read_table(text: str) -> Data:
    """Return the rows of a table with its columns; without fields for any other text."""
    lines = text.split("\n", MAX_ROWS)[:MAX_ROWS]
    split = _split_of(lines if len(lines) <= 2 * SAMPLE_ROWS else [*lines[:SAMPLE_ROWS], *lines[-SAMPLE_ROWS:]])
    if split and split[0].may_lack_header:
        lines = lines[:MAX_BARE_ROWS]
    return _columns(lines, *split) if split else Data({})


def is_table(lines: Sequence[str]) -> bool:
    """Return whether lines are the rows of a table below its header.

    Where blanks alone tell cells apart, any line has some, so the header must be the first row.
    """
    if (found := _split_of(lines)) is None:
        return False
    split, count = found
    header = _header_of([row for row in map(split.cells, lines) if len(row) == count])
    return header == 0 or (header > 0 and not split.may_lack_header)


def _split_of(lines: Sequence[str]) -> tuple[Split, int] | None:
    """Return how the cells of lines are told apart and their usual number, None if the lines are not a table."""
    sample = [line for line in lines if line.strip(_RULES)]
    for split in _splits(sample, lines) if len(sample) > MIN_ROWS else ():
        rows = [split.cells(line) for line in sample]
        count, found = Counter(map(len, rows)).most_common(1)[0]
        if count > 1 and found >= ROWS_SHARE * len(rows):
            whole = [row for row in rows if len(row) == count]
            is_table = count >= MIN_CELLS if split.is_certain else _header_of(whole) >= 0
            if is_table or (split.may_lack_header and _numeric_columns(whole)):
                return split, count
    return None


def _splits(sample: Sequence[str], lines: Sequence[str]) -> Iterator[Split]:
    """Yield the ways to tell the cells of a line apart that a sample of lines suggests, the surest first.

    `lines`: the sample with blank lines and rules.
    """
    for bar in _BARS:
        if sum(bar in line for line in sample) >= ROWS_SHARE * len(sample):
            yield Split(partial(_cells_between, bar), is_certain=True)
    middle = sample[len(sample) // 2]
    separator = max(",\t;", key=middle.count)
    if separator in middle:
        yield Split(partial(_separated, separator), is_certain=True)
    if rule := next(filter(_RULE.fullmatch, lines[:HEADER_LINES]), ""):
        yield Split(partial(_cut, [match.start() for match in _RULE_PART.finditer(rule)]), is_certain=True)
    yield Split(lambda line: _GAP.split(line.strip()))
    if (count := sorted(len(line.split()) for line in sample)[len(sample) // 10]) > 1:
        yield Split(lambda line: line.split(None, count - 1), may_lack_header=True)


def _cells_between(bar: str, line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip(bar).split(bar)] if bar in line else []


def _separated(separator: str, line: str) -> list[str]:
    return next(csv.reader([line], delimiter=separator), []) if '"' in line else line.split(separator)


def _cut(starts: Sequence[int], line: str) -> list[str]:
    """Return the cells of a line that begin at the offsets. A line across the border of two of them has no cells."""
    if any(line[start - 1 : start].strip() for start in starts[1:]):
        return []
    return [line[start:end].strip() for start, end in pairwise([*starts, max(len(line), starts[-1])])]


def _numeric_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the numbers of the columns in which all but a few cells below the first row are numbers."""
    most = int((1 - NUMBER_SHARE) * (len(rows) - 1))
    columns = zip(*rows[1:], strict=True)
    return [number for number, column in enumerate(columns) if read_numbers(column, most) is not None]


def _header_of(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of the row that names the columns, -1 if none does.

    Such a row has words above columns of numbers, or only capital letters, as the tables of many programs do.
    """
    numeric = _numeric_columns(rows)
    for number, row in enumerate(rows[:HEADER_LINES]):
        if all(map(_CAPITALS.fullmatch, row)) and len(row) >= MIN_CELLS:
            return number
        if numeric and all(row[column] and read_number(row[column]) is None for column in numeric):
            return number
    return -1


def _columns(lines: Sequence[str], split: Split, count: int) -> Data:
    """Return the columns of a table, without the lines that have another number of cells."""
    found = [
        (row, span)
        for line, span in zip(lines, _spans_of(lines), strict=True)
        if line.strip(_RULES) and len(row := split.cells(line)) == count
    ]
    rows = [row for row, _ in found]
    header = _header_of(rows)
    spans = [span for _, span in found[header + 1 :]]
    names = rows[header] if header >= 0 else [""] * count
    columns = zip(*rows[header + 1 :], strict=True)
    fields = {
        name or f"{UNNAMED}{number}": Field(list(map(str.strip, column)), spans)
        for number, (name, column) in enumerate(zip(names, columns, strict=True))
        if number < MAX_FIELDS
    }
    is_sure = split.is_certain or header >= 0
    return Data(fields, tuple(spans) if is_sure else (), header=found[header][1] if header >= 0 else None)


def _spans_of(lines: Iterable[str]) -> Iterator[Span]:
    """Yield the offsets of lines that follow each other, each with its line break."""
    start = 0
    for line in lines:
        yield start, start + len(line) + 1
        start += len(line) + 1
