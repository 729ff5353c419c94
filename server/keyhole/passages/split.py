"""Cut a text into windows: short runs of whole sentences, code, rows and items kept together."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

TARGET_CHARS: Final = 350
"""Length a window grows to: two or three sentences, so 2,000 characters buy seven places."""

DENSE_TARGET_CHARS: Final = 150
"""The same where a character is a syllable or a word (Chinese, Japanese)."""

BLOCK_MIN_SHARE: Final = 1.0
"""A paragraph closes a window once the window has this share of the target."""

STRETCH: Final = 1.6
"""A short window takes one more long sentence up to this many targets, rather than end small."""

WHOLE_TARGETS: Final = 4
"""Code blocks and table rows stay whole up to this many targets, sentences up to `HARD`."""

HARD_TARGETS: Final = 2.4
"""A run without any border is cut, at a clause or a space, once it is this many targets long."""

WRAPPED_LINE_CHARS: Final = 60
"""A line this long that goes on in lower case is a wrapped line, not the end of anything."""

DENSE_SAMPLE_CHARS: Final = 4_000
DENSE_MIN_SHARE: Final = 0.3
"""A text is dense when this share of its first characters are Han or kana."""

_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def _stop(char: str) -> re.Pattern[str]:
    """A full stop (or several, or with closing quotes) and the space after it."""
    stops, closing = r"[.!?؟।॥۔…]{0,3}", r"[)\]\"'”’»]{0,3}"
    spaced_dots = r"(?:[.…]{1,4}[^\S\n]+)*"
    return re.compile(rf"{re.escape(char)}{stops}{closing}[^\S\n]+{spaced_dots}")


_LINES = re.compile(r"\n\s*")
_STOPS: Final = {
    **{char: _stop(char) for char in ".!?؟।॥۔…"},
    **{char: re.compile(char + r"[。！？｡]*[」』”’）\"]*") for char in "。！？｡"},
}
"""One pattern per stop: a pattern that begins with a letter is searched at the speed of C."""

CHUNK_CHARS: Final = 50_000
"""Borders are collected and sorted for this much text at a time, to bound memory."""

_CLAUSE = re.compile(r"[,;:，；、：]\s?|\s")
_FENCE = re.compile(r"\n(?:```|~~~)")
_HEADING = re.compile(r"(#{1,6})[ \t]")

_LINE_ENDERS = ".!?:;|。！？।"
# Inline code, emphasis, a link or a bracket at the beginning of a line; list items, tables and fences are not.
_PARAGRAPH_GOES_ON = re.compile(r"[(\"'“«]|`(?!``)|\*{1,2}[^\s*]|_\w|\[[^\]\n]{1,80}\]\(")

_SENTENCE, _LINE, _BLOCK = 0, 1, 2
_AVOID: Final = -1
_CODE: Final = -2
"""Borders at which a cut is avoided: after a lead-in or inside a row, and inside code."""


MAX_HEADINGS: Final = 10_000
"""Headings after these are lines like others: the longest manuals have some thousands, and each costs what 40 words
do, so that a text of nothing else would take four times as long as prose."""


class Heading(NamedTuple):
    """A Markdown heading line: the windows of its section, and where its line is. A tuple, as a page may be made
    of nothing but headings, and tuples are made six times as fast as frozen dataclasses."""

    first: int
    last: int
    """One past the last window of the section."""
    level: int
    start: int
    end: int
    parent: int = -1
    """The number of the nearest heading above of a higher level; -1 for none."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The windows of a text, as their starts (the first is 0), and its headings in order."""

    starts: list[int]
    headings: list[Heading]


def split(text: str) -> Layout:
    """Windows that joined are the text: window i is `text[starts[i]:starts[i + 1]]`."""
    starts = [0]
    marks: list[tuple[int, int, int, int]] = []
    target = _target(text)
    hard, whole = int(target * HARD_TARGETS), target * WHOLE_TARGETS
    small, stretch = target * BLOCK_MIN_SHARE, target * STRETCH
    begin = last = 0
    last_kind = _BLOCK
    for end, kind in _borders(text):
        heading = _HEADING.match(text, last) if last_kind > _SENTENCE and len(marks) < MAX_HEADINGS else None
        size = end - begin
        if heading is not None:
            stacked = bool(marks) and marks[-1][3] == last and size <= target
            if last > begin and not stacked:
                starts.append(last)
                begin = last
            line_end = text.find("\n", last)
            marks.append((len(starts) - 1, len(heading.group(1)), last, max(end, line_end)))
        elif size > target and last > begin and not (marks and marks[-1][3] == last):
            limit = whole if last_kind < 0 else stretch
            long_enough = last_kind > _SENTENCE or last - begin >= target * 0.6
            if size > limit or (last_kind >= 0 and long_enough):
                starts.append(last)
                begin = last
        if end - begin > hard and not ((kind < 0 or last_kind == _CODE) and end - begin <= whole):
            begin = _cut(text, begin, end, target, hard, starts)
        if kind == _BLOCK and end - begin >= small and heading is None and end < len(text):
            starts.append(end)
            begin = end
        last, last_kind = end, kind
    return Layout(starts, _sections(marks, len(starts)))


