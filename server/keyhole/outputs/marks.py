"""Mark the lines of an output that every reader looks for, whatever was asked. Pure."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, islice
from math import log2
from typing import Final, NamedTuple

from keyhole.outputs.output import Mark
from keyhole.outputs.parts import find_changes, find_subjects, order_changes
from keyhole.outputs.patterns import Pattern, Patterns, patterns_of
from keyhole.outputs.records import find_failures
from keyhole.outputs.repeats import REPEATING_KINDS, Forms, find_rare_lines
from keyhole.passages.gaps import Span
from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.parse_json import parse_json

# Find the lines of data whose values are rare or far from the others of their field. Pure.

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


# Mark the lines of an output that every reader looks for, whatever was asked. Pure.

FAILED_KIND: Final = "step"
"""The name of the patterns for a failed section, or for the lines of several programs, which may be of any kind."""
MAX_MATCHES: Final = 5_000
"""Matches of one pattern that are examined from the beginning. The rest repeats them."""
TAIL_CHARS: Final = 20_000
"""Characters of the end that are examined in any case: the summary is there."""
MAX_LINE_CHARS: Final = 400
"""Characters of a line that are marked. A longer one is mostly data."""
RESULT_CHARS: Final = 160
"""Characters of the first result in a file that are marked: its path and some of its line."""
RANK_DECAY: Final = 0.12
"""How much less each further line of a pattern weighs: the first error is usually the cause of the next ones. Lines
that differ only in numbers count as one."""
COMMON_LINES: Final = 8
COMMON_DECAY: Final = 0.15
LEAST_COMMON_FACTOR: Final = 0.7
"""If more than `COMMON_LINES` lines have one form, each weighs less: by `COMMON_DECAY` for each doubling of their
number, down to this factor. What happens all the time is seldom the failure."""
FIRST_LINES: Final = 3
LAST_LINES: Final = 4
SUMMARY_LINES: Final = 8
"""Last lines that are marked in `SUMMARY_KINDS`: their summary often has several lines."""
SUMMARY_KINDS: Final = frozenset({"log", "test", "compiler", "trace", "step"})
EDGE_WEIGHT: Final = 4.0
"""Weight of the first line of any output. The very last line weighs 1 more, and lines farther from the ends less."""
RARE_WEIGHT: Final = 4.5
"""A line of a rare form: less than a failure, more than the edges."""
HEADER_WEIGHT: Final = 6.9
"""The header of a table, without which its rows mean little."""
FAULT_WEIGHT: Final = 8.0
"""The elements of XML that say that something failed."""
CHANGE_WEIGHT: Final = 3.9
"""The first change of a diff; each further one weighs a little less, the last one 1 less."""
TELLING_WEIGHT: Final = 6.5
"""A line of data with a rare value: less than the header of the table, and than a failure."""
COMMIT_KINDS: Final = frozenset({"diff", "log"})
SUBJECT_WEIGHT: Final = 5.9
"""The subject of the first commit that is printed; each further one weighs a little less, the last one 1 less."""
UNCHANGED: Final = (" ", "diff ", "index ", "--- ", "+++ ", "@@ ")
"""Beginnings of the lines of a diff that are no change. Those of a commit are before them."""
MAX_ALIKE: Final = 3
"""Maximum number of marked lines that differ only in numbers."""
UNLIKE_KINDS: Final = frozenset({"diff", "source", "markdown", "page"})
"""Kinds to which `MAX_ALIKE` does not apply: in a diff, the first lines of hunks often differ only in numbers."""
MAX_MARKS: Final = 400
"""Marks that are kept, by weight. At 4,000 characters, some sixty are shown."""

SUMMARY_WEIGHT: Final = 9.0
"""A line that says that something passed is marked only from this weight: a summary counts what passed."""

PASSED_SHARE: Final = 0.3
"""Share of the weight of a summary that tells success, in a section that failed."""
_JOINTS: Final = ("-", "/")
"""Characters between the words of a name or a path, such as `api/error.js`."""
_PASSED = lazy_pattern(
    r"^(?:[ \t]*(?:(?:PASS(?:ED)?|ok|OK|SKIP(?:PED)?|IGNORED?|XFAIL|✓|✔|√)\b[: \t\[(]|[✓✔√] )"
    r"|.{0,200}(?:\.\.\. (?:ok|ignored)|[ \t](?:PASSED|SKIPPED|XFAIL)(?:[ \t]+\[ *\d+%\])?)$"
    r"|\[gw\d+\] +\[ *\d+%\] (?:PASSED|SKIPPED|XFAIL) )",
    re.MULTILINE,
)
"""A line that says that a test passed or was skipped, whatever words its name has."""
_LINE_OF_FILE = lazy_pattern(r"^([^\s:]+)(?=[:-]\d*[:-]?)", re.MULTILINE)


def mark_lines(text: str, kind: str, forms: Forms, key_marks: Sequence[Mark] = ()) -> tuple[Mark, ...]:
    """Return the marks of a text of a kind, by offset, with its `key_marks`. A line has at most one mark."""
    found = _matches(text, patterns_of(kind), forms, in_failed=kind == FAILED_KIND)
    if kind in REPEATING_KINDS:
        found += [(start, min(end, start + MAX_LINE_CHARS), RARE_WEIGHT) for start, end in find_rare_lines(text, forms)]
    marks = {mark[0]: mark for mark in _without_alike(forms, found, MAX_MARKS if kind in UNLIKE_KINDS else MAX_ALIKE)}
    for mark in key_marks:
        if mark[0] not in marks or mark[2] > marks[mark[0]][2]:
            marks[mark[0]] = mark
    for mark in _outer_marks(text, kind):
        marks.setdefault(mark[0], mark)
    kept = sorted(marks.values(), key=lambda mark: (-mark[2], mark[0]))[:MAX_MARKS]
    return tuple(sorted(kept))


def find_key_marks(text: str, kind: str) -> Iterator[Mark]:
    """Yield the marks of what a reader looks for in a kind of output, whatever words its lines have."""
    if kind in VALUED_KINDS:
        for start, end in find_telling_values(text, kind):
            yield start, min(end, start + MAX_LINE_CHARS), TELLING_WEIGHT
    if kind in COMMIT_KINDS:
        yield from _descending(find_subjects(text)[:MAX_MARKS], SUBJECT_WEIGHT)
    if kind == "diff":
        ordered = order_changes(find_changes(text))[:MAX_MARKS]
        yield from _descending([change[:2] for change in ordered], CHANGE_WEIGHT)
    if kind == "xml":
        failures = ((start, min(end, start + MAX_LINE_CHARS)) for start, end in find_failures(text))
        yield from _descending(list(islice(failures, MAX_MARKS)), FAULT_WEIGHT)
    if kind == "csv" and (end := text.find("\n") + 1):
        yield 0, min(end, MAX_LINE_CHARS), HEADER_WEIGHT


def _outer_marks(text: str, kind: str) -> list[Mark]:
    """Return the first and the last lines of an output; of a search, the first line of each file."""
    if kind == "grep":
        return _first_of_files(text)
    if kind == "opaque":
        return _ends(text)
    edges = _edges(text, kind in SUMMARY_KINDS)
    return [mark for mark in edges if not text.startswith(UNCHANGED, mark[0])] if kind == "diff" else edges


def _descending(spans: Sequence[Span], first: float) -> Iterator[Mark]:
    """Yield the spans as marks, the first with the weight `first`, each further one a little less, down to 1 less."""
    for number, (start, end) in enumerate(spans):
        yield start, end, first - number / len(spans)


def _matches(text: str, patterns: Patterns, forms: Forms, *, in_failed: bool) -> list[Mark]:
    """Return the marks of the lines that match. Each further one weighs less, unless it differs only in numbers.

    `in_failed`: True for a section that failed, in which the summaries of what passed are not what a reader looks for.
    """
    found: dict[int, tuple[int, Pattern]] = {}
    tail = text.rfind("\n", 0, max(0, len(text) - TAIL_CHARS)) + 1
    for part in (0, tail) if tail else (0,):
        for start, end, pattern in chain(_starts(text, patterns, part), _words(text, patterns, part)):
            if start not in found or pattern.weight > found[start][1].weight:
                found[start] = (end, pattern)
    marks: list[Mark] = []
    before: dict[Pattern, set[str]] = {}
    counts = Counter(forms.values())
    for start, (end, pattern) in sorted(found.items()):
        if _PASSED.match(text, start) and pattern.weight < SUMMARY_WEIGHT:
            continue
        own = before.setdefault(pattern, set())
        own.add(forms[start])
        weight = pattern.weight / (1 + RANK_DECAY * (len(own) - 1)) * _commonness_factor(counts[forms[start]])
        weight *= PASSED_SHARE if in_failed and _tells_success(text[start:end]) else 1
        marks.append((start, _end_of_lines(text, start, end, pattern.following), weight))
    return marks


def _commonness_factor(count: int) -> float:
    """Return the factor for the weight of a line whose form `count` lines have."""
    decay = COMMON_DECAY * log2(count / COMMON_LINES) if count > COMMON_LINES else 0.0
    return max(LEAST_COMMON_FACTOR, 1 / (1 + decay))


def _tells_success(line: str) -> bool:
    """Return whether a line counts what passed, and nothing that failed."""
    line = line.lower()
    return "passed" in line and "fail" not in line and "error" not in line


def _starts(text: str, patterns: Patterns, start: int) -> Iterator[tuple[int, int, Pattern]]:
    """Yield the lines from `start` whose beginning matches, with the pattern of the largest weight."""
    for match in islice(patterns.regex.finditer(text, start), MAX_MATCHES):
        yield match.start(), match.end(), patterns.starts[(match.lastindex or 1) - 1]


def _words(text: str, patterns: Patterns, start: int) -> Iterator[tuple[int, int, Pattern]]:
    """Yield the lines from `start` that contain a word that is no part of a longer one, with its pattern."""
    for pattern in patterns.words:
        for word in pattern.words:
            found, place = 0, text.find(word, start)
            while place >= 0 and found < MAX_MATCHES:
                after = place + len(word)
                if _is_joined(text, place) or _is_joined(text, after):
                    place = text.find(word, after)
                    continue
                end = text.find("\n", after)
                end = len(text) if end < 0 else end
                yield text.rfind("\n", 0, place) + 1, end, pattern
                found, place = found + 1, text.find(word, end)


def _is_joined(text: str, offset: int) -> bool:
    """Return whether the characters before and after an offset belong to one word, name or path."""
    before, after = text[offset - 1 : offset], text[offset : offset + 1]
    return (_is_of_name(before) or (before in _JOINTS and text[offset - 2 : offset - 1].isalnum())) and (
        _is_of_name(after) or (after in _JOINTS and text[offset + 1 : offset + 2].isalnum())
    )


def _is_of_name(character: str) -> bool:
    return character.isalpha() or character == "_"


def _without_alike(forms: Forms, marks: list[Mark], most: int) -> Iterator[Mark]:
    """Yield the marks by weight. Of lines that differ only in numbers, yield at most `most`, each with less weight."""
    counts: Counter[str] = Counter()
    seen: set[int] = set()
    for start, end, weight in sorted(marks, key=lambda mark: (-mark[2], mark[0])):
        if start not in seen:
            seen.add(start)
            counts[forms[start]] += 1
            if counts[forms[start]] <= most:
                yield start, end, weight / counts[forms[start]]


def _end_of_lines(text: str, start: int, end: int, following: int) -> int:
    """Return the end of a match with its line break and the lines that follow it, up to an empty line."""
    for _ in range(following):
        next_end = text.find("\n", end + 1)
        if next_end < 0 or not text[end + 1 : next_end].strip() or next_end - start > MAX_LINE_CHARS:
            break
        end = next_end
    return min(end + 1, len(text), start + MAX_LINE_CHARS)


def _ends(text: str) -> list[Mark]:
    """Return the beginning and the end of a text without lines to read, in pieces."""
    pieces = [(0, EDGE_WEIGHT), (len(text) - MAX_LINE_CHARS, EDGE_WEIGHT / 2), (MAX_LINE_CHARS, EDGE_WEIGHT / 3)]
    return [(start, start + MAX_LINE_CHARS, weight) for start, weight in pieces if len(text) >= 3 * MAX_LINE_CHARS]


def _edges(text: str, has_summary: bool) -> list[Mark]:
    """Return the first and last lines, the outermost with the largest weight."""
    marks: list[Mark] = []
    position = 0
    for number in range(FIRST_LINES):
        end = text.find("\n", position) + 1 or len(text)
        if position < len(text):
            marks.append((position, min(end, position + MAX_LINE_CHARS), EDGE_WEIGHT / (1 + number)))
        position = end
    end = len(text)
    for number in range(SUMMARY_LINES if has_summary else LAST_LINES):
        start = text.rfind("\n", 0, max(0, end - 1)) + 1
        if end > position and not (has_summary and text[start:end].isspace()):
            marks.append((max(start, end - MAX_LINE_CHARS), end, (EDGE_WEIGHT + 1) / (1 + number / 2)))
        end = start
    return marks


def _first_of_files(text: str) -> list[Mark]:
    """Return the first line of each file in the output of a search."""
    marks: list[Mark] = []
    seen: set[str] = set()
    for match in _LINE_OF_FILE.finditer(text):
        if match[1] not in seen:
            seen.add(match[1])
            end = text.find("\n", match.end()) + 1 or len(text)
            marks.append((match.start(), min(end, match.start() + RESULT_CHARS), 3 / (1 + RANK_DECAY * len(marks))))
    return marks
