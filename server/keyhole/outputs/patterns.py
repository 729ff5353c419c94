"""The lines of an output that every reader looks for, by its kind: failures, their causes and the summary.

Each pattern matches whole lines and has a weight. The weights only order the lines: 9 for a summary or a final error, 8
for a failing assertion or the first error, 7 for the name of a failure, less for what surrounds them. Each pattern
follows the format of a program that is named beside it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

LINE_NUMBER: Final = r"(?:[ \t]*\d+[\t→])?"
"""A regular expression for the number that `cat -n` and the file tools of agents write before a line of source."""


class Pattern(NamedTuple):
    """A form of lines, the weight of such a line, and how many following lines belong to it."""

    weight: float
    start: str = ""
    """A regular expression for the beginning of a line."""
    following: int = 0
    words: tuple[str, ...] = ()
    """Words anywhere in a line. Searching for them is faster than any regular expression for a whole line."""


class Patterns(NamedTuple):
    """The patterns of a kind: those for beginnings as the groups of one expression, and those with words."""

    starts: tuple[Pattern, ...]
    regex: re.Pattern[str]
    words: tuple[Pattern, ...]


def _words(weight: float, words: str) -> Pattern:
    return Pattern(weight, words=tuple(words.split("|")))


_TRACES: Final = (
    Pattern(9, r"(?:[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning)|Exception in thread .*)(?:: |$)"),
    Pattern(9, r"panic: |fatal error: |Caused by: "),  # Go, Java
    Pattern(9, r"thread '.*' (?:\(\d+\) )?panicked at ", 3),  # Rust
    Pattern(3, r"[ \t]+File \".*\", line \d+", 1),  # Python
)

_TESTS: Final = (
    # pytest
    Pattern(9, r"=+ (?:.*[, ])?\d+ (?:failed|errors?|passed|skipped|deselected|xfailed)\b"),
    Pattern(8, r"E  +(?!\+|-)\S"),
    Pattern(7, r"(?:FAILED|ERROR) \S+"),
    Pattern(4, r"\S+\.py:\d+: \w+"),
    # rspec, prove, ctest
    _words(7, "***Failed|***Exception|FAIL"),
    # jest, vitest, mocha, node --test, TAP
    Pattern(8, r"[ \t]*(?:\+ )?(?:Expected|Received|expected|actual|received)\b.*:"),
    Pattern(7, r"[ \t]*● |[ \t]*(?:✕|✗|×|✖) |[ \t]*not ok |[ \t]*FAIL "),
    # cargo test, go test
    Pattern(9, r"test result: "),
    Pattern(8, r"[ \t]+\S+_test\.go:\d+: "),
)

_COMPILERS: Final = (
    Pattern(9, r"Found \d+ |\d+ (?:errors?|warnings?) |✖ \d+ problems?|error: (?:could not compile|aborting)"),
    Pattern(8, r"\S+?:\d+(?::\d+)?: (?:fatal )?error\b", 2),  # gcc, clang, mypy
    Pattern(8, r"error(?:\[E\d+\])?: ", 1),  # rustc
    Pattern(8, r"\S+[\w/]\.\w{1,5}(?=\n[ \t]+\d+:\d+[ \t]+error)", 2),  # eslint: the file
    _words(8, "undefined reference to|: error: |: fatal error: "),
    Pattern(7, r"(?=\S*make)\S+: \*\*\* |FAILED: |collect2: error|\[ERROR\] "),
)

_DIFFS: Final = (
    Pattern(9, r" \d+ files? changed"),
    Pattern(4, r" [^\s|][^|\n]* \| +(?:\d+ [+-]|\d+$|Bin )"),
)

_LOGS: Final = (
    _words(
        7,
        "FATAL|CRITICAL|EMERG|ALERT|ALARM|PANIC|panic|Segmentation fault|core dumped|Out of memory"
        "|Main process exited|Failed with result|status=1|status=2",
    ),
    _words(6, "ERROR|ERR|Error|error|Exception|FAILED|Failed|failed|failure"),
    _words(
        5,
        "denied|Denied|refused|timed out|Timed out|timeout|Timeout|cannot|Cannot|could not|Could not"
        "|unable to|Unable to|No such file|not found",
    ),
    _words(
        5,
        "Successfully|finished|Finished|completed|Completed|summary|Summary|SUMMARY|total|Total|upgraded|up to date",
    ),
)

_XTRACE: Final = (Pattern(7, r"\++ (?:return|exit) [1-9]"),)
"""The end of a shell script that prints its commands."""

_STEPS: Final = (
    Pattern(8, r"[ \t]{1,8}error(?:\[E\d+\])?: ", 1),  # what a test of a compiler expects
    Pattern(8, r"#\d+ (?:[\d.]+ )?(?:ERROR|error)\b|ERROR: |\[ERROR\]: "),  # BuildKit, Ansible
    Pattern(7, r"[ \t]*FAIL \[|FAILED |.{1,80}(?<!\.)\.{3,}+(?:\(.*\))?Failed$"),  # nextest, pre-commit
    *_XTRACE,
    _words(8, "tests failed|test failed|tests run:|test run failed|failed=1|failed=2|failed=3"),
    _words(7, "failed to pass|No tests found|did not complete successfully|exit code|exited with|returned a non-zero"),
)
"""Lines of a step of a CI run, which may have run anything."""

_SOURCES: Final = (
    Pattern(
        6,
        r"(?:(?:export|default|public|pub|async|static|abstract|final|declare|typedef) )*"
        r"(?:class|interface|struct|enum|trait|impl|type|module|package|namespace|func|fn|def|function) \w",
    ),
)
"""Definitions of common languages at the margin."""

_PAGES: Final = (
    _words(8, '<title|name="description"|property="og:description"'),
    Pattern(4, r"##+ \S"),
)

PATTERNS: Final[dict[str, tuple[Pattern, ...]]] = {
    "test": (*_TESTS, *_TRACES),
    "compiler": (*_COMPILERS, *_TESTS, *_LOGS[:1]),
    "trace": (*_TRACES, *_LOGS),
    "log": (*_LOGS, *_TRACES, *_XTRACE),
    "step": (*_STEPS, *_TESTS, *_COMPILERS, *_TRACES, *_LOGS),
    "text": (Pattern(7, r"[Uu]sage: ", 1),),
    "diff": _DIFFS,
    "source": _SOURCES,
    "page": _PAGES,
    "markdown": _PAGES,
    "csv": _LOGS[:1],
    "json": (Pattern(7, r'[ \t]*"(?:ename|evalue)": '),),  # the error of a cell of a notebook
}
"""The patterns of each kind. The other kinds have none. No output has the kind step: it names the patterns for the
sections that failed, in which anything may have run."""


@cache
def patterns_of(kind: str) -> Patterns:
    """Return the patterns of a kind, those with the largest weight first."""
    ordered = sorted(PATTERNS.get(kind, ()), key=lambda pattern: -pattern.weight)
    starts = tuple(pattern for pattern in ordered if pattern.start)
    regex = "|".join(f"({pattern.start})" for pattern in starts) or "(?!)"
    return Patterns(
        starts,
        re.compile(rf"^{LINE_NUMBER if kind == 'source' else ''}(?:{regex}).*$", re.MULTILINE),
        tuple(pattern for pattern in ordered if pattern.words),
    )
