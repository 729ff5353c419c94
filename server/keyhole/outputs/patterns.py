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
    Pattern(9, r"Caused by: "),  # Java
    Pattern(9, r"panic: |fatal error: "),  # Go
    Pattern(9, r"thread '.*' (?:\(\d+\) )?panicked at ", 3),  # Rust
    Pattern(8, r"\S+:\d+$", 4),  # Node: the place, the line of source and the caret
    Pattern(5, r"Traceback \(most recent call last\):"),
    Pattern(3, r"[ \t]+File \".*\", line \d+", 1),
    Pattern(3, r"\t\S+\.go:\d+(?: \+0x|$)"),
    Pattern(2, r"[ \t]+at \S"),
)

_TESTS: Final = (
    # pytest
    Pattern(9, r"=+ (?:.*[, ])?\d+ (?:failed|errors?|passed|skipped|deselected|xfailed)\b"),
    Pattern(8, r"E  +(?!\+|-)\S"),
    Pattern(5, r"E  "),
    Pattern(7, r"(?:FAILED|ERROR) \S+"),
    Pattern(6, r">  "),
    Pattern(5, r"_{3,} \S.* _{3,}$"),
    Pattern(4, r"\S+\.py:\d+: \w+"),
    # unittest
    Pattern(9, r"Ran \d+ tests? in |FAILED \(|OK(?: \(|$)"),
    Pattern(7, r"(?:FAIL|ERROR): "),
    # doctest
    Pattern(9, r"\d+ passed and \d+ failed\.|\*{3}Test Failed\*{3}"),
    Pattern(8, r"Failed example:$", 5),
    # rspec, prove, ctest
    Pattern(9, r"\d+ examples?, \d+ failures?|Result: (?:FAIL|PASS)$|\d+% tests passed, "),
    Pattern(8, r"#? *got: |# +expected: |[ \t]*Failure/Error: "),
    Pattern(8, r"The following tests FAILED:$", 4),
    Pattern(7, r"# +Failed test "),
    _words(7, "***Failed|***Exception|FAIL"),
    # jest, vitest, mocha, node --test, TAP
    Pattern(9, r"[ \t]*(?:Tests|Test Suites|Test Files|Snapshots):? +\d|[ \t]*\d+ (?:passing|failing|pending)\b"),
    Pattern(9, r"(?:#|ℹ) (?:tests|pass|fail) [1-9]"),
    Pattern(8, r"[ \t]*(?:Expected|Received):$", 3),
    Pattern(8, r"[ \t]*(?:\+ )?(?:Expected|Received|expected|actual|received)\b.*:"),
    Pattern(8, r"[ \t]*(?:Assertion|Type|Reference|Range|Syntax)?Error(?: \[\w+\])?:"),
    Pattern(7, r"[ \t]*● |[ \t]*(?:✕|✗|×|✖) |[ \t]*not ok |[ \t]*FAIL "),
    Pattern(5, r"[ \t]*> *\d+ \|", 1),
    # cargo test
    Pattern(9, r"test result: "),
    Pattern(8, r"[ \t]*(?:left|right): |assertion .*failed"),
    Pattern(6, r"test .* \.\.\. FAILED"),
    # go test
    Pattern(8, r"[ \t]+\S+_test\.go:\d+: "),
    Pattern(7, r"[ \t]*--- FAIL: |FAIL\s|panic: "),
)

_COMPILERS: Final = (
    Pattern(9, r"Your code has been rated|\[INFO\] BUILD [FS]"),  # pylint, Maven
    Pattern(9, r"Found \d+ |\d+ (?:errors?|warnings?) |✖ \d+ problems?|error: (?:could not compile|aborting)"),
    Pattern(8, r"\S+?:\d+(?::\d+)?: (?:fatal )?error\b", 2),  # gcc, clang, mypy
    Pattern(8, r"error(?:\[E\d+\])?: ", 1),  # rustc
    Pattern(8, r"\S+[\w/]\.\w{1,5}(?=\n[ \t]+\d+:\d+[ \t]+error)", 2),  # eslint: the file
    Pattern(7, r"[ \t]+\d+:\d+[ \t]+error "),
    Pattern(8, r"\S+\(\d+,\d+\): error |[ \t]*\S+:\d+:\d+ - error "),  # tsc, pyright
    Pattern(8, r"\S+\(\d+\): error", 1),  # nvcc
    _words(8, "undefined reference to|: error: |: fatal error: "),
    Pattern(7, r"(?=\S*make)\S+: \*\*\* |FAILED: |collect2: error|\[ERROR\] "),
    Pattern(6, r"[ \t]*-->"),
    Pattern(6, r"\S+:\d+:\d+: [A-Z]+\d+ |[A-Z]+\d{3,4} ", 1),  # ruff
    Pattern(3, r"\S+?:\d+(?::\d+)?: warning|warning(?::|\[)"),
    _words(3, ": warning: "),
)

