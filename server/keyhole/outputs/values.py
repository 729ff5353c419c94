"""Find the rare values, the extremes and the counts by value of data. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import isclose
from typing import Final, NamedTuple

from keyhole.outputs.fields import UNNAMED, Data, Field, read_number, read_numbers
from keyhole.passages.gaps import Span

MIN_VALUES: Final = 12
"""Fields with fewer values are not examined."""
MAX_DISTINCT_SHARE: Final = 0.25
"""A rare value tells something if at most this share of the field's values is different: names all differ."""
RARE_SHARE: Final = 0.03
"""A value is rare if at most this share of the field's values equals it."""
MAX_VALUE_CHARS: Final = 60
"""Characters of a value that may be rare. A longer one is a sentence."""
MAX_FOUND: Final = 3
"""Maximum lines per field with rare values."""
TELLING_WEIGHT: Final = 6.5
"""A line of data with a rare value: less than the header of the table, and than a failure."""
EXTREME_WEIGHT: Final = 5.8
"""The largest number of a field: less than a rare value."""
EXTREME_FACTOR: Final = 3.0
"""A largest number tells something if it is this many times the median: numbers of records are spread evenly."""
MAX_EXTREME_FIELDS: Final = 4
"""Fields whose largest number is shown. Of the first of them, `MAX_FOUND` are."""
MAX_COUNTED_VALUES: Final = 8
"""Different values of a field whose records are counted."""
MAX_COUNTED_CHARS: Final = 30
"""Characters of a value whose records are counted."""


class Telling(NamedTuple):
    """A value of a field that tells something, with its record."""

    weight: float
    field: str
    value: str
    record: Span


def find_telling_values(data: Data) -> list[Telling]:
    """Return the rare values of fields, the largest numbers, and rare fields."""
    found: list[Telling] = []
    for name, field in data.fields.items():
        if len(field.values) >= MIN_VALUES:
            found += [
                Telling(TELLING_WEIGHT, name, field.values[place], field.lines[place]) for place in _rare(field.values)
            ]
    found += [
        Telling(TELLING_WEIGHT, name, field.values[0], field.lines[0]) for name, field in _exceptional(data.fields)
    ]
    for rank, name in enumerate(rank_numbers(data.fields, EXTREME_FACTOR)[:MAX_EXTREME_FIELDS]):
        found += _largest(name, data.fields[name], 1 if rank else MAX_FOUND)
    return found


def _largest(name: str, field: Field, count: int) -> list[Telling]:
    """Return the records with the largest numbers of a field, without those far below the largest one."""
    found = find_extremes(name, field, count)
    numbers = [read_number(each.value) or 0.0 for each in found]
    return [each for each, number in zip(found, numbers, strict=True) if number * EXTREME_FACTOR >= numbers[0]]


def find_extremes(name: str, field: Field, count: int, *, smallest: bool = False) -> list[Telling]:
    """Return the records with the largest numbers of a field, or the smallest ones, the most extreme first."""
    numbers = [
        (number, place) for place, value in enumerate(field.values) if (number := read_number(value)) is not None
    ]
    numbers.sort(key=lambda each: (each[0] if smallest else -each[0], each[1]))
    if len(numbers) > 1 and isclose(numbers[0][0], sum(number for number, _ in numbers[1:])):
        del numbers[0]  # the total
    return [
        Telling(EXTREME_WEIGHT - rank / 2, name, field.values[place], field.lines[place])
        for rank, (_, place) in enumerate(numbers[:count])
    ]


def rank_numbers(fields: Mapping[str, Field], factor: float = 0.0) -> list[str]:
    """Return the fields of numbers whose largest one is at least `factor` times the median, the most uneven first.

    Numbers that only count up, such as those of records and times, are left out.
    """
    ratios: dict[str, float] = {}
    for name, field in fields.items():
        numbers = read_numbers(field.values, len(field.values) // 2) or []
        if len(numbers) >= MIN_VALUES and not _counts_up(numbers):
            middle, largest = _median(list(map(abs, numbers))), max(numbers)
            if largest > 0 and largest > min(numbers) and largest >= factor * middle:
                ratios[name] = largest / (middle or largest / (factor + 2 or 1))
    return sorted(ratios, key=lambda name: -ratios[name])


def _counts_up(numbers: Sequence[float]) -> bool:
    return all(after > before for before, after in pairwise(numbers))


def count_values(data: Data, words: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the numbers of records by value, such as `status: 88 paid, 2 disputed`, of the fields with few values.

    Fields that `words` name, by their name or a value, come first, then those in which one value is the most frequent.
    """
    counted: list[tuple[bool, bool, float, str]] = []
    for name, field in data.fields.items():
        counts = Counter(field.values)
        if len(field.values) < MIN_VALUES or not 1 < len(counts) <= MAX_COUNTED_VALUES:
            continue
        if max(map(len, counts)) > MAX_COUNTED_CHARS or any("\n" in value for value in counts):
            continue
        is_named = any(word in f"{name} {' '.join(counts)}".lower() for word in words)
        is_number = all(read_number(value) is not None for value in counts)
        if is_number and (name.startswith(UNNAMED) or not all(map(str.isdigit, counts))):
            continue
        line = ", ".join(
            f"{count:,}{' ×' if is_number else ''} {value or '(none)'}" for value, count in counts.most_common()
        )
        title = "" if name.startswith(UNNAMED) else f"{name.rpartition(' ')[2]}: "
        counted.append(
            (not is_named, is_number or "." in name, -max(counts.values()) / len(field.values), title + line)
        )
    return tuple(line for *_, line in sorted(counted))


def _exceptional(fields: Mapping[str, Field]) -> list[tuple[str, Field]]:
    """Return the fields that few records have, such as the reason why one of them failed.

    In YAML, a field that is indented less than the records' fields does not belong to them.
    """
    most = max((len(field.values) for field in fields.values()), default=0)
    indent = next((_indent(name) for name, field in fields.items() if len(field.values) == most), 0)
    rare = [
        (name, field)
        for name, field in fields.items()
        if field.values
        and len(field.values) <= max(1.0, RARE_SHARE * most)
        and _indent(name) >= indent
        and field.values[0]
    ]
    return rare[:MAX_FOUND] if most >= MIN_VALUES and len(rare) <= 2 * MAX_FOUND else []


def _indent(name: str) -> int:
    """Return the indent in the name of a field of YAML, 0 for any other field."""
    indent, space, _ = name.partition(" ")
    return int(indent) if space and indent.isdigit() else 0


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
