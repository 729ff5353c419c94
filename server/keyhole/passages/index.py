"""Index a page for queries: its windows, headings, blocks and lower-case text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Final

from keyhole.passages.blocks import CodeBlock, find_blocks, find_definitions
from keyhole.passages.gaps import Span
from keyhole.passages.languages import GUESS_SAMPLE_CHARS, count_function_words
from keyhole.passages.split import Heading, Layout, join_layouts, split
from keyhole.passages.words import WORD, fold
from keyhole.text.letters import is_inside_word, lower
from keyhole.text.page_structure import PageStarts, RestLine, blank_rest_lines, find_rest_lines

COMMON_SHARE: Final = 0.1
COMMON_MIN_WINDOWS: Final = 100
"""A word in more than this share of the windows, and in more than this many, distinguishes none of them. Its other
windows are not searched for, which saves a tenth of the time for a text of a megabyte."""

CACHED_WORDS: Final = 200
"""Words whose windows an index caches: the feedback of about six queries."""

_POST = re.compile(r"^\*\*[^*\n]{1,80}\*\* · [^\n]{4,120}$", re.MULTILINE)
"""The line above a post that Keyhole writes: `**name** · date · score`."""
_FORUM_POST = re.compile(r"^.{0,250}\bby \*\*[^*\n]{1,250}\*\* » .{4,80}$", re.MULTILINE)
"""The line above a post that forums of phpBB write: `by **name** » date`."""


class Index:
    """A page prepared for queries: its windows, headings, blocks, definitions, posts and lower-case text.

    Each is found once, when it is first needed: the main part and the rest are indexed alone, and the index of the
    whole page is put together from both.

    `main_end`: where the rest of the page begins in the text; None if all of it is the main part. `pages`: where the
    pages of a PDF file begin.
    """

    def __init__(self, text: str, main_end: int | None = None, pages: PageStarts = ()) -> None:
        self.text = text
        self.pages = pages
        self.main_end = main_end
        self._searchable: dict[bool, str] = {}
        self._windows_of: dict[tuple[bool, str], list[int]] = {}

    @cached_property
    def main(self) -> Index:
        """The index of the main part alone."""
        return self if self.main_end is None else Index(self.text[: self.main_end], None, self.pages)

    @cached_property
    def rest(self) -> Index | None:
        """The index of the rest alone, with offsets from its own beginning; None if all of the page is main."""
        return None if self.main_end is None else Index(self.text[self.main_end :], 0)

    @cached_property
    def layout(self) -> Layout:
        """The windows, headings and code blocks."""
        if not self.main_end or self.rest is None:
            return split(self.text)
        return join_layouts(self.main.layout, self.rest.layout, self.main_end)

    @cached_property
    def starts(self) -> list[int]:
        """The offsets of the windows."""
        return self.layout.starts

    @property
    def sample_text(self) -> str:
        """The beginning and the middle of the page, from which its language is guessed."""
        middle = len(self.text) // 2
        return self.text[:GUESS_SAMPLE_CHARS] + " " + self.text[middle : middle + GUESS_SAMPLE_CHARS]

    @cached_property
    def sample(self) -> tuple[dict[str, int], int]:
        """The counts of function words per language in a sample of the page, and the sample's size in words."""
        words = WORD.findall(lower(self.sample_text))
        return count_function_words(words), len(words)

    @cached_property
    def headings_at(self) -> list[int]:
        """Offsets of the heading lines, for bisection."""
        return [heading.start for heading in self.layout.headings]

    @cached_property
    def rest_lines(self) -> tuple[RestLine, ...]:
        """The lines above the parts of the rest of the page."""
        return find_rest_lines(self.text, self.main_end)

    @cached_property
    def blocks(self) -> list[Span]:
        """The offsets of the code blocks and tables, in order."""
        return find_blocks(self.text, self.layout.code)

    @cached_property
    def definitions(self) -> list[Span]:
        """The offsets of the definitions, in order."""
        return find_definitions(self.text, self.layout.code)

    @cached_property
    def posts(self) -> list[Span]:
        """The offsets of the lines that name the author of a post, in order; none if there is only one."""
        found = [match.span() for match in _POST.finditer(self.text)] if "** · " in self.text else []
        if "** » " in self.text:
            found += [match.span() for match in _FORUM_POST.finditer(self.text)]
        return sorted(found) if len(found) > 1 else []

    def heading_at(self, offset: int) -> Heading | None:
        """Return the heading that begins at an offset, None if none does."""
        number = bisect_right(self.headings_at, offset) - 1
        return self.layout.headings[number] if number >= 0 and self.headings_at[number] == offset else None

    def is_heading(self, start: int, end: int) -> bool:
        """Return whether a range begins with a heading and has nothing else."""
        heading = self.heading_at(start)
        return heading is not None and not self.text[heading.end : end].strip()

    def ends_with_heading(self, start: int, end: int) -> bool:
        """Return whether the last line of a range that has words is a heading."""
        number = bisect_right(self.headings_at, end - 1) - 1
        if number < 0 or self.headings_at[number] < start:
            return False
        return not self.text[self.layout.headings[number].end : end].strip()

    def block_at(self, offset: int) -> Span | None:
        """Return the code block or table that contains an offset, None if there is none."""
        number = bisect_right(self.blocks, offset, key=lambda block: block[0]) - 1
        return self.blocks[number] if number >= 0 and offset < self.blocks[number][1] else None

    def code_at(self, offset: int) -> CodeBlock | None:
        """Return the code block that contains an offset, None if there is none."""
        code = self.layout.code
        number = bisect_right(code, offset, key=lambda block: block.start) - 1
        return code[number] if number >= 0 and offset < code[number].end else None

    @property
    def size(self) -> int:
        """The number of windows."""
        return len(self.starts)

    def searchable_text(self, folded: bool) -> str:
        """Return the lower-case text, without accents if `folded`."""
        if folded not in self._searchable:
            low = lower(blank_rest_lines(self.text, self.main_end))
            self._searchable[folded] = fold(low) if folded else low
        return self._searchable[folded]

    def windows_with(self, word: str, folded: bool) -> list[int]:
        """Return the windows with a word that begins with `word`, none for a common word (`COMMON_SHARE`).

        Up to `CACHED_WORDS` results are cached.
        """
        windows = self._windows_of.get((folded, word))
        if windows is None:
            if len(self._windows_of) >= CACHED_WORDS:
                self._windows_of.clear()
            most = max(COMMON_MIN_WINDOWS, int(COMMON_SHARE * self.size))
            windows = list(islice(_find_windows(self, self.searchable_text(folded), word), most + 1))
            windows = windows if len(windows) <= most else []
            self._windows_of[folded, word] = windows
        return windows

    def end(self, window: int) -> int:
        """Return the end offset of a window."""
        return self.starts[window + 1] if window + 1 < len(self.starts) else len(self.text)

    def window_at(self, offset: int) -> int:
        """Return the window that contains an offset."""
        return bisect_right(self.starts, offset) - 1


def _find_windows(index: Index, text: str, word: str) -> Iterator[int]:
    offset = text.find(word)
    while offset >= 0:
        if is_inside_word(text, offset):
            offset = text.find(word, offset + 1)
        else:
            window = index.window_at(offset)
            yield window
            offset = text.find(word, index.end(window))
