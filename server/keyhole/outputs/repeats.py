"""Find the lines of an output that repeat the lines before them, apart from numbers. Pure."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from keyhole.passages.gaps import Span

# Compare lines apart from their numbers.

MAX_PERIOD: Final = 3
"""A line may repeat one of this many lines before it: a step of a build often prints two or three."""

_VARIABLE = re.compile(r"[0-9][0-9a-fx]*(?:[.,:-][0-9][0-9a-fx]*)*")
"""What differs between lines that repeat each other: numbers, times, versions, addresses, hashes, UUIDs. It begins with
a digit, because a search for other beginnings takes several times as long."""
_FIRST_LETTERS: Final = 3
"""Maximum letters before the first digit of a hash that are replaced too. One hash in twenty has more."""


def template(text: str) -> str:
    """Return a text with the same sign for every number, time, address and hash. Its lines stay lines."""
    text = _VARIABLE.sub("#", text)
    for letter in "abcdef" * _FIRST_LETTERS:
        text = text.replace(f"{letter}#", "#")
    return text


# Find the lines of an output that repeat the lines before them, apart from numbers.

Forms = dict[int, str]
"""The form of each line by its offset: two lines of the same form differ only in numbers."""

REPEATING_KINDS: Final = frozenset({"log", "text", "test", "compiler", "trace", "listing", "jsonl", "step"})
"""Kinds in which a line that differs from another only in numbers tells nothing new."""
MIN_LINES: Final = 3
MIN_CHARS: Final = 80
"""Minimum lines and characters of a repetition that is left out. The omission of fewer saves nothing."""
RARE_SHARE: Final = 0.01
"""A form is rare if at most this share of the lines has it."""
MAX_RARE_LINES_SHARE: Final = 0.1
"""Lines of rare forms are exceptions if they are at most this share of all lines. In prose, most lines are rare."""


def line_forms(text: str) -> Forms:
    """Return the form of each line by the line's offset: the line without its numbers."""
    forms: Forms = {}
    position = 0
    for form, line in zip(template(text).split("\n"), text.split("\n"), strict=True):
        forms[position] = form
        position += len(line) + 1
    return forms


def find_repeats(text: str, forms: Forms) -> tuple[Span, ...]:
    """Return the ranges of lines that each repeat one of the `MAX_PERIOD` lines before them, apart from numbers."""
    repeats: list[Span] = []
    recent: list[str] = []
    start, count = 0, 0
    for position, form in [*forms.items(), (len(text), "\n")]:
        if form in recent:
            start, count = (start, count + 1) if count else (position, 1)
        else:
            if count >= MIN_LINES and position - start >= MIN_CHARS:
                repeats.append((start, position))
            count = 0
        recent = [*recent[1 - MAX_PERIOD :], form]
    return tuple(repeats)


def find_rare_lines(text: str, forms: Forms) -> tuple[Span, ...]:
    """Return the first line of each rare form, if nearly all lines of the text have frequent forms.

    Such a line tells what happened once among what happened all the time.
    """
    counts = Counter(forms.values())
    rare = {form for form, count in counts.items() if count <= RARE_SHARE * len(forms) and form.strip()}
    if sum(counts[form] for form in rare) > MAX_RARE_LINES_SHARE * len(forms):
        return ()
    first = {form: start for start, form in reversed(forms.items()) if form in rare}
    return tuple((start, text.find("\n", start) + 1 or len(text)) for start in sorted(first.values()))
