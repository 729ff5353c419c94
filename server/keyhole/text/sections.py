"""Find the place in a text that the fragment of an address names: a part of the page, a heading, words, a page."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, takewhile
from typing import Final
from urllib.parse import unquote

from keyhole.text.letters import lower
from keyhole.text.page_structure import PageStarts

SECTION: Final = "section"
"""The artifact note on the part that the fragment of the requested address names: a line of the words before it, which
tell parts with the same beginning apart, and a line of the words with which it begins."""
MAX_BEFORE: Final = 100
MAX_START: Final = 300
"""Characters of the two lines. A place in a text is found by the first 200 letters, mostly by 20."""
MAX_SECTION: Final = MAX_BEFORE + 1 + MAX_START

MAX_PLACES: Final = 1_000
_LENGTHS: Final = (200, 100, 50, 25, 12)
"""Letters and digits of a beginning that are compared, until a number of them is found: Markdown adds some, such as the
numbers of a list."""
_RUN: Final = re.compile(r"[^\W_]+")
_ADDED: Final = re.compile(r"\]\([^()\s]{0,2000}\)|&#?\w{1,8};|<br>|^[ >]{0,20}\d{1,4}\.(?= )", re.MULTILINE)
"""What Markdown has beside the words of the page: targets of links, references, numbers of lists."""
_COPY: Final = re.compile(r"-(\d{1,3})$")
_PAGE: Final = re.compile(r"(?:.*&)?page=(\d{1,6})")
_LINE: Final = re.compile(r"L(\d{1,7})(?:[-:CL]|$)")
_ROUTES: Final = ("/", "!", "?")
"""The first signs of a fragment that names another view of an application, not a place on the page."""


def is_name(fragment: str) -> bool:
    """Return True if a fragment names a place on the page."""
    return bool(fragment) and not fragment.startswith(_ROUTES)


def find_section(text: str, fragment: str, section: str, headings: Sequence[tuple[int, int]], pages: PageStarts) -> int:
    """Return the offset of the place in a text that a fragment names, -1 if it names none.

    `section`: the artifact note, "" if the page has no element of that name. `headings`: the offsets of the lines of
    headings. `pages`: where the pages of a PDF file begin.
    """
    name, _, directives = fragment.partition(":~:")
    quoted = [each.removeprefix("text=") for each in directives.split("&") if each.startswith("text=")]
    if quoted or section:
        searched = _Searched(text)
        at = next((place for each in quoted if (place := _find_words(searched, each)) >= 0), -1)
        if at < 0 and section:
            at = _find_start(searched, *section.split("\n", 1))
        if at >= 0:
            return _block_start(text, at, headings)
    if pages and (page := _PAGE.match(name)):
        return pages[min(int(page[1]) or 1, len(pages)) - 1][0]
    at = _find_heading(text, unquote(name), headings)
    return at if at >= 0 else _find_line(text, name)


class _Searched:
    """The letters and digits of a text in lower case, in which words are searched for without regard to markup."""

    def __init__(self, text: str) -> None:
        runs = [*_RUN.finditer(lower(_ADDED.sub(lambda added: " " * len(added[0]), text)))]
        self.letters = "".join(run[0] for run in runs)
        self._offsets = [run.start() for run in runs]
        self._places = [0, *accumulate(len(run[0]) for run in runs)]

    def find_all(self, words: str) -> list[int]:
        """Return the numbers of letters before the first places of words that begin with a word."""
        places: list[int] = []
        place = self.letters.find(words) if words else -1
        while place >= 0 and len(places) < MAX_PLACES:
            if self._is_word(place):
                places.append(place)
            place = self.letters.find(words, place + len(words))
        return places

    def count_before(self, place: int, words: str) -> int:
        """Return how many of the last letters of words stand before a place."""
        pairs = zip(reversed(words), reversed(self.letters[max(0, place - len(words)) : place]), strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    def offset(self, place: int) -> int:
        """Return the offset in the text of the letter after this number of letters."""
        run = bisect_right(self._places, place) - 1
        return self._offsets[run] + place - self._places[run]

    def _is_word(self, place: int) -> bool:
        return self._places[bisect_right(self._places, place) - 1] == place


def _letters(words: str) -> str:
    return "".join(_RUN.findall(lower(words)))


def _find_start(searched: _Searched, before: str, start: str) -> int:
    """Return the offset of the longest beginning of words that the text has, -1 if it lacks even a short one.

    Of several places, it is the one after the most of the words `before`.
    """
    letters, preceding = _letters(start), _letters(before)
    for length in (*(each for each in _LENGTHS if each < len(letters)), len(letters)):
        if places := searched.find_all(letters[:length]):
            return searched.offset(max(places, key=lambda at: searched.count_before(at, preceding)))
    return -1


def _find_words(searched: _Searched, directive: str) -> int:
    """Return the offset of the words of a text directive: `[prefix-,]start[,end][,-suffix]`, -1 if they are not there.

    The context decides between several places; where the text lacks it, the first place is taken.
    """
    parts = directive.split(",")
    before = _letters(unquote(parts.pop(0)[:-1])) if len(parts) > 1 and parts[0].endswith("-") else ""
    after = _letters(unquote(parts.pop()[1:])) if len(parts) > 1 and parts[-1].startswith("-") else ""
    start = _letters(unquote(parts[0]))
    after = after if len(parts) == 1 else ""  # it follows the end
    for prefix, suffix in ((before, after), (before, ""), ("", after), ("", "")):
        if start and (places := searched.find_all(prefix + start + suffix)):
            return searched.offset(places[0] + len(prefix))
    return -1


def _find_heading(text: str, name: str, headings: Sequence[tuple[int, int]]) -> int:
    """Return the offset of the heading from which a name was made, such as `the-second-part`, -1 if there is none."""
    letters = [_letters(text[start:end]) for start, end in headings]
    wanted = _letters(name)
    copy = _COPY.search(name)
    for each, number in ((wanted, 0), (_letters(name[: copy.start()]), int(copy[1])) if copy else (wanted, 0)):
        places = [start for (start, _), found in zip(headings, letters, strict=True) if each and found == each]
        if len(places) > number:
            return places[number]
    return -1


def _find_line(text: str, name: str) -> int:
    """Return the offset of a line that is named as on forges, `L10` or `L10-L20`, -1 if it is none."""
    match = _LINE.match(name)
    number = int(match[1]) if match else 0
    before = text.split("\n", number - 1) if number else []
    return len(text) - len(before[-1]) if number and len(before) == number else -1


def _block_start(text: str, offset: int, headings: Sequence[tuple[int, int]]) -> int:
    """Return the start of the line of an offset, or of the heading above it that nothing separates from it."""
    start = text.rfind("\n", 0, offset) + 1
    above = bisect_right(headings, start, key=lambda heading: heading[0]) - 1
    if above >= 0 and not text[headings[above][1] : start].strip():
        return headings[above][0]
    return start
