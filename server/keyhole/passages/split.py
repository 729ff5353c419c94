"""Split a text into windows at borders: the ends of sentences, code lines, table rows, list items and blocks."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from keyhole.passages.blocks import CodeBlock, find_code_blocks, is_in_code
from keyhole.passages.json_items import JsonItem, find_json_items, line_starts
from keyhole.passages.plain_headings import PlainHeading, find_plain_headings, has_hash_comments

TARGET_CHARS: Final = 350
"""Target length of a window: two or three sentences, so about seven windows fit 2,000 characters."""

DENSE_TARGET_CHARS: Final = 150
"""Target length where a character is a syllable or a word (Chinese, Japanese)."""

BLOCK_MIN_SHARE: Final = 1.0
"""The end of a paragraph ends a window that has at least this share of the target."""

TERM_MIN_SHARE: Final = 0.5
"""The same before the term of a definition, and any share if the window is the end of a longer paragraph."""

STRETCH_TARGETS: Final = 1.6
"""Maximum target lengths of a short window that takes one more long sentence."""

WHOLE_TARGETS: Final = 4
"""Maximum target lengths of a code block or a table row that is not cut."""

HARD_TARGETS: Final = 2.4
"""Maximum target lengths of a sentence that is not cut. A longer one is cut at a clause or a space."""

WRAPPED_LINE_CHARS: Final = 60
"""A line this long that continues in lower case is a wrapped line."""

DENSE_SAMPLE_CHARS: Final = 4_000
DENSE_MIN_SHARE: Final = 0.3
"""A text is dense if this share of its first characters are Han or kana."""

_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def _stop_pattern(char: str) -> re.Pattern[str]:
    """Match one or more full stops with closing quotes and the space after them."""
    stops, closing = r"[.!?؟।॥۔…]{0,3}", r"[)\]\"'”’»]{0,3}"
    spaced_dots = r"(?:[.…]{1,4}[^\S\n]+)*"
    return re.compile(rf"{re.escape(char)}{stops}{closing}[^\S\n]+{spaced_dots}")


_LINES = re.compile(r"\n\s*")
_STOPS: Final = {
    **{char: _stop_pattern(char) for char in ".!?؟।॥۔…"},
    **{char: re.compile(char + r"[。！？｡]*[」』”’）\"]*") for char in "。！？｡"},
}
"""One pattern per stop: `re` searches fastest for a pattern that begins with a literal character."""

CHUNK_CHARS: Final = 50_000
"""Characters for which borders are collected and sorted at a time, to bound memory."""

_TERM = re.compile(r"[ \t]{0,12}+\S[^\n]{0,200}\n[ \t]*: ")
_TITLE = re.compile(r"(?:> ?|[ \t]){0,20}+\*\*[^*\n]{1,80}\*\*")
"""A line in bold type alone: the title of a note, or a heading that is none."""
_CLAUSE = re.compile(r"[,;:，；、：]\s?|\s")
_HEADING = re.compile(r"(#{1,6})[ \t]")

_MARK = re.compile(r"\s*(?:(?:>|[-*+])\s+)*(?:\d{1,9}|[a-zA-Z]|[ivxIVX]{1,5})")
MAX_MARK_CHARS: Final = 40
"""Longest mark of a list item with its indent."""

_LEAD_IN_ENDS: Final = (":", "：")
_LINE_ENDERS = ".!?:;|。！？।"
# A line that begins with inline code, emphasis, a link, a quote or a bracket may continue a paragraph.
_CONTINUES_PARAGRAPH = re.compile(r"[(\"'“«]|`(?!``)|\*{1,2}[^\s*]|_\w|\[[^\]\n]{1,80}\]\(")

_CLOSING: Final = frozenset(("}", "},", "};", "})", "});", "]", "],", "];", ")", "),", "end", "</li>", "</tr>"))
"""Lines that end a function, an object or an array in code: a long block is cut after them, or at blank lines."""

_SENTENCE, _LINE, _BLOCK = 0, 1, 2
_AVOID: Final = -1
_CODE: Final = -2
"""Borders at which a cut is avoided: after a lead-in or a term or inside a table row (`_AVOID`), and inside code
(`_CODE`)."""

MAX_HEADINGS: Final = 10_000
"""Later headings are treated as ordinary lines. The longest manuals have some thousands. A heading costs as much time
as 40 words, so a text of headings alone would take four times as long as prose."""


class Heading(NamedTuple):
    """A heading: the windows `[first, last)` of its section, and the offsets `[start, end)` of its line.

    A tuple, because tuples are created six times as fast as frozen dataclasses, and a page may have only headings.
    """

    first: int
    last: int
    level: int
    start: int
    end: int
    parent: int = -1
    """The number of the nearest preceding heading of a higher level; -1 for none."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The start offsets of a text's windows (the first is 0), its headings, code blocks and items of JSON, in order."""

    starts: list[int]
    headings: list[Heading]
    code: list[CodeBlock]
    json_items: list[JsonItem] = field(default_factory=list)


