"""Find the changed lines of a diff, and put them in the order in which they are shown. Pure.

A reader of a diff wants what was changed. The lines around it and the headers of the hunks are the larger part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from keyhole.text.lazy_pattern import lazy_pattern

MAX_CHANGES: Final = 2_000
"""Maximum number of changes found: a result of the largest size shows some hundreds."""
CHANGE_CHARS: Final = 800
"""Characters of a change. A longer run of changed lines, such as a new file, is several changes."""
FIRST_CHARS: Final = 800
"""Characters of the first changes of each file, which are shown before further ones of any file."""

_HUNK = lazy_pattern(r"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_FILE = lazy_pattern(r"^(?:--- (?:a/)?(\S++).*\n)?\+\+\+ (?:b/)?(\S+).*$", re.MULTILINE)
_GENERATED = lazy_pattern(
    r"(?:^|/)(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml|[\w.-]*\.lock|go\.sum|[\w.-]+\.(?:min\.\w+|map|snap|svg|pb\.go)"
    r"|(?:vendor|node_modules|dist)/.*|requirements[\w.-]*\.txt)$"
)
"""Files that programs write. Their changes come last."""

_PROSE = lazy_pattern(r"\.(?:md|markdown|rst|txt|adoc|po|json|csv|jsonl)$|(?:^|/)(?:CHANGELOG|NEWS|ChangeLog)[\w.]*$")
"""Files of prose or data. Their changes come after those of source."""

_COMMIT = lazy_pattern(r"^commit [0-9a-f]{7,64}.*\n(?:[A-Z][\w-]*: .*\n)*\n(    .*\n)", re.MULTILINE)


class Change(NamedTuple):
    """A run of changed lines `text[start:end]` of a file."""

    start: int
    end: int
    file: str
    line: int
    """The number of its first line in the new file."""


def find_changes(text: str) -> list[Change]:
    """Return the changes of a diff in the unified format, in order."""
    changes: list[Change] = []
    names = [(match.start(), _file_of(match)) for match in _FILE.finditer(text)]
    number = -1
    for hunk in _HUNK.finditer(text):
        while number + 1 < len(names) and names[number + 1][0] < hunk.start():
            number += 1
        changes += _changes_of(text, hunk, names[number][1] if number >= 0 else "")
        if len(changes) >= MAX_CHANGES:
            break
    return changes[:MAX_CHANGES]


def _file_of(header: re.Match[str]) -> str:
    """Return the name of the new file, or of the old one if the diff removes it."""
    return (header[1] or header[2]) if header[2] == "/dev/null" else header[2]


def _changes_of(text: str, hunk: re.Match[str], file: str) -> Iterator[Change]:
    """Yield the changes of a hunk. Its header says how many lines it has, so that each sign is a sign of a change."""
    old, new = int(hunk[1] or 1), int(hunk[3] or 1)
    line, position = int(hunk[2]), text.find("\n", hunk.end()) + 1
    start, first = -1, line
    while position and position < len(text) and (old > 0 or new > 0):
        end = text.find("\n", position) + 1 or len(text)
        sign = text[position]
        is_change = sign in "+-"
        if start >= 0 and (not is_change or end - start > CHANGE_CHARS):
            yield Change(start, position, file, first)
            start = -1
        if is_change and start < 0:
            start, first = position, line
        old -= sign != "+"
        new -= sign != "-"
        line += sign != "-"
        position = end
    if start >= 0:
        yield Change(start, position or len(text), file, first)


def order_changes(changes: Sequence[Change]) -> list[Change]:
    """Return the changes in the order in which they are shown: source, then prose and data, then generated files.

    In each of these groups, the first changes of every file come before the further ones.
    """
    chars: dict[str, int] = {}
    ranked: list[tuple[int, bool, int]] = []
    for number, change in enumerate(changes):
        group = 2 if _GENERATED.search(change.file) else 1 if _PROSE.search(change.file) else 0
        size = chars.get(change.file, 0) + change.end - change.start
        is_further = change.file in chars and size > FIRST_CHARS
        chars[change.file] = size
        ranked.append((group, is_further, number))
    return [changes[number] for _, _, number in sorted(ranked)]


def find_subjects(text: str) -> list[tuple[int, int]]:
    """Return the subject lines of the commits that `git log` or `git show` prints, in order."""
    return [match.span(1) for match in _COMMIT.finditer(text)] if "commit " in text else []
