"""Where a query's terms occur: a page's index, and each term's hits mapped to windows."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Final

from keyhole.passages.languages import GUESS_SAMPLE_CHARS, count_languages
from keyhole.passages.query import Match, Term, stem_of
from keyhole.passages.split import Layout, split
from keyhole.passages.words import WORD, WORD_TAIL, fold, lower

INFLECTED: Final = 0.6
"""Weight of a word that begins alike and is at most `INFLECTION_CHARS` longer."""

COMPOUND: Final = 0.5
"""Weight of a longer word that begins with the term, or contains it (Haus-tür, Tür-schloss)."""

MISSPELT: Final = 0.5
"""Weight of a word one letter away from a term that is nowhere on the page."""

INFLECTION_CHARS: Final = 4
"""The longest ending taken for an inflection; beyond it is another word."""

INFLECTED_MIN_CHARS: Final = 4
COMPOUND_MIN_CHARS: Final = 5
"""Shorter beginnings are shared by unrelated words."""

INNER_MIN_CHARS: Final = 4
INNER_LANGUAGES: Final = frozenset(("ar", "da", "de", "fa", "fi", "hu", "nl", "no", "sv", "xx"))
"""Languages that write compounds, or articles, in one word: a term may start inside a word."""

MISSPELT_MIN_CHARS: Final = 5

ALL_HITS: Final = 20_000
"""Hits of one term looked at one by one; after that one hit per window is enough (a word this
frequent says little), so that a repeated word costs no more than its windows."""

MAX_FORMS: Final = 500
"""Different surface words stemmed for one term; after that only their length is compared."""


KEPT_WORDS: Final = 200
"""Words whose windows an index remembers: some five queries' feedback."""


class Index:
    """A page prepared for queries: windows, and lower-cased text. Kept, it halves the next one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.layout: Layout = split(text)
        self.starts = self.layout.starts
        self._searched: dict[bool, str] = {}
        self._windows_of: dict[tuple[bool, str], list[int]] = {}

    @cached_property
    def sample(self) -> tuple[dict[str, int], int]:
        """Function words per language in a sample of the page, and the size of the sample."""
        middle = len(self.text) // 2
        sample = self.text[:GUESS_SAMPLE_CHARS]
        sample += " " + self.text[middle : middle + GUESS_SAMPLE_CHARS]
        words = WORD.findall(lower(sample))
        return count_languages(words), len(words)

    @cached_property
    def headings_at(self) -> list[int]:
        """Starts of the heading lines, to look a hit up by bisection."""
        return [heading.start for heading in self.layout.headings]

    @property
    def size(self) -> int:
        """The number of windows."""
        return len(self.starts)

    def searched(self, folded: bool) -> str:
        """The text that terms are looked for in."""
        if folded not in self._searched:
            low = lower(self.text)
            self._searched[folded] = fold(low) if folded else low
        return self._searched[folded]

    def windows_with(self, word: str, folded: bool) -> list[int]:
        """The windows that have a word beginning so, each once; the last words asked are kept."""
        found = self._windows_of.get((folded, word))
        if found is None:
            if len(self._windows_of) >= KEPT_WORDS:
                self._windows_of.clear()
            found = list(_windows_with(self, self.searched(folded), word))
            self._windows_of[folded, word] = found
        return found

    def end(self, window: int) -> int:
        """Where a window ends."""
        return self.starts[window + 1] if window + 1 < len(self.starts) else len(self.text)

    def window_at(self, offset: int) -> int:
        """The window an offset lies in."""
        return bisect_right(self.starts, offset) - 1


def _windows_with(index: Index, text: str, word: str) -> Iterator[int]:
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
    """A term's occurrences: how many, their weight per window, and the headings that have it."""

    term: Term
    count: int = 0
    windows: dict[int, float] = field(default_factory=dict)
    headings: dict[int, float] = field(default_factory=dict)


def find(index: Index, term: Term, language: str, folded: bool) -> Hits:
    """All hits of a term; when there are none, those of words one letter away."""
    text = index.searched(folded)
    hits = _collect(index, term, text, _occurrences(text, term, language))
    if not hits.count and term.match is Match.STEM:
        hits = _collect(index, term, text, _misspelt(text, fold(term.surface)))
    return hits


