"""Find the passage that is nearest to a quote that a text does not contain, and what differs. Pure.

So a reader can tell a slip or a paraphrase, which has a passage near it, from an invention.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

from keyhole.passages.quotes import plain_text
from keyhole.passages.words import UNSPACED, WORD

MAX_WORDS: Final = 120
"""Words of a quote that are compared."""

MAX_HITS: Final = 20_000
"""Occurrences of the quote's words that are examined, of its rarest words first. More occur by chance."""

MIN_SHARE: Final = 0.5
MIN_WORDS: Final = 3
"""A passage is near if it has this share of the quote's words in their order, and at least so many words."""

STRETCH: Final = 1.5
"""A passage may be longer than the quote by this factor: a paraphrase leaves words out."""

MIN_STRETCH_CHARS: Final = 40


@dataclass(frozen=True, slots=True)
class NearQuote:
    """The passage nearest to a quote that a text does not contain: `shared` of the quote's `words` are in it."""

    start: int
    end: int
    shared: int
    words: int
    missing: tuple[str, ...]
    """The words of the quote that the passage lacks, as the quote writes them."""
    extra: int
    """The number of words between the shared ones that the quote lacks."""


@dataclass(frozen=True, slots=True)
class _Token:
    """A word of a text, in lower case and without accents; in scripts without spaces a character."""

    word: str
    start: int
    end: int


def find_near_quote(text: str, quote: str) -> NearQuote | None:
    """Return the passage that has most of the quote's words in their order, None if none has enough of them."""
    wanted = _tokens(plain_text(quote))[:MAX_WORDS]
    if len(wanted) < MIN_WORDS:
        return None
    plain = plain_text(text)
    length = int((wanted[-1].end - wanted[0].start) * STRETCH) + MIN_STRETCH_CHARS
    hits = _find_hits(plain, _anchors(wanted))
    if not hits:
        return None
    first, last = _densest_range(hits, length)
    # Leave room for the quote's frequent words, which are not among the hits, before and after the range.
    margin = max(MIN_STRETCH_CHARS, (length - (last - first)) // 2)
    start = max(0, first - margin)
    found = _tokens(plain[start : last + margin])
    return _compare(quote, wanted, [_Token(each.word, each.start + start, each.end + start) for each in found])


def _tokens(plain: str) -> list[_Token]:
    tokens: list[_Token] = []
    for match in WORD.finditer(plain):
        word = match.group()
        size = 1 if UNSPACED.search(word) else len(word)
        tokens += [
            _Token(word[at : at + size], match.start() + at, match.start() + at + size)
            for at in range(0, len(word), size)
        ]
    return tokens


def _anchors(wanted: Sequence[_Token]) -> set[str]:
    """Return the words to search for. In scripts without spaces these are pairs: single characters are frequent."""
    words = {token.word for token in wanted if not UNSPACED.match(token.word)}
    pairs = (
        left.word + right.word
        for left, right in pairwise(wanted)
        if left.end == right.start and UNSPACED.match(left.word) and UNSPACED.match(right.word)
    )
    return words | set(pairs)


def _find_hits(plain: str, words: set[str]) -> list[tuple[int, float, str]]:
    """Return the offset, weight and word of each occurrence of the rarest words, in page order."""
    counts = sorted((plain.count(word), word) for word in words)
    hits: list[tuple[int, float, str]] = []
    for count, word in counts:
        if not count:
            continue
        if hits and len(hits) + count > MAX_HITS:
            break
        weight = 1 / math.log2(1 + count + 1)
        start = plain.find(word)
        while start >= 0 and len(hits) < MAX_HITS:
            if UNSPACED.match(word) or not _is_part(plain, start, start + len(word)):
                hits.append((start, weight, word))
            start = plain.find(word, start + len(word))
    return sorted(hits)


def _is_part(text: str, start: int, end: int) -> bool:
    """Return whether a span is only a part of a word."""
    return (start > 0 and text[start - 1].isalnum()) or text[end : end + 1].isalnum()


def _densest_range(hits: Sequence[tuple[int, float, str]], length: int) -> tuple[int, int]:
    """Return the ends of the first range of at most `length` characters whose different words weigh most."""
    inside: Counter[str] = Counter()
    best, weight, first = (0.0, 0, 0), 0.0, 0
    for offset, value, word in hits:
        if not inside[word]:
            weight += value
        inside[word] += 1
        while hits[first][0] < offset - length:
            _, left_value, left = hits[first]
            inside[left] -= 1
            if not inside[left]:
                weight -= left_value
            first += 1
        if weight > best[0] + 1e-9:
            best = (weight, hits[first][0], offset + len(word))
    return best[1:]


def _compare(quote: str, wanted: Sequence[_Token], found: Sequence[_Token]) -> NearQuote | None:
    """Return the span of `found` that has the words of `wanted` in their order, and the words that differ."""
    matcher = SequenceMatcher(None, [each.word for each in wanted], [each.word for each in found], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    shared = sum(block.size for block in blocks)
    if shared < max(MIN_WORDS, MIN_SHARE * len(wanted)):
        return None
    matched = {block.a + step for block in blocks for step in range(block.size)}
    missing = tuple(quote[token.start : token.end] for place, token in enumerate(wanted) if place not in matched)
    first, last = blocks[0].b, blocks[-1].b + blocks[-1].size - 1
    extra = last - first + 1 - shared
    return NearQuote(found[first].start, found[last].end, shared, len(wanted), missing, extra)
