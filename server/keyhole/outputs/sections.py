"""Find the sections of a log that failed: the steps of a CI run, the sessions of a test runner, the stages of a build.

Each family of programs begins a section with a line of one form, and says with another line that the section failed.
The formats are those that the programs write, each named beside its pattern. Pure.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

from keyhole.outputs.lines import find_in_lines
from keyhole.passages.gaps import Span
from keyhole.text.lazy_pattern import lazy_pattern

SECTIONED_KINDS: Final = frozenset({"log", "test", "compiler", "trace", "text"})
"""Kinds of outputs that may have sections."""
MAX_FAILED: Final = 8
"""Maximum number of failed sections. If there are more, the first and the last ones are kept."""
MAX_EXAMINED: Final = 5_000
"""Lines of one form that are examined."""


class Family(NamedTuple):
    """The forms of the lines with which programs begin a section, and with which they say that it failed."""

    needle: str
    """A text that each log of the family contains. Searching it is faster than the patterns."""
    begins: re.Pattern[str]
    fails: re.Pattern[str]


def _family(needle: str, begins: str, fails: str) -> Family:
    # A line break is found faster than the beginning of a line.
    first, last = (lazy_pattern(rf"\n(?:{forms}).*", re.MULTILINE) for forms in (begins, fails))
    return Family(needle, first, last)


FAMILIES: Final = (
    # GitHub Actions, Azure Pipelines
    _family(
        "##[error]",
        r"##\[(?:group\](?:Run|Post) |section\]Starting: )|Post job cleanup\.",
        r"##\[error\]",
    ),
    # GitLab
    _family("ERROR: Job failed", r"\$ \S|section_start:|Executing \"", r"ERROR: Job failed"),
    # Jenkins
    _family(
        "[Pipeline]",
        r"\[Pipeline\] \{ \(|\[Pipeline\] (?:sh|bat|powershell)$|\++ \S",
        r"ERROR: script returned exit code",
    ),
    # Buildkite
    _family("🚨 Error: ", r"(?:---|\+\+\+|~~~) ", r"🚨 Error: "),
    # Travis CI, CircleCI
    _family("exited with ", r"\$ \S", r"The command \".*\" (?:failed and )?exited with [1-9]|Exited with code [1-9]"),
    # tox
    _family(": commands[", r"\S+: commands(?:_\w+)?\[\d+\]> ", r"\S+: exit [1-9]"),
    # nox
    _family("nox > ", r"nox > Running session ", r"nox > Session \S+ (?:failed|aborted)"),
    # Ansible
    _family("TASK [", r"TASK \[|PLAY [\[R]|RUNNING HANDLER \[", r"fatal: .*(?=\n(?!\.\.\.ignoring))"),
    # pre-commit, whose sections are below the line that says that they failed
    _family("Failed\n", r"(?=.{1,70}\.{3}).*(?:Passed|Failed|Skipped)$", r"(?=.{1,70}\.{3}).*Failed$"),
    # Gradle, whose task has its output below the line that says that it failed, or before " FAILED" in version 4
    _family(
        "FAILURE: Build ",
        r"(?:> Task )?:[\w:.-]+|FAILURE: Build ",
        r"> Task \S+ FAILED|:[\w:.-]+ FAILED|(?:> .*)? FAILED$|FAILURE: Build ",
    ),
    # Maven, whose last goal failed
    _family("BUILD FAILURE", r"\[INFO\] --- \S", r"\[INFO\] BUILD FAILURE|\[ERROR\] Failed to execute goal "),
    # Bazel, which prints what an action printed below the line that says that it failed
    _family(" failed: (Exit ", r"(?:ERROR|INFO|WARNING|DEBUG|FAILED|FAIL|Target)\b", r"ERROR: .* failed: \(Exit "),
    # npm, yarn, pnpm
    _family("npm e", r"> \S[^\s@]*+@\S++ \S", r"npm (?:ERR!|error) (?:Lifecycle|code ELIFECYCLE|command failed)"),
)


_FAILED_RUN = lazy_pattern(r"##\[error\]|^::error\b|\bexit(?:ed with)? (?:code|status):? [1-9]", re.MULTILINE)
"""Marks that runners write at a failure, of GitHub Actions first."""
_FAILED_RUN_WORDS: Final = ("##[error]", "::error", "exit code", "exit status", "exited with")
"""The beginnings of what the pattern matches. It is tried only where one is: it takes 30 ms for a megabyte."""


def is_failed_run(text: str) -> bool:
    """Return whether a text has a line with which a runner says that a step failed."""
    is_mark = partial(_FAILED_RUN.match, text)
    return any(any(find_in_lines(text, word, is_mark)) for word in _FAILED_RUN_WORDS) or bool(find_failed(text))


def find_failed(text: str) -> tuple[Span, ...]:
    """Return the failed sections of a log in order, each from its first line to the line that says that it failed.

    All are of one family: the first in `FAMILIES`, where outer programs come first, that has a failed section.
    """
    for family in FAMILIES:
        if family.needle in text:
            failed = list(_failed_of(text, family))
            if len(failed) > MAX_FAILED:
                failed = [*failed[: MAX_FAILED // 2], *failed[-MAX_FAILED // 2 :]]
            if failed:
                return tuple(failed)
    return ()


def _failed_of(text: str, family: Family) -> Iterator[Span]:
    lines = f"\n{text}"  # where a line break is found, the line after it begins in `text`
    starts = sorted({0, *(match.start() for match in family.begins.finditer(lines))})
    last: Span | None = None
    for match in islice(family.fails.finditer(lines), MAX_EXAMINED):
        number = bisect_right(starts, match.start())
        start, after = starts[number - 1], starts[number] if number < len(starts) else len(text)
        if last is not None and last[0] != start:
            yield last
        last = start, after if start == match.start() else min(len(text), match.end())
    if last is not None:
        yield last


# Find the units of an output that are shown whole unless they are long, because their first line says what they are.

HEADED_KINDS: Final = frozenset({"trace", "log", "test", "compiler"})
"""Kinds in which such units are looked for."""

_HEADED = lazy_pattern(
    r"^(?:(?:In \S+ line \d+|goroutine \d+ \[[^\]\n]*\]):\n(?:.++\n?+)++"
    r'|"[^"\n]+"(?: .*\btid=0x.*|:(?=\n\tat ))\n(?:\n?[ \t].++\n?+)++)',
    re.MULTILINE,
)
"""A finding of shellcheck and a stack of Go, up to a blank line, and a thread of Java with its state and its locks:
without its first line, the others say little."""
_HEADS: Final = ("In ", "goroutine ", "\tat ")


def find_headed(text: str) -> tuple[Span, ...]:
    """Return the stacks of Go, the threads of Java and the findings of shellcheck, in order."""
    return tuple(match.span() for match in _HEADED.finditer(text)) if any(head in text for head in _HEADS) else ()


_GOROUTINE = lazy_pattern(r"^goroutine \d+ (\[[^\]\n]*\]):\n((?:.++\n?+)++)\n?", re.MULTILINE)
_ADDRESS = lazy_pattern(r"0x[0-9a-f]+\??|, \d+ minutes")
MAX_STATES: Final = 8
"""Maximum number of states of goroutines that are counted in the first lines of a result."""


def find_equal_stacks(text: str) -> tuple[Span, ...]:
    """Return the stacks of Go that equal one before them apart from addresses: a server has hundreds that wait."""
    seen: set[str] = set()
    equal: list[Span] = []
    for match in _GOROUTINE.finditer(text) if "goroutine " in text else ():
        form = _ADDRESS.sub("", match[1] + match[2])
        if form in seen:
            equal.append(match.span())
        seen.add(form)
    return tuple(equal)


def count_stacks(text: str) -> str:
    """Return how many goroutines are in which state, "" if there are fewer than two."""
    found = _GOROUTINE.finditer(text) if "goroutine " in text else ()
    states = Counter(_ADDRESS.sub("", match[1])[1:-1] for match in found)
    named = ", ".join(f"{count:,} {state}" for state, count in states.most_common(MAX_STATES))
    return f"{states.total():,} goroutines: {named}" if states.total() > 1 else ""