def split(text: str) -> Layout:
    """Split a text into windows; window i is `text[starts[i]:starts[i + 1]]`, and the last one ends with the text."""
    starts = [0]
    marks: list[tuple[int, int, int, int]] = []
    code = find_code_blocks(text)
    is_markdown = not has_hash_comments(text, code)
    plain = {heading.start: heading for heading in find_plain_headings(text, has_comments=not is_markdown)}
    target = _target_chars(text)
    hard, whole = int(target * HARD_TARGETS), target * WHOLE_TARGETS
    items = find_json_items(text, code, target, whole)
    item_lines = line_starts(text, items)
    small, stretch = target * BLOCK_MIN_SHARE, target * STRETCH_TARGETS
    begin = last = block = 0
    last_kind = _BLOCK
    for end, kind in _borders(text, code, items, item_lines):
        heading = None
        if last_kind > _SENTENCE and (plain or (is_markdown and text[last] == "#")) and len(marks) < MAX_HEADINGS:
            heading = _heading_at(text, last, code, plain)
        size = end - begin
        if heading is not None:
            follows_heading = bool(marks) and marks[-1][3] == last and size <= target
            if last > begin and not follows_heading and not (begin == 0 and text[:last].isspace()):
                starts.append(last)
                begin = last
            level, line_end = heading
            marks.append((len(starts) - 1, level, last, max(end, line_end)))
        elif size > target and last > begin and not (marks and marks[-1][3] == last):
            limit = whole if last_kind < 0 else stretch
            is_long_enough = last_kind > _SENTENCE or last - begin >= target * 0.6
            if size > limit or (last_kind >= 0 and is_long_enough):
                starts.append(last)
                begin = last
        if end - begin > hard and not ((kind < 0 or last_kind == _CODE) and end - begin <= whole):
            begin = _cut_run(text, begin, end, target, hard, starts)
        is_border = item_lines.get(end, False)
        if kind == _BLOCK:
            # A reader who looks for a term should not get the end of another definition first.
            is_part = begin > block or end - begin >= small * TERM_MIN_SHARE
            block = end
            is_full = end - begin >= small or (is_part and _TERM.match(text, end) is not None)
            is_border = is_full and heading is None and end < len(text)
        if is_border:
            starts.append(end)
            begin = end
        last, last_kind = end, kind
    return Layout(starts, _sections(marks, len(starts)), code, items)


def join_layouts(first: Layout, second: Layout, offset: int) -> Layout:
    """Return the layout of two texts, of which the second begins at an offset."""
    windows, headings, items = len(first.starts), len(first.headings), len(first.json_items)
    moved = [
        Heading(
            heading.first + windows,
            heading.last + windows,
            heading.level,
            heading.start + offset,
            heading.end + offset,
            heading.parent + headings if heading.parent >= 0 else -1,
        )
        for heading in second.headings
    ]
    return Layout(
        [*first.starts, *(start + offset for start in second.starts)],
        [*first.headings, *moved],
        [*first.code, *(CodeBlock(*(edge + offset for edge in block)) for block in second.code)],
        [
            *first.json_items,
            *(
                item._replace(
                    start=item.start + offset,
                    end=item.end + offset,
                    parent=item.parent + items if item.parent >= 0 else -1,
                )
                for item in second.json_items
            ),
        ],
    )


def _heading_at(
    text: str, offset: int, code: list[CodeBlock], plain: Mapping[int, PlainHeading]
) -> tuple[int, int] | None:
    """Return the level of the heading at an offset and the end of its line; None where there is none."""
    if plain:
        return (found.level, found.end) if (found := plain.get(offset)) else None
    heading = _HEADING.match(text, offset)
    if heading is None or is_in_code(code, offset):
        return None
    return len(heading.group(1)), text.find("\n", offset)


def sentence_ends(text: str, start: int, end: int) -> list[int]:
    """Return the ends of the sentences and lines, of code too, of `text[start:end]`; the last one is `end`."""
    piece = text[start:end]
    code = find_code_blocks(piece)
    return [start + offset for offset, kind in _borders(piece, code) if kind != _AVOID or offset == len(piece)]


def _target_chars(text: str) -> int:
    sample = text[:DENSE_SAMPLE_CHARS]
    dense = len(_DENSE.findall(sample)) > DENSE_MIN_SHARE * len(sample)
    return DENSE_TARGET_CHARS if dense else TARGET_CHARS


