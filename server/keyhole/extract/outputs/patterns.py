"""The lines of an output that every reader looks for, by its kind: failures, their causes and the summary.

Each pattern matches whole lines and has a weight. The weights only order the lines: 9 for a summary or a final error, 8
for a failing assertion or the first error, 7 for the name of a failure, less for what surrounds them. Each pattern
follows the format of a program that is named beside it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple


class Pattern(NamedTuple):
    """A pattern for lines, the weight of a line, and how many following lines belong to it."""

    weight: float
    lines: re.Pattern[str]
    following: int = 0


class _Form(NamedTuple):
    """A pattern that is not compiled yet. Each kind needs few of them, and a hook runs once for each output."""

    weight: float
    lines: str
    following: int = 0


_TRACES: Final = (
    _Form(9, r"(?:[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning)|Exception in thread .*)(?:: |$)"),
    _Form(9, r"Caused by: "),  # Java
    _Form(9, r"panic: |fatal error: "),  # Go
    _Form(9, r"thread '.*' (?:\(\d+\) )?panicked at ", 3),  # Rust
    _Form(8, r"\S+:\d+$", 4),  # Node: the place, the line of source and the caret
    _Form(5, r"Traceback \(most recent call last\):"),
    _Form(3, r"[ \t]+File \".*\", line \d+", 1),
    _Form(2, r"[ \t]+at \S"),
)

_TESTS: Final = (
    # pytest
    _Form(9, r"=+ (?:.*[, ])?\d+ (?:failed|errors?|passed|skipped|deselected|xfailed)\b"),
    _Form(8, r"E  +(?!\+|-)\S"),
    _Form(5, r"E  "),
    _Form(7, r"(?:FAILED|ERROR) \S+"),
    _Form(6, r">  "),
    _Form(5, r"_{3,} \S.* _{3,}$"),
    _Form(4, r"\S+\.py:\d+: \w+"),
    # unittest
    _Form(9, r"Ran \d+ tests? in |FAILED \(|OK(?: \(|$)"),
    _Form(7, r"(?:FAIL|ERROR): "),
    # jest, vitest, mocha, node --test, TAP
    _Form(9, r"[ \t]*(?:Tests|Test Suites|Test Files|Snapshots):? +\d|[ \t]*\d+ (?:passing|failing|pending)\b"),
    _Form(9, r"(?:#|ℹ) (?:tests|pass|fail) [1-9]"),
    _Form(8, r"[ \t]*(?:\+ )?(?:Expected|Received|expected|actual|received)\b.*:"),
    _Form(8, r"[ \t]*(?:Assertion|Type|Reference|Range|Syntax)?Error(?: \[\w+\])?:"),
    _Form(7, r"[ \t]*● |[ \t]*(?:✕|✗|×|✖) |[ \t]*not ok |[ \t]*FAIL "),
    _Form(5, r"[ \t]*> *\d+ \|", 1),
    # cargo test
    _Form(9, r"test result: "),
    _Form(8, r"[ \t]*(?:left|right): |assertion .*failed"),
    _Form(6, r"test .* \.\.\. FAILED"),
    # go test
    _Form(8, r"[ \t]+\S+_test\.go:\d+: "),
    _Form(7, r"[ \t]*--- FAIL: |FAIL\s|panic: "),
)

_COMPILERS: Final = (
    _Form(
        9, r"Found \d+ |\d+ errors? |error: (?:could not compile|aborting)|.*\b\d+ (?:errors?|problems?)\b.*generated"
    ),
    _Form(8, r"\S+?:\d+(?::\d+)?: (?:fatal )?error\b", 2),  # gcc, clang, mypy
    _Form(8, r"error(?:\[E\d+\])?: ", 1),  # rustc
    _Form(8, r"\S+\(\d+,\d+\): error |\S+:\d+:\d+ - error "),  # tsc
    _Form(8, r".*\bundefined reference to\b|.*: error: "),
    _Form(7, r"\S*make\S*: \*\*\* |FAILED: |collect2: error|\[ERROR\] "),
    _Form(6, r"[ \t]*-->"),
    _Form(6, r"\S+:\d+:\d+: [A-Z]+\d+ |[A-Z]+\d{3,4} ", 1),  # ruff
    _Form(3, r"\S+?:\d+(?::\d+)?: warning|warning(?::|\[)|.*: warning: "),
)

_DIFFS: Final = (
    _Form(9, r" \d+ files? changed"),
    _Form(6, r"diff --git |Only in |Binary files "),
    _Form(5, r"--- \S", 1),
    _Form(4, r" \S.* \| +(?:\d+|Bin)"),
    _Form(4, r"commit [0-9a-f]{7,}", 5),
    _Form(3, r"@@ ", 6),
)

_LOGS: Final = (
    _Form(7, r".*\b(?:FATAL|CRITICAL|EMERG|ALERT|ALARM|PANIC|panic|Segmentation fault|core dumped|Out of memory)\b"),
    _Form(7, r".*(?:\bMain process exited\b|\bFailed with result\b|\bstatus=[1-9])"),  # systemd
    _Form(6, r".*\b(?:ERROR|ERR!|Error|error|Exception|FAILED|Failed|failed|failure)\b"),
    _Form(5, r".*\b(?:[Dd]enied|refused|[Tt]imed? ?out|[Cc]annot|[Cc]ould not|[Uu]nable to|No such file|not found)\b"),
    _Form(5, r".*\b(?:Successfully|[Ff]inished|[Cc]ompleted|[Ss]ummary|[Tt]otal|upgraded|up to date|added \d)\b"),
    _Form(3, r".*\b(?:WARN|WARNING|Warning|warning|deprecated)\b"),
)

_SOURCES: Final = (
    # Definitions and declarations of common languages, those at the margin first.
    _Form(
        6,
        r"(?:(?:export|default|public|pub|async|static|abstract|final|declare|typedef) )*"
        r"(?:class|interface|struct|enum|trait|impl|type|module|package|namespace|func|fn|def|function) \w",
    ),
    _Form(4, r"[ /]?\*+!? \S|\"\"\"\S|//!? \S|#!"),
    _Form(3, r"(?:(?:export|static) )?(?:const|var|let|val)? ?[A-Z][A-Z0-9_]{3,}\b.* ="),
    _Form(2, r"[ \t]{1,8}(?:(?:public|pub|async|static) )*(?:def|fn|func|function|class) \w|[ \t]{1,4}\w+: function"),
)

_PAGES: Final = (
    _Form(8, r"[ \t]*<title\b|.*<meta [^>]*description"),
    _Form(6, r".*<h1\b|# \S"),
    _Form(4, r".*<h[23]\b|##+ \S"),
)

_DATA: Final = (
    _Form(6, r'[ \t]*"(?:error|errors|message|detail|reason|status|code|exception|fault)": '),
    _Form(3, r'[ \t]*"(?:name|id|version|title|total|count|next)": '),
)

_FORMS: Final[dict[str, tuple[_Form, ...]]] = {
    "test": (*_TESTS, *_TRACES, *_LOGS[-1:]),
    "compiler": (*_COMPILERS, *_LOGS[:1]),
    "trace": (*_TRACES, *_LOGS),
    "log": (*_LOGS, *_TRACES),
    "text": _LOGS,
    "diff": _DIFFS,
    "source": _SOURCES,
    "page": _PAGES,
    "markdown": _PAGES,
    "csv": _LOGS[:3],
    "listing": _LOGS[:3],
    "json": _DATA,
    "jsonl": _LOGS[:3],
}
"""The patterns of each kind. The kinds grep and opaque have no patterns."""


@cache
def patterns_of(kind: str) -> tuple[Pattern, ...]:
    """Return the patterns of a kind."""
    return tuple(
        Pattern(form.weight, re.compile(rf"^(?:{form.lines}).*$", re.MULTILINE), form.following)
        for form in _FORMS.get(kind, ())
    )
