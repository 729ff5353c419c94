"""Take the prefix from the lines of a log: the time stamps of a CI system, of containers or of a logger. Pure.

A prefix that nearly every line has says the same each time, and hides what the line is from everything that reads it.
The stored text keeps the prefixes. A line that is shown is `text[start:end]` after its prefix.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Final

from keyhole.outputs.output import Envelope, ends_of, take
from keyhole.text.lazy_pattern import lazy_pattern

MIN_SHARE: Final = 0.8
"""Prefixes are taken if at least this share of the lines has one. Lines of a stack trace often have none."""
MIN_LINES: Final = 8
"""Prefixes are taken if at least this many lines have one."""
SAMPLE_CHARS: Final = 20_000
"""Characters examined at the beginning, and at the end, to decide whether the prefixes are taken."""

_ASKS_TIME: Final = lazy_pattern(r"\d\d?:\d\d|\d{4}-\d\d|(?i:\bwhen\b|\btime\b|\bhow long\b|\bo'clock\b|\bdate\b)")
"""A query that may ask for what the prefixes say."""

_ZONE = r"(?: ?Z|[+-]\d\d:?\d\d| UTC)?"
_DATE_AND_TIME = rf"\[?(?:[a-z]{{1,16}} )?\d{{4}}[-/]\d\d[-/]\d\d[T _]\d\d:\d\d:\d\d[.,\d]*{_ZONE}\]?(?: \d\d[OE]\+?)?"
"""A date and a time, also behind a name in brackets. GitLab writes the number and the kind of the stream after it."""
_END = r"(?: |(?=\n|\Z))"
"""A space, or the end of the line. A time before a tab is a column of a table."""
_FORMS: Final = tuple(
    lazy_pattern(rf"\n({form}{_END})")
    for form in (
        rf"\ufeff?{_DATE_AND_TIME}(?: \d\d:\d\d:\d\d(?= ))?",
        r"\[ *\d+(?:\.\d+)?s?\]",
        r"\[?\d\d:\d\d:\d\d[.,\d]*\]?",
        r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d",
        rf"\ufeff?[^\t\n]{{1,80}}\t[^\t\n]{{1,80}}\t\ufeff?{_DATE_AND_TIME}",
    )
)
"""The prefixes: a date and a time, behind which another program may write its own; seconds since the start; a time;
what syslog writes; and what `gh run view --log` writes: job, step and time.
Each is simple, because it is compared with each line."""


def take_prefixes_for(text: str, query: str | None) -> tuple[str, Envelope | None]:
    """Call `take_prefixes`, or return the text and None if the query may ask for what the prefixes say."""
    return (text, None) if query is not None and _ASKS_TIME.search(query) else take_prefixes(text)


def take_prefixes(text: str) -> tuple[str, Envelope | None]:
    """Return a text without the prefixes of its lines, and what was taken; the text and None if it has none."""
    ends = ends_of(text, SAMPLE_CHARS)
    form, matching = max(((form, sum(1 for _ in form.finditer(f"\n{ends}"))) for form in _FORMS), key=itemgetter(1))
    filled = sum(1 for line in ends.split("\n") if line.strip())
    if matching < MIN_LINES or matching < MIN_SHARE * filled:
        return text, None
    bare, envelope = take(text, form)
    names_steps = "\t" in envelope.prefixes[0]
    return bare, envelope._replace(steps=tuple(_steps_of(envelope))) if names_steps else envelope


def _steps_of(envelope: Envelope) -> Iterator[tuple[int, str]]:
    """Yield the start and the name of each step that the prefixes name."""
    before = ""
    for start, prefix in zip(envelope.starts, envelope.prefixes, strict=True):
        name = prefix.rpartition("\t")[0]
        if name != before:
            yield start, name.strip("\ufeff").replace("\t", " › ")
            before = name
