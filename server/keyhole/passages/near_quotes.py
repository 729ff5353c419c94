"""Find the passage that is nearest to a quote that a text does not contain, and what differs. Pure.

So a reader can tell a slip or a paraphrase, which has a passage near it, from an invention.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

from keyhole.passages.quotes import plain_text
from keyhole.passages.words import UNSPACED, WORD
from keyhole.text.letters import is_inside_word

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

MAX_RANGES: Final = 12
"""Ranges of the text that are compared with a quote, those in which its words weigh most first."""

WORDS_BEFORE: Final = 4
"""Words before a passage, in its sentence, in which a negation is looked for: "is not killed" for "killed"."""

_NEGATION_WORDS: Final = (
    "not no never cannot without neither nor none isn aren wasn weren don doesn didn won wouldn shouldn couldn mustn "
    "nicht kein keine keinen keinem keiner nie niemals ohne ne pas jamais aucun aucune sans nunca jamas ningun sin non "
    "mai senza nao sem niet geen nooit zonder inte aldrig ikke ej nigdy bez нет не ни никогда без ei nem degil "
    "لا ليس لم لن नहीं 안 못 不 没 無 无 未"
)
_NEGATIONS: Final = frozenset(_NEGATION_WORDS.split())
"""Folded words that turn a sentence into its contrary; in scripts without spaces, single characters."""
_SENTENCE_END: Final = re.compile(r"[.!?;:。！？]\s|\n")
"""The end of a sentence or of a line: a negation before it belongs to another statement."""


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
    moved: int = 0
    """The number of missing words that stand in the passage in another order."""
    differs: tuple[str, ...] = ()
    """The differences that may turn the sense, "negation" and "number": only the quote or only the passage has it."""


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
    near = None
    for first, last in _dense_ranges(_find_hits(plain, _anchors(wanted)), length):
        # Leave room for the quote's frequent words, which are not among the hits, before and after the range.
        margin = max(MIN_STRETCH_CHARS, (length - (last - first)) // 2)
        start = max(0, first - margin)
        tokens = _tokens(plain[start : last + margin])
        compared = _compare(
            quote, wanted, plain, [_Token(each.word, each.start + start, each.end + start) for each in tokens]
        )
        if compared and (near is None or (compared.shared, -compared.extra) > (near.shared, -near.extra)):
            near = compared
    return near


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
            is_part = is_inside_word(plain, start) or is_inside_word(plain, start + len(word))
            if UNSPACED.match(word) or not is_part:
                hits.append((start, weight, word))
            start = plain.find(word, start + len(word))
    return sorted(hits)


def _dense_ranges(hits: Sequence[tuple[int, float, str]], length: int) -> list[tuple[int, int]]:
    """Return ranges of at most `length` characters, those first whose different words weigh most, without overlap."""
    inside: Counter[str] = Counter()
    ranges: list[tuple[float, int, int]] = []
    weight, first = 0.0, 0
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
        if ranges and hits[first][0] < ranges[-1][2]:
            if weight > ranges[-1][0] + 1e-9:
                ranges[-1] = (weight, hits[first][0], offset + len(word))
        else:
            ranges.append((weight, hits[first][0], offset + len(word)))
    return [(start, end) for _, start, end in sorted(ranges, key=lambda each: (-each[0], each[1]))[:MAX_RANGES]]


def _compare(quote: str, wanted: Sequence[_Token], plain: str, found: Sequence[_Token]) -> NearQuote | None:
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
    if not (_negations(wanted) or _negations(found[first : last + 1])):
        first = _first_with_negation(plain, found, first)
    passage = found[first : last + 1]
    lacking = Counter(wanted[place].word for place in range(len(wanted)) if place not in matched)
    moved = lacking & (Counter(each.word for each in passage) - Counter(wanted[place].word for place in matched))
    differs = ["negation"] if _negations(wanted) != _negations(passage) else []
    differs += ["number"] if _numbers(wanted) != _numbers(passage) else []
    return NearQuote(
        found[first].start, found[last].end, shared, len(wanted), missing, extra, moved.total(), tuple(differs)
    )


def _first_with_negation(plain: str, found: Sequence[_Token], first: int) -> int:
    """Return the place of a negation just before a passage in its sentence, or else the place of the passage."""
    for place in range(first - 1, max(-1, first - 1 - WORDS_BEFORE), -1):
        if _SENTENCE_END.search(plain, found[place].end, found[place + 1].start + 1):
            break
        if found[place].word in _NEGATIONS:
            return place
    return first


def _negations(tokens: Sequence[_Token]) -> int:
    return sum(token.word in _NEGATIONS for token in tokens)


def _numbers(tokens: Sequence[_Token]) -> list[str]:
    return sorted(token.word for token in tokens if any(map(str.isdigit, token.word)))