Occurrence = tuple[int, float]
"""Offset and weight of a hit."""


def _collect(index: Index, term: Term, text: str, found: Iterator[Occurrence]) -> Hits:
    """Map hits to windows; beyond `ALL_HITS`, one per window, and the rest only counted."""
    hits = Hits(term)
    starts, headings, heads_at = index.starts, index.layout.headings, index.headings_at
    window, window_end = -1, 0
    for offset, weight in found:
        if offset >= window_end:
            window = bisect_right(starts, offset) - 1
            window_end = index.end(window)
        hits.count += 1
        hits.windows[window] = hits.windows.get(window, 0.0) + weight
        if heads_at:
            heading = bisect_right(heads_at, offset) - 1
            if heading >= 0 and offset < headings[heading].end:
                hits.headings[heading] = max(weight, hits.headings.get(heading, 0.0))
        if hits.count >= ALL_HITS:
            hits.count += text.count(term.needle, offset + len(term.needle), window_end)
            _sample_rest(index, term, text, window + 1, hits)
            break
    return hits


def _sample_rest(index: Index, term: Term, text: str, window: int, hits: Hits) -> None:
    """From a window on, note only whether each window has the term."""
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


def _occurrences(text: str, term: Term, language: str) -> Iterator[Occurrence]:
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
    """Occurrences as a whole word."""
    offset, size = text.find(word), len(word)
    while offset >= 0:
        after = offset + size
        inside = (offset and text[offset - 1].isalnum()) or text[after : after + 1].isalnum()
        if not inside:
            yield offset, 1.0
        offset = text.find(word, after)


def _stem_hits(text: str, term: Term, language: str) -> Iterator[Occurrence]:
    """Words that begin with the needle, weighed by how surely they are the same word."""
    inner = len(term.needle) >= INNER_MIN_CHARS and language in INNER_LANGUAGES
    weights: dict[str, float] = {}
    for found in re.finditer(re.escape(term.needle) + WORD_TAIL, text):
        offset = found.start()
        if offset and text[offset - 1].isalnum():
            if inner:
                yield offset, COMPOUND
            continue
        form = found.group()
        weight = weights.get(form)
        if weight is None:
            weight = weights[form] = _weigh(form, term, language, len(weights) < MAX_FORMS)
        if weight:
            yield offset, weight


def _weigh(form: str, term: Term, language: str, stem_it: bool) -> float:
    ending = len(form) - len(term.needle)
    if form == term.surface or (stem_it and stem_of(form, language) == term.stem):
        return 1.0
    if len(term.needle) >= INFLECTED_MIN_CHARS and ending <= INFLECTION_CHARS:
        return INFLECTED
    return COMPOUND if len(term.needle) >= COMPOUND_MIN_CHARS else 0.0


def _misspelt(text: str, word: str) -> Iterator[Occurrence]:
    """Words one edit away. One edit leaves the first or the second half whole: search those."""
    if len(word) < MISSPELT_MIN_CHARS:
        return
    half = len(word) // 2
    first, second = word[:half], word[half:]
    found: dict[int, float] = {}
    alike: dict[str, bool] = {}
    # Bounded by what is looked at, not by what is found: a half may stand in every word of the page.
    for match in islice(re.finditer(re.escape(first) + WORD_TAIL, text), ALL_HITS):
        form, offset = match.group(), match.start()
        if form not in alike:
            alike[form] = one_edit(form, word)
        if alike[form] and not (offset and text[offset - 1].isalnum()):
            found[offset] = MISSPELT
    for match in islice(re.finditer(re.escape(second), text), ALL_HITS):
        end = begin = match.end()
        if text[end : end + 1].isalnum():
            continue
        while begin and end - begin <= len(word) + 1 and text[begin - 1].isalnum():
            begin -= 1
        if one_edit(text[begin:end], word):
            found[begin] = MISSPELT
    yield from sorted(found.items())


def one_edit(form: str, word: str) -> bool:
    """Whether two words differ by one letter more, less, other, or by two swapped."""
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
