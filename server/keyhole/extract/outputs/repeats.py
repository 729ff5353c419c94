"""Find the lines of an output that repeat the lines before them, apart from numbers. Pure."""

from __future__ import annotations

import re
from typing import Final

from keyhole.text.output import Span

REPEATING_KINDS: Final = frozenset({"log", "text", "test", "compiler", "trace", "listing", "jsonl"})
"""Kinds in which a line that differs from another only in numbers tells nothing new."""
MAX_PERIOD: Final = 3
"""Lines before a line that it may repeat: a step of a build often prints two or three."""
MIN_LINES: Final = 3
MIN_CHARS: Final = 80
"""Lines and characters from which repeating lines are left out. The omission of fewer saves nothing."""

_VARIABLE = re.compile(r"[0-9][0-9a-fx]*(?:[.,:-][0-9a-f]+)*")
"""What differs between lines that repeat each other: numbers, times, versions, addresses, hashes, UUIDs. It begins with
a digit, because a search for other beginnings takes five times as long."""
_FIRST_LETTERS: Final = 3
"""Letters before the first digit of a hash that are left out, too. One hash in twenty has more."""


def template(text: str) -> str:
    """Return a text with the same sign for every number, time, address and hash. Its lines stay lines."""
    text = _VARIABLE.sub("#", text)
    for letter in "abcdef" * _FIRST_LETTERS:
        text = text.replace(f"{letter}#", "#")
    return text


def find_repeats(text: str) -> tuple[Span, ...]:
    """Return the ranges of lines that each repeat one of the `MAX_PERIOD` lines before them, apart from numbers."""
    repeats: list[Span] = []
    recent: list[str] = []
    position = start = count = 0
    for line, original in zip(template(text).split("\n"), text.split("\n"), strict=True):
        if line in recent:
            count += 1
        else:
            if count >= MIN_LINES and position - start >= MIN_CHARS:
                repeats.append((start, position))
            start, count = position + len(original) + 1, 0
        recent = [*recent[1 - MAX_PERIOD :], line]
        position += len(original) + 1
    if count >= MIN_LINES and len(text) - start >= MIN_CHARS:
        repeats.append((start, len(text)))
    return tuple(repeats)
