"""Mark and find the parts of a page's text: the pages of a PDF file, and the parts of a page's rest."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

# Pages: the offsets at which the pages of a PDF file begin, with their labels.
#
# The list is the artifact note `PAGES`: `0:i 1520:ii 4011:1`. So a passage says from which page it is.

PAGES: Final = "pages"
"""The artifact note with the list."""

PageStarts = tuple[tuple[int, str], ...]
"""Offsets in order, each with the label of the page that begins there."""

_LABEL = re.compile(r"[\w.-]{1,12}")
_START = re.compile(r"(\d{1,9}):([\w.-]{1,12})")


def clean_label(label: str, number: int) -> str:
    """Return a page's label, or its number if the label is empty, long or not one word."""
    return label if _LABEL.fullmatch(label) else str(number)


def format_page_starts(pages: Sequence[tuple[int, str]]) -> str:
    """Return the list as a note."""
    return " ".join(f"{offset}:{label}" for offset, label in pages)


def parse_page_starts(note: str) -> PageStarts:
    """Return the list in a note, empty for an artifact without pages."""
    return tuple((int(offset), label) for offset, label in _START.findall(note))


def find_page(pages: PageStarts, offset: int) -> str:
    """Return the label of the page that contains an offset, "" before the first page and without pages."""
    number = bisect_right(pages, offset, key=lambda start: start[0]) - 1
    return pages[number][1] if number >= 0 else ""


# The rest: each part of it is headed by a line that names its kind.
#
# The text of a page is its main part, then the rest: menus, related links, footers and whatever else was not judged to
# be content. Each part of the rest begins with a heading line that names its kind, so that a passage from it says from
# where.

RestKind = Literal[
    "navigation", "related links", "comments", "form", "footer", "byline", "captions", "advertisement", "dialog",
    "header", "sidebar", "share links", "embedded files", "other",
]  # fmt: skip

_MAX_HEADING: Final = 80
"""Characters of the page's heading in a part's line. Longer headings are sentences."""
_LINE = re.compile(r"^# \[rest: ([a-z ]+)(?:, under “.*”)?\]$", re.MULTILINE)
_ANY_LINE = re.compile(r"^# \[rest: .*\]$", re.MULTILINE)


class RestLine(NamedTuple):
    """The line above a part of the rest: the offsets `[start, end)` of the line in the page's text, and the kind."""

    start: int
    end: int
    kind: str


def format_rest_line(kind: RestKind, heading: str = "") -> str:
    """Return the line above a part of the rest: its kind, and the heading that it stood under on the page.

    `heading` is text without line breaks.
    """
    if len(heading) > _MAX_HEADING:
        heading = heading[:_MAX_HEADING].rstrip() + "…"
    return f"# [rest: {kind}, under “{heading}”]" if heading else f"# [rest: {kind}]"


def format_rest_cut(left_out: int) -> str:
    """Return the line at the end of a rest that was too long, with the number of characters left out."""
    return f"# [rest: cut here, {left_out:,} more characters were not kept]"


def count_rest_kinds(rest: str) -> tuple[tuple[str, int], ...]:
    """Return the kinds of parts in a page's rest, in order of first appearance, with the number of parts of each."""
    return tuple(Counter(match[1] for match in _LINE.finditer(rest)).items())


def describe_rest(rest: str) -> str:
    """Return the kinds of parts in a page's rest as a list in words: `navigation, 3 × related links, footer`."""
    return ", ".join(kind if count == 1 else f"{count} × {kind}" for kind, count in count_rest_kinds(rest))


WordlessKind = Literal["frame", "video", "audio file", "file", "icon without a name"]
"""Kinds of elements that have no text."""
_PLURALS: Final[dict[str, str]] = {
    "frame": "frames", "video": "videos", "audio file": "audio files", "file": "files",
    "icon without a name": "icons without a name",
}  # fmt: skip


def describe_wordless(counts: Sequence[tuple[str, int]]) -> str:
    """Return the numbers of elements without text in words: `2 frames, 1 video`. Other kinds are left out."""
    return ", ".join(
        f"{count:,} {kind if count == 1 else _PLURALS[kind]}" for kind, count in counts if kind in _PLURALS
    )


def find_rest_lines(text: str, main_end: int | None) -> tuple[RestLine, ...]:
    """Return the lines above the parts of a page's rest, which begins at `main_end`; () if `main_end` is None."""
    if main_end is None:
        return ()
    return tuple(RestLine(*match.span(), match[1]) for match in _LINE.finditer(text, main_end))


def blank_rest_lines(text: str, main_end: int | None) -> str:
    """Return the text with spaces instead of Keyhole's own lines in the rest, so that no query matches their words."""
    if main_end is None:
        return text
    return text[:main_end] + _ANY_LINE.sub(lambda match: " " * len(match[0]), text[main_end:])