def sentence_ends(text: str, start: int, end: int) -> list[int]:
    """Where the sentences and lines of a window end, its own end last."""
    piece = text[start:end]
    return [start + offset for offset, kind in _borders(piece) if kind >= 0 or offset == len(piece)]


def _target(text: str) -> int:
    sample = text[:DENSE_SAMPLE_CHARS]
    dense = len(_DENSE.findall(sample)) > DENSE_MIN_SHARE * len(sample)
    return DENSE_TARGET_CHARS if dense else TARGET_CHARS


def _borders(text: str) -> Iterator[tuple[int, int]]:
    """Ends of sentences, lines and blocks; `_AVOID` and `_CODE` mark those at which a cut is avoided."""
    fences = [found.start() for found in _FENCE.finditer(text)]
    if text.startswith(("```", "~~~")):
        fences.insert(0, -1)
    length = len(text)
    last = line = 0
    for start, end in _candidates(text):
        if end >= length or end <= last:
            continue
        in_code = bool(fences) and bisect_left(fences, start) % 2 == 1
        if text[start] == "\n":
            kind = _line_kind(text, line, start, end, in_code)
            if kind is None:
                continue
            line = end
        elif in_code or (text[end].islower() and end - last < 2 * TARGET_CHARS):
            continue
        else:
            kind = _AVOID if text[line] == "|" else _SENTENCE
        yield end, kind
        last = end
    if length:
        yield length, _BLOCK


def _line_kind(text: str, line: int, start: int, end: int, in_code: bool) -> int | None:
    """What a line break at `start` ends; None for one that only wraps a paragraph."""
    if in_code:
        return _CODE
    blank = text.count("\n", start, end) > 1
    if not blank and _wraps(text, line, start, end):
        return None
    if text[start - 1 : start] == ":":
        return _AVOID
    return _BLOCK if blank else _LINE


def _candidates(text: str) -> Iterator[tuple[int, int]]:
    """Spans of stops and line breaks, in order; two may overlap."""
    patterns = [_LINES, *(pattern for char, pattern in _STOPS.items() if char in text)]
    begin = 0
    while begin < len(text):
        end = begin + CHUNK_CHARS
        line = text.find("\n", end, end + CHUNK_CHARS)
        end = end if line < 0 else line
        spans = [found.span() for pattern in patterns for found in pattern.finditer(text, begin, end)]
        spans.sort()
        yield from spans
        begin = end


def _wraps(text: str, line: int, start: int, end: int) -> bool:
    """Whether a line break is only the wrapping of a paragraph: after a long line that ends nothing, before one
    that begins no block of its own."""
    return (
        start - line > WRAPPED_LINE_CHARS
        and text[start - 1] not in _LINE_ENDERS
        and (text[end].islower() or _PARAGRAPH_GOES_ON.match(text, end) is not None)
    )


def _cut(text: str, begin: int, end: int, target: int, hard: int, starts: list[int]) -> int:
    """Cut a run without borders near the target length; returns where its last piece begins."""
    while end - begin > hard:
        cut = begin + target
        for found in _CLAUSE.finditer(text, begin + target // 2, begin + 2 * target):
            cut = found.end()
            if cut - begin >= target:
                break
        while cut < end and _joins(text[cut]):
            cut += 1
        if cut >= end:
            break
        starts.append(cut)
        begin = cut
    return begin


def _joins(char: str) -> bool:
    """Whether a character belongs to the one before it (combining marks, low surrogates)."""
    return unicodedata.category(char)[0] == "M" or "\udc00" <= char <= "\udfff"


def _sections(marks: list[tuple[int, int, int, int]], windows: int) -> list[Heading]:
    """Headings with the end of their sections: the next heading of the same or a higher level."""
    ends: list[int] = [windows] * len(marks)
    parents: list[int] = []
    still_open: list[int] = []
    for i, (window, level, _, _) in enumerate(marks):
        while still_open and marks[still_open[-1]][1] >= level:
            ends[still_open.pop()] = window
        parents.append(still_open[-1] if still_open else -1)
        still_open.append(i)
    return [
        Heading(window, max(ends[i], window + 1), level, start, end, parents[i])
        for i, (window, level, start, end) in enumerate(marks)
    ]