_DIFFS: Final = (
    Pattern(9, r" \d+ files? changed"),
    Pattern(6, r"Only in |Binary files "),
    Pattern(5, r"--- (?!a/|/dev/null)\S", 1),
    Pattern(4, r" [^\s|][^|\n]* \| +(?:\d+ [+-]|\d+$|Bin )"),
    Pattern(4, r"commit [0-9a-f]{7,}", 5),
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
    Pattern(5, r"added \d"),
    _words(3, "WARN|WARNING|Warning|warning|deprecated"),
)

_XTRACE: Final = (Pattern(7, r"\++ (?:return|exit) [1-9]"),)
"""The end of a shell script that prints its commands."""

_STEPS: Final = (
    Pattern(8, r"[ \t]*Summary \["),  # cargo nextest
    Pattern(7, r"[ \t]*FAIL \[|FAILED |.{1,80}(?<!\.)\.{3,}+(?:\(.*\))?Failed$"),  # nextest, pre-commit
    Pattern(8, r"[ \t]{1,8}error(?:\[E\d+\])?: ", 1),  # what a test of a compiler expects
    Pattern(8, r"#\d+ (?:[\d.]+ )?(?:ERROR|error)\b|ERROR: |\[ERROR\]: "),  # BuildKit, Ansible
    Pattern(7, r"npm (?:ERR!|error) |error Command failed|[ \t]*ELIFECYCLE|\* What went wrong:|FAILURE: ", 2),
    Pattern(7, r"> Task :\S+ FAILED|FAIL: //|Execution failed for "),  # Gradle, Bazel
    Pattern(7, r"fatal: .*FAILED! "),  # Ansible
    Pattern(6, r"##\[error\]"),
    *_XTRACE,
    _words(8, "tests failed|test failed|tests run:|test run failed|failed=1|failed=2|failed=3"),
    _words(7, "failed to pass|No tests found|did not complete successfully|exit code|exited with|returned a non-zero"),
    _words(6, "exited (1)|to rerun pass|, got |but got |but was "),
)
"""Lines of a step of a CI run, which may have run anything."""

_SOURCES: Final = (
    # Definitions and declarations of common languages, those at the margin first.
    Pattern(
        6,
        r"(?:(?:export|default|public|pub|async|static|abstract|final|declare|typedef) )*"
        r"(?:class|interface|struct|enum|trait|impl|type|module|package|namespace|func|fn|def|function) \w",
    ),
    Pattern(4, r"[ /]?\*+!? \S|\"\"\"\S|//!? \S|#!"),
    Pattern(3, r"(?:(?:export|static) )?(?:const|var|let|val)? ?[A-Z][A-Z0-9_]{3,}\b.* ="),
    Pattern(2, r"[ \t]{1,8}(?:(?:public|pub|async|static) )*(?:def|fn|func|function|class) \w|[ \t]{1,4}\w+: function"),
)

_PAGES: Final = (
    _words(8, '<title|name="description"|property="og:description"'),
    _words(6, "<h1"),
    Pattern(6, r"# \S"),
    _words(4, "<h2|<h3"),
    Pattern(4, r"##+ \S"),
)

_MANUALS: Final = (
    Pattern(7, r"(?:NAME|SYNOPSIS)$", 2),
    Pattern(7, r"[Uu]sage: ", 1),
    Pattern(4, r"[A-Z][A-Z -]+$|[A-Z][\w -]+:$"),
)

_DATA: Final = (
    Pattern(6, r'[ \t]*"(?:error|errors|message|detail|reason|status|code|exception|fault)": '),
    Pattern(7, r'[ \t]*"(?:ename|evalue)": '),  # the error of a cell of a notebook
    Pattern(3, r'[ \t]*"(?:name|id|version|title|total|count|next)": '),
)

_YAML: Final = (
    Pattern(6, r"[ \t]*(?:- )?(?:errors?|message|detail|reason|exception|fault): "),
    Pattern(3, r"(?:apiVersion|kind|version|name|title): "),
)

_XML: Final = (Pattern(6, r"[ \t]*<(?:\w+:)?(?:message|reason|detail|status|fault\w*)[ >]"),)

PATTERNS: Final[dict[str, tuple[Pattern, ...]]] = {
    "test": (*_TESTS, *_TRACES, *_LOGS[-1:]),
    "compiler": (*_COMPILERS, *_TESTS, *_LOGS[:1]),
    "trace": (*_TRACES, *_LOGS),
    "log": (*_LOGS, *_TRACES, *_XTRACE),
    "step": (*_STEPS, *_TESTS, *_COMPILERS, *_TRACES, *_LOGS),
    "text": _MANUALS,
    "diff": _DIFFS,
    "source": _SOURCES,
    "page": _PAGES,
    "markdown": _PAGES,
    "csv": _LOGS[:1],
    "listing": (Pattern(6, r"\w+: (?:.*: )?(?:cannot|Permission denied|No such file|[Ee]rror)"),),
    "json": _DATA,
    "jsonl": _LOGS[:3],
    "yaml": _YAML,
    "xml": _XML,
}
"""The patterns of each kind. The kinds grep and opaque have no patterns. No output has the kind step: it names the
patterns for the sections that failed, in which anything may have run."""


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
