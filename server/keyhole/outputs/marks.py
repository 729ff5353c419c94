"""Mark the lines of an output that every reader looks for, whatever was asked. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from math import log2
from typing import Final

from keyhole.outputs.lines import find_in_lines
from keyhole.outputs.output import Mark
from keyhole.outputs.parts import find_changes, find_commits, order_changes
from keyhole.outputs.patterns import Pattern, Patterns, patterns_of
from keyhole.outputs.records import HTTP, find_failures
from keyhole.outputs.repeats import REPEATING_KINDS, Forms, find_rare_lines
from keyhole.passages.gaps import Span
from keyhole.text.lazy_pattern import lazy_pattern

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
FAULT_WEIGHT: Final = 8.0
"""The elements of XML that say that something failed."""
CHANGE_WEIGHT: Final = 3.9
"""The first change of a diff; each further one weighs a little less, the last one 1 less."""
COMMIT_KINDS: Final = frozenset({"diff", "log"})
STATUS_WEIGHT: Final = 8.0
"""The status line of an HTTP response."""
DEADLOCK_WEIGHT: Final = 9.5
"""The threads of Java that wait for each other: the reason for which a thread dump is made."""
FIRST_COMMITS: Final = 3
"""Commits that are marked with their hash, author and date; of the others, the subject."""
COMMIT_WEIGHT: Final = 6.0
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
_DEADLOCK = lazy_pattern(r"^Found one Java-level deadlock:\n(?:(?!Java stack information).*\n){1,40}+", re.MULTILINE)
"""Which thread waits for which lock, and which one holds it; up to the stacks of these threads."""
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
    if text.startswith(HTTP):
        yield 0, text.find("\n") + 1 or len(text), STATUS_WEIGHT
    if "Java-level deadlock" in text:
        yield from ((*match.span(), DEADLOCK_WEIGHT) for match in islice(_DEADLOCK.finditer(text), MAX_ALIKE))
    if kind in COMMIT_KINDS:
        commits = find_commits(text)[:MAX_MARKS]
        yield from ((start, end, COMMIT_WEIGHT) for start, end, _ in (*commits[:FIRST_COMMITS], *commits[-1:]))
        yield from _descending([(subject, end) for _, end, subject in commits], SUBJECT_WEIGHT)
    if kind == "diff":
        ordered = order_changes(find_changes(text))[:MAX_MARKS]
        yield from _descending([change[:2] for change in ordered], CHANGE_WEIGHT)
    if kind == "xml":
        failures = ((start, min(end, start + MAX_LINE_CHARS)) for start, end in find_failures(text))
        yield from _descending(list(islice(failures, MAX_MARKS)), FAULT_WEIGHT)


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
            found = find_in_lines(text, word, partial(_is_apart, text, len(word)), start)
            for place, end in islice(found, MAX_MATCHES):
                yield text.rfind("\n", 0, place) + 1, end, pattern


def _is_apart(text: str, length: int, place: int) -> bool:
    return not (_is_joined(text, place) or _is_joined(text, place + length))


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
