"""Find the hits of a query's terms in the windows of a page."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from keyhole.passages.gaps import Span
from keyhole.passages.index import Index
from keyhole.passages.query import Match, Query, Term, stem_word
from keyhole.passages.words import fold, word_end
from keyhole.text.letters import is_inside_word

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

DECADE_ENDING: Final = "s"
"""The letter after a number that makes it a decade or a plural: "the 1980s", "486s"."""

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
    hits = _collect(index, term, text, find_occurrences(text, term, language))
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
    is_misspelt = term.match is Match.STEM and next(find_occurrences(text, term, query.language), None) is None
    for start, end in ranges:
        first = max(0, start - 1)  # the character before a word decides whether it is the word's beginning
        piece = text[first : end + MAX_PLACE_CHARS]
        found = (
            _misspelt_hits(piece, fold(term.surface)) if is_misspelt else find_occurrences(piece, term, query.language)
        )
        for place, _ in found:
            is_word = term.match is Match.STEM
            begin = first + place
            after = first + (word_end(piece, place + 1) if is_word else place + len(term.needle))
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


def find_occurrences(text: str, term: Term, language: str) -> Iterator[Occurrence]:
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
    """Yield occurrences of a whole word, and of a number with the ending of a decade, as in "the 1980s"."""
    offset, size = text.find(word), len(word)
    ending = DECADE_ENDING if word.isdigit() else ""
    while offset >= 0:
        after = offset + size
        end = after + 1 if ending and text.startswith(ending, after) else after
        if not (is_inside_word(text, offset) or is_inside_word(text, end)):
            yield offset, 1.0 if end == after else INFLECTED_WEIGHT
        offset = text.find(word, after)


def _stem_hits(text: str, term: Term, language: str) -> Iterator[Occurrence]:
    """Yield words that begin with the needle, weighted by how surely they are the same word."""
    inner = len(term.needle) >= INNER_MIN_CHARS and language in INNER_LANGUAGES
    weights: dict[str, float] = {}
    for offset, end in _find_words(text, term.needle):
        if is_inside_word(text, offset):
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
        end = word_end(text, offset + len(needle))
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
        if is_close[form] and not is_inside_word(text, offset):
            hits[offset] = MISSPELT_WEIGHT
    for place, _ in islice(_gram_hits(text, second), MAX_HITS):
        begin, end = place, place + len(second)
        if is_inside_word(text, end):
            continue
        while begin and end - begin <= len(word) + 1 and is_inside_word(text, begin):
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