def _borders(
    text: str, code: list[CodeBlock], items: Sequence[JsonItem] = (), item_lines: Container[int] = ()
) -> Iterator[tuple[int, int]]:
    """Yield the ends of sentences, lines and blocks with their kinds.

    `items`, `item_lines`: the items of JSON, and the offsets of the lines that begin with them.
    """
    # The line breaks before the fences, so that an odd number of them is before each line of code.
    fences = [edge - 1 for block in code for edge in (block.start, block.closing)]
    in_json = {bisect_left(fences, item.start) for item in items if item.parent < 0}
    length = len(text)
    last = line = 0
    for start, end in _candidates(text):
        if end >= length or end <= last:
            continue
        number = bisect_left(fences, start) if fences else 0
        in_code = number % 2 == 1
        if text[start] == "\n":
            if in_code and _touches_fence(fences, number, line, end):
                line = end
                continue
            code_chars = fences[number] - fences[number - 1] if in_code and number < len(fences) else in_code * length
            kind = _line_kind(text, line, start, end, code_chars)
            if kind is None:
                continue
            line = end
            if in_code or text[end] != "#":  # the first line of a passage keeps its indent, unless it is a heading
                end = text.rfind("\n", start, end) + 1
            if number in in_json:
                kind = _LINE if end in item_lines else _CODE
        # A full stop that only belongs to the number of a list item, such as `3. `, ends no sentence.
        elif (
            in_code
            or (text[end].islower() and end - last < 2 * TARGET_CHARS)
            or (start - line <= MAX_MARK_CHARS and _MARK.fullmatch(text[line:start]))
        ):
            continue
        else:
            kind = _AVOID if text[line] == "|" else _SENTENCE
        yield end, kind
        last = end
    if length:
        yield length, _BLOCK


def _touches_fence(fences: list[int], number: int, line: int, end: int) -> bool:
    """Return whether a line break follows the opening fence of a code block or precedes the closing one.

    A window that ended there would show a fence and none of the code. `number`: of the closing fence.
    """
    return line <= fences[number - 1] + 1 or (number < len(fences) and end > fences[number])


def _line_kind(text: str, line: int, start: int, end: int, code_chars: int) -> int | None:
    """Return the kind of the border at a line break; None for a line break that only wraps a paragraph.

    `code_chars`: the length of the code block that contains the line; 0 outside of code.
    """
    is_blank = text.count("\n", start, end) > 1
    if code_chars:
        is_long = code_chars > WHOLE_TARGETS * TARGET_CHARS
        return _LINE if is_long and (is_blank or text[line:start].strip() in _CLOSING) else _CODE
    if not is_blank and _is_wrapped(text, line, start, end):
        return None
    if text[start - 1 : start] in _LEAD_IN_ENDS or text.startswith(": ", end) or _TITLE.fullmatch(text, line, start):
        return _AVOID
    return _BLOCK if is_blank else _LINE


def _candidates(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of stops and line breaks in order; spans may overlap."""
    patterns = [_LINES, *(pattern for char, pattern in _STOPS.items() if char in text)]
    begin = 0
    while begin < len(text):
        end = begin + CHUNK_CHARS
        line = text.find("\n", end, end + CHUNK_CHARS)
        end = end if line < 0 else line
        spans = [match.span() for pattern in patterns for match in pattern.finditer(text, begin, end)]
        spans.sort()
        yield from spans
        begin = end


def _is_wrapped(text: str, line: int, start: int, end: int) -> bool:
    """Return whether a line break only wraps a paragraph: it follows a long line and does not begin a block."""
    return (
        start - line > WRAPPED_LINE_CHARS
        and text[start - 1] not in _LINE_ENDERS
        and (text[end].islower() or _CONTINUES_PARAGRAPH.match(text, end) is not None)
    )


def _cut_run(text: str, begin: int, end: int, target: int, hard: int, starts: list[int]) -> int:
    """Cut a run without borders near the target length, and return the start of its last piece."""
    while end - begin > hard:
        cut = begin + target
        for match in _CLAUSE.finditer(text, begin + target // 2, begin + 2 * target):
            cut = match.end()
            if cut - begin >= target:
                break
        while cut < end and _is_continuation(text[cut]):
            cut += 1
        if cut >= end:
            break
        starts.append(cut)
        begin = cut
    return begin


def _is_continuation(char: str) -> bool:
    """Return whether a character belongs to the previous one: a combining mark or a low surrogate."""
    return unicodedata.category(char)[0] == "M" or "\udc00" <= char <= "\udfff"


def _sections(marks: list[tuple[int, int, int, int]], windows: int) -> list[Heading]:
    """Return the headings of marks `(first, level, start, end)`; a section ends at the next heading not below it."""
    ends: list[int] = [windows] * len(marks)
    parents: list[int] = []
    open_sections: list[int] = []
    for i, (window, level, _, _) in enumerate(marks):
        while open_sections and marks[open_sections[-1]][1] >= level:
            ends[open_sections.pop()] = window
        parents.append(open_sections[-1] if open_sections else -1)
        open_sections.append(i)
    return [
        Heading(window, max(ends[i], window + 1), level, start, end, parents[i])
        for i, (window, level, start, end) in enumerate(marks)
    ]
