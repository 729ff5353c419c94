"""Find the carriers of a passage: the lines around it without which it cannot be understood. Pure.

They are the term of a definition, the item that contains an item, the class that contains a function, the header row of
a table, the author of a post, and the version or date of an entry. A comment above a function has the function's line
below it. All of them are found from the stored text, most by its indentation.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import islice
from typing import Final

from keyhole.passages.gaps import Span
from keyhole.passages.indented_lines import Line, line_at, lines_above, lines_below
from keyhole.passages.index import Index
from keyhole.passages.plain_headings import VERSION
from keyhole.passages.split import Heading

SEARCH_CHARS: Final = 30_000
"""Characters searched backwards for the terms above a passage: the longest definitions of manuals have 20,000."""
SEARCH_LINES: Final = 300
"""The same for lines: it bounds the time for code and lists with thousands of short lines."""
MAX_TERMS: Final = 3
"""Maximum number of terms named above a passage: the innermost ones."""
MAX_TERM_CHARS: Final = 90
"""A line above an indented text is its term if it is at most this long. A longer line is a paragraph."""

SIGNATURE_CHARS: Final = 2_000
"""Characters searched backwards for the signature of what a passage describes: a long description of one function."""
MAX_SIGNATURE_CHARS: Final = 160
"""Characters of a signature, at most. A longer line is text."""

_ITEM = re.compile(r"(?:[-*+•]|\d{1,9}[.)])\s")
_DEFINES = re.compile(
    r"(?:export |pub |public |private |protected |static |async |abstract )*"
    r"(?:def|class|func|function|fn|impl|interface|struct|trait|enum|module|namespace)\b"
)
_CALLABLE = re.compile(r"(?!(?:if|for|while|switch|return)\b)[\w:<>*&~,\[\] \t]*\w\(|(?:[\w*]+ )*\w+ ?:?= ")
"""A line that declares a function or sets a name."""
_BRANCH = re.compile(r"(?:if|elif|else|for|while|with|try|except|finally|switch|case|do|catch)\b[^\n]*[:{]\s*$")
"""A line of code that begins a branch: what it contains is understood by the function around it."""
_COMMENT = re.compile(r"//|/?\*(?![*\w])|\*/|#(?!#)|--")
"""The beginning of a line of a comment. A `*` before a word is emphasis."""
_SIGNATURE = re.compile(
    r"(?:[^\s().]\S{0,60} ){0,5}\S{0,80}\w[?!=]?[`*_]{0,3}\([^()]{0,160}\)[`*_]{0,3}(?: ?(?:->|→|=>|⇒|:).{1,60})?;?"
)
"""A line that is nothing but the signature of a function or method, such as `#dump(io) → String`."""
_GROUP = re.compile(r"\| (?:[^|\\\n]|\\.){1,300}+\|")
"""A row with one cell."""
_RULE = re.compile(r"\s*\|[\s:|-]+")


def find_terms(index: Index, start: int) -> list[Span]:
    """Return the lines that a passage belongs to and that stand above it, outermost first.

    They are terms of definitions, items that contain the passage, and definitions of functions and classes.
    """
    text = index.text
    line = line_at(text, start)
    if (block := index.code_at(line.start)) is not None:
        line = line_at(text, block.start)
    indent = line.indent
    found: list[Span] = []
    is_description = text.startswith(": ", line.start)
    for above in islice(lines_above(text, line, start - SEARCH_CHARS), SEARCH_LINES):
        before, line = line, above
        if not (indent or is_description):
            break
        if line.is_blank:
            continue
        if is_description:
            if line.indent == indent and not text.startswith(": ", line.start):
                found.append((line.start, line.end))
                is_description = False
        elif line.indent < indent:
            is_description = text.startswith(": ", line.start)
            indent = line.indent
            if not is_description and _is_term(text, line, before):
                found.append((line.start, line.end))
    return found[:MAX_TERMS][::-1]


def _is_term(text: str, line: Line, after: Line) -> bool:
    """Return whether a line above a more indented one, the line `after`, is an item, a definition or a term."""
    words = text[line.start : min(line.end, line.start + MAX_TERM_CHARS + 1)]
    if words.startswith(("#", "|", "```", "~~~")) or _BRANCH.match(words):
        return False
    if _ITEM.match(words) or _DEFINES.match(words):
        return True
    is_adjacent = after.indent > line.indent and line.end + 1 == after.begin
    return is_adjacent and len(words) <= MAX_TERM_CHARS and words[-1] not in ".,;"


def find_entry(path: list[Heading], text: str) -> Heading | None:
    """Return the innermost of some headings that names a version or a date, None if none does."""
    for heading in reversed(path):
        if VERSION.match(text[heading.start : min(heading.end, heading.start + 200)].lstrip("#").strip()):
            return heading
    return None


def find_header(index: Index, start: int) -> Span | None:
    """Return the header row of the table in the middle of which a passage begins, None if it begins elsewhere."""
    text = index.text
    block = index.block_at(start)
    if block is None or block[0] >= start or text[block[0]] != "|" or text[start] != "|":
        return None
    row_end = text.find("\n", block[0], start)
    rule_end = text.find("\n", row_end + 1, start)
    has_rule = 0 <= row_end < rule_end and _RULE.fullmatch(text[row_end + 1 : rule_end])
    return (block[0], row_end) if has_rule else None


def find_group(index: Index, start: int) -> Span | None:
    """Return the row that heads the rows of a table from which a passage begins: the nearest one above of one cell.

    It must stand below a header row of several columns.
    """
    header = find_header(index, start)
    if header is None or _GROUP.fullmatch(index.text, *header):
        return None
    for line in islice(lines_above(index.text, line_at(index.text, start), header[1]), SEARCH_LINES):
        if _GROUP.fullmatch(index.text, line.start, line.end):
            return (line.start, line.end) if line.start > header[1] else None
    return None


def find_post(index: Index, start: int) -> Span | None:
    """Return the line with the author of the post in the middle of which a passage begins, None outside of posts."""
    number = bisect_left(index.posts, start, key=lambda post: post[0]) - 1
    return index.posts[number] if number >= 0 and start - index.posts[number][0] <= SEARCH_CHARS else None


def find_signature(index: Index, start: int) -> Span | None:
    """Return the signature of the function that a passage describes, None if there is none.

    Only the nearest short line above the passage is examined, in its section, sentences and blank lines left aside. It
    must be a paragraph of its own.
    Generated pages of APIs often write signatures as plain lines.
    """
    text = index.text
    number = bisect_right(index.headings_at, start) - 1
    top = max(start - SIGNATURE_CHARS, index.headings_at[number] if number >= 0 else 0)
    if text.find(")", top, start) < 0 or index.code_at(start) or _is_signature(text, line := line_at(text, start)):
        return None
    for above in islice(lines_above(text, line, top), SEARCH_LINES):
        is_short = above.start >= top and above.end - above.start <= MAX_SIGNATURE_CHARS
        if is_short and not above.is_blank and text[above.end - 1] not in ".,:!?":
            is_carrier = _is_signature(text, above) and _is_paragraph(text, above) and not index.code_at(above.start)
            return (above.start, above.end) if is_carrier else None
    return None


def _is_paragraph(text: str, line: Line) -> bool:
    """Return whether a line stands between blank lines, as lines of source code seldom do."""
    return not (text[max(0, line.begin - 2) : line.begin].strip("\n") or text[line.end : line.end + 2].strip("\n"))


def _is_signature(text: str, line: Line) -> bool:
    """Return whether a line is a signature and nothing else."""
    if line.end - line.start > MAX_SIGNATURE_CHARS:
        return False
    return _SIGNATURE.fullmatch(text, line.start, line.end) is not None


def find_documented(index: Index, start: int, end: int) -> Span | None:
    """Return the line of code that a comment describes, if a passage is in the comment; None if it is elsewhere.

    The line follows the comment directly, and defines something: a function, a class, a constant.
    """
    text = index.text
    first = line_at(text, start)
    if not _COMMENT.match(text, first.start):
        return None
    last = line_at(text, end - 1)
    for line in islice(lines_below(text, first, end + SEARCH_CHARS), SEARCH_LINES):
        if line.is_blank:
            return None
        if not _COMMENT.match(text, line.start):
            code = text[line.start : line.end]
            is_code = _DEFINES.match(code) or _CALLABLE.match(code)
            return (line.start, line.end) if is_code and line.start > last.start else None
    return None
