"""Index a page, and find the hits of a query's terms in its windows."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Final

from keyhole.passages.blocks import CodeBlock, Definition, find_blocks, find_definitions
from keyhole.passages.languages import GUESS_SAMPLE_CHARS, count_function_words
from keyhole.passages.query import Match, Query, Term, stem_word
from keyhole.passages.split import Layout, split
from keyhole.passages.words import WORD, WORD_TAIL, fold
from keyhole.text.lower_case import lower
from keyhole.text.page_starts import PageStarts
from keyhole.text.rest import RestLine, blank_rest_lines, find_rest_lines

Span = tuple[int, int]
"""Start and end offsets of a verbatim passage."""

INFLECTED_WEIGHT: Final = 0.6
"""Weight of a word that begins with the needle and is at most `INFLECTION_CHARS` longer."""

COMPOUND_WEIGHT: Final = 0.5
"""Weight of a longer word that begins with the needle or contains it (Haustür for Tür, Türschloss for Tür)."""

MISSPELT_WEIGHT: Final = 0.5
"""Weight of a word one letter away from a term that is not on the page."""

INFLECTION_CHARS: Final = 4
"""The longest ending that counts as an inflection; a longer ending makes another word."""

INFLECTED_MIN_CHARS: Final = 4
COMPOUND_MIN_CHARS: Final = 5
"""Minimum lengths of a needle for these weights: unrelated words share shorter beginnings."""

INNER_MIN_CHARS: Final = 4
INNER_LANGUAGES: Final = frozenset(("ar", "da", "de", "fa", "fi", "hu", "nl", "no", "sv", "xx"))
"""Languages that join compounds or articles into one word: a term may start inside a word."""

MISSPELT_MIN_CHARS: Final = 5

MAX_HITS: Final = 20_000
"""Hits of one term that are examined one by one. After them one hit per window is enough, because so frequent a word
distinguishes little. This bounds the cost of a repeated word by the number of windows."""

MAX_FORMS: Final = 500
"""Different words that are stemmed for one term. After them, only the length of a word is compared."""

MAX_PLACE_CHARS: Final = 100
"""Characters read beyond a range to find the words that begin at its end. Longer words are rare, and not natural."""

CACHED_WORDS: Final = 200
"""Words whose windows an index caches: the feedback of about five queries."""

_TAIL: Final = re.compile(WORD_TAIL)


class Index:
    """A page prepared for queries: its windows, headings and lower-case text.

    `main_end`: where the rest of the page begins in the text; None if all of it is the main part. `pages`: where the
    pages of a PDF file begin.
    """

    def __init__(self, text: str, main_end: int | None = None, pages: PageStarts = ()) -> None:
        self.text = text
        self.pages = pages
        self.main_end = main_end
        self.layout: Layout = split(text)
        self.starts = self.layout.starts
        self._searchable: dict[bool, str] = {}
        self._windows_of: dict[tuple[bool, str], list[int]] = {}

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
    def definitions(self) -> list[Definition]:
        """The definitions, in order."""
        return find_definitions(self.text, self.layout.code)

    def has_heading_at(self, offset: int) -> bool:
        """Return whether a heading begins at an offset."""
        number = bisect_right(self.headings_at, offset) - 1
        return number >= 0 and self.headings_at[number] == offset

    def is_heading(self, start: int, end: int) -> bool:
        """Return whether a range begins with a heading and has nothing else."""
        number = bisect_right(self.headings_at, start) - 1
        return self.has_heading_at(start) and not self.text[self.layout.headings[number].end : end].strip()

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
        """Return the windows with a word that begins with `word`; up to `CACHED_WORDS` results are cached."""
        windows = self._windows_of.get((folded, word))
        if windows is None:
            if len(self._windows_of) >= CACHED_WORDS:
                self._windows_of.clear()
            windows = list(_find_windows(self, self.searchable_text(folded), word))
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
        if offset and text[offset - 1].isalnum():
            offset = text.find(word, offset + 1)
        else:
            window = index.window_at(offset)
            yield window
            offset = text.find(word, index.end(window))


@dataclass(slots=True)
class Hits:
    """The hits of a term: their number, and their weight by window and by heading."""

    term: Term
    count: int = 0
    windows: dict[int, float] = field(default_factory=dict)
    headings: dict[int, float] = field(default_factory=dict)


def find_hits(index: Index, term: Term, language: str, folded: bool) -> Hits:
    """Find the hits of a term, or if it has none, the hits of words one letter away."""
    text = index.searchable_text(folded)
    hits = _collect(index, term, text, _find_occurrences(text, term, language))
    if not hits.count and term.match is Match.STEM:
        hits = _collect(index, term, text, _misspelt_hits(text, fold(term.surface)))
    return hits


Occurrence = tuple[int, float]
"""Offset and weight of a hit."""


def find_places(index: Index, term: Term, query: Query, ranges: Iterable[Span]) -> Iterator[Span]:
    """Yield the places `[start, end)` of the words within ranges of the text that `find_hits` counts as hits of a term.

    A word that ends after its range is yielded as far as the range reaches.
    """
    text = index.searchable_text(query.folded)
    is_misspelt = term.match is Match.STEM and next(_find_occurrences(text, term, query.language), None) is None
    for start, end in ranges:
        first = max(0, start - 1)  # the character before a word decides whether it is the word's beginning
        piece = text[first : end + MAX_PLACE_CHARS]
        found = (
            _misspelt_hits(piece, fold(term.surface)) if is_misspelt else _find_occurrences(piece, term, query.language)
        )
        for place, _ in found:
            tail = _TAIL.match(piece, place) if term.match is Match.STEM else None
            begin, after = first + place, first + (tail.end() if tail else place + len(term.needle))
            if start <= begin < end:
                yield begin, min(after, end)


def _collect(index: Index, term: Term, text: str, occurrences: Iterator[Occurrence]) -> Hits:
    """Map hits to windows and headings; after `MAX_HITS`, keep one hit per window and count the rest."""
    hits = Hits(term)
    starts, headings, headings_at = index.starts, index.layout.headings, index.headings_at
    window, window_end = -1, 0
    for offset, weight in occurrences:
        if offset >= window_end:
            window = bisect_right(starts, offset) - 1
            window_end = index.end(window)
        hits.count += 1
        hits.windows[window] = hits.windows.get(window, 0.0) + weight
        if headings_at:
            heading = bisect_right(headings_at, offset) - 1
            if heading >= 0 and offset < headings[heading].end:
                hits.headings[heading] = max(weight, hits.headings.get(heading, 0.0))
        if hits.count >= MAX_HITS:
            hits.count += text.count(term.needle, offset + len(term.needle), window_end)
            _sample_rest(index, term, text, window + 1, hits)
            break
    return hits


def _sample_rest(index: Index, term: Term, text: str, window: int, hits: Hits) -> None:
    """Record only whether each window from number `window` on has the term."""
    if window >= index.size:
        return
    hits.count += text.count(term.needle, index.starts[window])
    while window < index.size:
        offset = text.find(term.needle, index.starts[window])
        if offset < 0:
            return
        window = bisect_right(index.starts, offset) - 1
        hits.windows[window] = 1.0
        window += 1


def _find_occurrences(text: str, term: Term, language: str) -> Iterator[Occurrence]:
    if term.match is Match.STEM:
        return _stem_hits(text, term, language)
    if term.match is Match.EXACT:
        return _exact_hits(text, term.needle)
    return _gram_hits(text, term.needle)


def _gram_hits(text: str, gram: str) -> Iterator[Occurrence]:
    offset = text.find(gram)
    while offset >= 0:
        yield offset, 1.0
        offset = text.find(gram, offset + len(gram))


def _exact_hits(text: str, word: str) -> Iterator[Occurrence]:
    """Yield occurrences of a whole word."""
    offset, size = text.find(word), len(word)
    while offset >= 0:
        after = offset + size
        is_part = (offset and text[offset - 1].isalnum()) or text[after : after + 1].isalnum()
        if not is_part:
            yield offset, 1.0
        offset = text.find(word, after)


def _stem_hits(text: str, term: Term, language: str) -> Iterator[Occurrence]:
    """Yield words that begin with the needle, weighted by how surely they are the same word."""
    inner = len(term.needle) >= INNER_MIN_CHARS and language in INNER_LANGUAGES
    weights: dict[str, float] = {}
    for offset, end in _find_words(text, term.needle):
        if offset and text[offset - 1].isalnum():
            if inner:
                yield offset, COMPOUND_WEIGHT
            continue
        form = text[offset:end]
        weight = weights.get(form)
        if weight is None:
            weight = weights[form] = _weigh_form(form, term, language, compare_stem=len(weights) < MAX_FORMS)
        if weight:
            yield offset, weight


def _find_words(text: str, needle: str) -> Iterator[Span]:
    """Yield the places of a needle, each up to the end of the word. A pattern for each needle would take longer."""
    offset = text.find(needle)
    while offset >= 0:
        tail = _TAIL.match(text, offset + len(needle))
        end = tail.end() if tail else offset + len(needle)
        yield offset, end
        offset = text.find(needle, end)


def _weigh_form(form: str, term: Term, language: str, *, compare_stem: bool) -> float:
    ending = len(form) - len(term.needle)
    if form == term.surface or (compare_stem and stem_word(form, language) == term.stem):
        return 1.0
    if len(term.needle) >= INFLECTED_MIN_CHARS and ending <= INFLECTION_CHARS:
        return INFLECTED_WEIGHT
    return COMPOUND_WEIGHT if len(term.needle) >= COMPOUND_MIN_CHARS else 0.0


def _misspelt_hits(text: str, word: str) -> Iterator[Occurrence]:
    """Yield words one edit away. One edit leaves the first or the second half unchanged, so search for both halves."""
    if len(word) < MISSPELT_MIN_CHARS:
        return
    half = len(word) // 2
    first, second = word[:half], word[half:]
    hits: dict[int, float] = {}
    is_close: dict[str, bool] = {}
    # Limit the matches of a half rather than the hits: a half may occur in every word of the page.
    for offset, end in islice(_find_words(text, first), MAX_HITS):
        form = text[offset:end]
        if form not in is_close:
            is_close[form] = is_one_edit_apart(form, word)
        if is_close[form] and not (offset and text[offset - 1].isalnum()):
            hits[offset] = MISSPELT_WEIGHT
    for place, _ in islice(_gram_hits(text, second), MAX_HITS):
        end = begin = place + len(second)
        if text[end : end + 1].isalnum():
            continue
        while begin and end - begin <= len(word) + 1 and text[begin - 1].isalnum():
            begin -= 1
        if is_one_edit_apart(text[begin:end], word):
            hits[begin] = MISSPELT_WEIGHT
    yield from sorted(hits.items())


def is_one_edit_apart(form: str, word: str) -> bool:
    """Return whether two words differ by at most one inserted, deleted, replaced or swapped letter."""
    if abs(len(form) - len(word)) > 1:
        return False
    same, shorter = 0, min(len(form), len(word))
    while same < shorter and form[same] == word[same]:
        same += 1
    tail = 0
    while tail < shorter - same and form[-1 - tail] == word[-1 - tail]:
        tail += 1
    left, right = form[same : len(form) - tail], word[same : len(word) - tail]
    return max(len(left), len(right)) <= 1 or (len(left) == 2 and left == right[::-1])
