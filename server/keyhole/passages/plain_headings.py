"""Find the headings of plain text: of a changelog, a manual page or a standard. Pure.

A heading stands after an empty line, or is underlined. Markdown's own headings are found by `split.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Final, NamedTuple

from keyhole.passages.blocks import CodeBlock, is_in_code

MIN_HEADINGS: Final = 3
"""Lines of one form are headings if there are at least this many. Fewer are as likely a part of the text."""
MAX_SHARES: Final = {"version": 0.34, "underlined": 0.2, "number": 0.2, "capitals": 0.2}
"""For each form the largest share of the lines that are headings. More are a list or a table."""
NUMBER_CHARS: Final = 80
"""Characters of a heading with a number, at most: a longer line is an item of a list."""

MIN_COMMENT_SHARE: Final = 0.2
"""All lines with `#` are comments if a larger share of them is deeply indented or follows a line of the same level:
in Markdown there is text between two headings of one level."""
MAX_HEADING_INDENT: Final = 3
"""Spaces before a heading of Markdown, at most (CommonMark)."""

_HASH_LINE = re.compile(r"^([ \t]*)(#+)(?!\w)[^\n]*", re.MULTILINE)
_MARKDOWN = re.compile(r"\n\n#{1,6} \S")
_PARAGRAPH = re.compile(r"\n[ \t\r\f]*\n(?=\S)([^\n]{2,120})(?=\n|\Z)")
_UNDERLINE = re.compile(r"\n(?:={3,}|-{3,}|~{3,}|\^{3,}|\*{3,})[ \t\r]*(?=\n|\Z)")
_UNDERLINES: Final = "*=-~^"
"""Signs of underlines in the order of their levels. The first two signs have the same level."""

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DATE = (
    r"(?:19|20)\d\d(?P<s>[-/.]?)[01]\d(?P=s)[0-3]\d\b"
    rf"|(?:\w{{3,9}},? )?{_MONTH} {{1,2}}\d{{1,2}},? .{{0,20}}(?:19|20)\d\d\b"
    rf"|(?:\w{{3,9}}, )?\d{{1,2}} {_MONTH} (?:19|20)\d\d\b"
)
VERSION: Final = re.compile(
    rf"[*=#\[{{<+-]*\s?(?!\d+(?:\.\d+)*\.\s)(?:{_DATE}"
    r"|(?:[^\W\d_][\w'+.-]*:? ){0,5}(?:(?<=\s)\(|\[)?v?\d+\.\d[\w.+~:-]*[)\]>]?"
    rf"(?=[\s=*\]]*$|\s*[-–—:;(\[/=*>]|\s+to\s+v?\d|,?\s+(?:v?\d|{_MONTH}\b|\w+day\b|version|released?|(?:un)?stable)))",
    re.IGNORECASE,
)
"""The beginning of a line that names a version or a date, as entries of the files `NEWS` and `ChangeLog` begin."""
_SECTION_NUMBER = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?[ \t]+(?=[^\W\d_]|/).*[^.:;,\s]$")
_CAPITALS = re.compile(r"(?=.*[A-Z]{3})[A-Z][A-Z0-9 ,/&'()_-]{2,60}:?$")


class PlainHeading(NamedTuple):
    """A line `text[start:end]` that is a heading. `form`: a key of `MAX_SHARES`."""

    start: int
    end: int
    level: int
    form: str


def has_hash_comments(text: str, code: list[CodeBlock]) -> bool:
    """Return whether the lines that begin with `#` are comments of source code or of a configuration, not headings.

    `code`: the code blocks of the text, which do not count.
    """
    lines = [line for line in _HASH_LINE.finditer(text) if not is_in_code(code, line.start())] if "#" in text else []
    together = sum(before.end() + 1 == line.start() and before[2] == line[2] for before, line in pairwise(lines))
    indented = sum(len(line[1].expandtabs(4)) > MAX_HEADING_INDENT for line in lines)
    return bool(together + indented > MIN_COMMENT_SHARE * len(lines))


def find_plain_headings(text: str, *, has_comments: bool = False) -> list[PlainHeading]:
    """Return the headings of a text in order; none if it has headings of Markdown.

    `has_comments`: True if the lines that begin with `#` are comments.
    """
    markdown = islice(_MARKDOWN.finditer(text), MIN_HEADINGS)
    if not has_comments and text.startswith("#") + sum(1 for _ in markdown) >= MIN_HEADINGS:
        return []
    found: dict[int, PlainHeading] = {}
    for heading in (*_first_lines(text), *_underlined(text)):
        found[heading.start] = heading
    lines = text.count("\n") + 1
    forms = [heading.form for heading in found.values()]
    kept = {form for form, share in MAX_SHARES.items() if MIN_HEADINGS <= forms.count(form) <= share * lines}
    return sorted(heading for heading in found.values() if heading.form in kept)


def _first_lines(text: str) -> Iterator[PlainHeading]:
    """Yield the first lines of paragraphs that have the form of a heading."""
    for match in _PARAGRAPH.finditer(f"\n\n{text}"):
        line = match[1].rstrip()
        start = match.start(1) - 2
        number = _SECTION_NUMBER.match(line) if len(line) <= NUMBER_CHARS else None
        if number and not VERSION.match(line):
            yield PlainHeading(start, start + len(line), 2 + number[1].count("."), "number")
        elif VERSION.match(line):
            yield PlainHeading(start, start + len(line), 2, "version")
        elif _CAPITALS.match(line):
            yield PlainHeading(start, start + len(line), 2, "capitals")


def _underlined(text: str) -> Iterator[PlainHeading]:
    """Yield the lines with an underline that is at least half as long."""
    for match in _UNDERLINE.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        line = text[start : match.start()].strip()
        rule = match[0].strip()
        if line and text[start] not in " \t" and line[:3] != rule[:3] and len(line) <= 2 * len(rule) + 2:
            yield PlainHeading(start, match.start() + 1 + len(rule), max(1, _UNDERLINES.find(rule[0])), "underlined")
