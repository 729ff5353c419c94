"""Take the prefix from the lines of a log: the time stamps of a CI system, of containers or of a logger. Pure.

A prefix that nearly every line has says the same each time, and hides what the line is from everything that reads it.
The stored text keeps the prefixes. A line that is shown is `text[start:end]` after its prefix.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Final

from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.output import Envelope

MIN_SHARE: Final = 0.8
"""Share of the lines that have a prefix, from which prefixes are taken. Lines of a stack trace often have none."""
MIN_LINES: Final = 8
"""Lines with a prefix, at least."""
PREFIXED_KINDS: Final = frozenset({"log", "test", "compiler", "trace", "text"})
"""Kinds of outputs whose lines may have a prefix that is taken."""
SAMPLE_CHARS: Final = 20_000
"""Characters of the beginning, and of the end, by which it is decided whether the prefixes are taken."""

_TIME = (
    r"\[?(?:\d{4}[-/]\d\d[-/]\d\d[T _]|[A-Z][a-z]{2} [ \d]\d )?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
    r"(?: ?Z|[+-]\d\d:?\d\d| UTC)?\]?(?: \d\d[OE]\+?)?"
)
"""A date and a time, or a time. GitLab writes the number and the kind of the stream after it."""
ASKS_TIME: Final = lazy_pattern(r"\d\d?:\d\d|\d{4}-\d\d|(?i:\bwhen\b|\btime\b|\bhow long\b|\bo'clock\b|\bdate\b)")
"""A query that may ask for what the prefixes say."""
_STEP = r"([^\t\n]{1,80}\t[^\t\n]{1,80})\t"
"""The job and the step, which `gh run view --log` writes before the time."""
_PREFIX = lazy_pattern(rf"\ufeff?(?:{_STEP})?({_TIME})(?:[ \t]|$)")


def take_prefixes(text: str) -> tuple[str, Envelope | None]:
    """Return a text without the prefixes of its lines, and what was taken; the text and None if it has none."""
    ends = text if len(text) <= 2 * SAMPLE_CHARS else f"{text[:SAMPLE_CHARS]}\n{text[-SAMPLE_CHARS:]}"
    sample = [line for line in ends.split("\n") if line.strip()]
    matching = sum(_PREFIX.match(line) is not None for line in sample)
    if matching < MIN_LINES or matching < MIN_SHARE * len(sample):
        return text, None
    lines = text.split("\n")
    found = [_PREFIX.match(line) for line in lines]
    lengths = [match.end() if match else 0 for match in found]
    bare = [line[length:] for line, length in zip(lines, lengths, strict=True)]
    starts = tuple(accumulate((len(line) + 1 for line in bare[:-1]), initial=0))
    steps = [(start, match[1]) for start, match in zip(starts, found, strict=True) if match and match[1]]
    times = tuple(match[2] if match else "" for match in found)
    envelope = Envelope(starts, tuple(accumulate(lengths)), times, tuple(_changes(steps)))
    return "\n".join(bare), envelope


def _changes(steps: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the first line of each step, with the names of its job and of the step."""
    before = ""
    for start, name in steps:
        if name != before:
            yield start, " › ".join(name.split("\t"))
        before = name
