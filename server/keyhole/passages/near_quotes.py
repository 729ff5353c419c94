"""Find the passage that is nearest to a quote that a text does not contain, and what differs. Pure.

So a reader can tell a slip or a paraphrase, which has a passage near it, from an invention.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
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

MIN_ANY_ORDER_SHARE: Final = 0.8
"""A passage is also near if it has this share of the words, some of them in another order."""

STRETCH: Final = 1.5
"""A passage may be longer than the quote by this factor: a paraphrase leaves words out."""

MIN_STRETCH_CHARS: Final = 40

MAX_RANGES: Final = 12
"""Ranges of the text that are compared with a quote, those in which its words weigh most first."""

WORDS_BEFORE: Final = 4
"""Words before a passage, in its sentence, in which a negation is looked for: "is not killed" for "killed"."""

MOVED_WEIGHT: Final = 0.75
EXTRA_COST: Final = 0.25
"""Weights of a word of the quote in another order and of a word that the quote lacks, where passages are compared."""

_NEGATION_WORDS: Final = (
    "not no never cannot without neither nor none nothing nicht kein keine keinen keinem keiner keinesfalls keineswegs "
    "weder nie niemals ohne pas jamais aucun aucune sans nunca jamas ningun ninguna nada sin non mai nessun nessuna "
    "senza nao nenhum sem niet geen nooit zonder inte aldrig ikke ej nigdy bez нет не ни никогда без ei nem degil لا "
    "ليس لم لن नहीं 안 못 不 没 無 无 未 勿"
)
_NEGATIONS: Final = frozenset(_NEGATION_WORDS.split())
"""Folded words that turn a sentence into its contrary; in scripts without spaces, single characters."""
_NEGATIVE_ENDINGS: Final = re.compile("ません|ない|なかっ|ずに|않|없|아니|ไม่|ห้าม|อย่า")
"""Negations within words of Japanese, Korean and Thai."""
_NEGATIVE_PREFIXES: Final = ("un", "in", "im", "ir", "il", "dis", "non", "не", "без")
"""Beginnings that make the contrary of a word of at least `MIN_PREFIXED_CHARS`: impossible, unencrypted."""
MIN_PREFIXED_CHARS: Final = 5
_SENTENCE_END: Final = re.compile(r"[.!?;:]\s|[。！？]|\n")
"""The end of a sentence or of a line: a negation before it belongs to another statement."""
_NUMBER: Final = re.compile(r"\d+(?:[.,'’ \u00a0\u202f]\d{3}(?!\d))*")


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
        tokens = [_Token(each.word, each.start + start, each.end + start) for each in tokens]
        for found in (*_sentences(plain, tokens), tokens):
            compared = _compare(quote, wanted, plain, found)
            if compared and (near is None or _score(compared) > _score(near)):
                near = compared
    return near


def _score(near: NearQuote) -> float:
    return near.shared + MOVED_WEIGHT * near.moved - EXTRA_COST * near.extra


def _sentences(plain: str, tokens: Sequence[_Token]) -> Iterator[Sequence[_Token]]:
    """Yield the words of each sentence, if there are several."""
    ends = [
        place
        for place, (left, right) in enumerate(pairwise(tokens), 1)
        if _SENTENCE_END.search(plain, left.end, right.start + 1)
    ]
    if ends:
        yield from (tokens[start:end] for start, end in pairwise([0, *ends, len(tokens)]))


def _tokens(plain: str) -> list[_Token]:
    """Return the words of a text. The "t" of a word like "doesn't" is "not"."""
    tokens: list[_Token] = []
    for match in WORD.finditer(plain):
        word = match.group()
        if word == "t" and match.start() and plain[match.start() - 1] in "'’":
            word = "not"
        size = 1 if UNSPACED.search(word) else len(word)
        tokens += [
            _Token(word[at : at + size], match.start() + at, min(match.end(), match.start() + at + size))
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
    if not shared:
        return None
    matched = {block.a + step for block in blocks for step in range(block.size)}
    taken = {block.b + step for block in blocks for step in range(block.size)}
    lacking = [place for place in range(len(wanted)) if place not in matched]
    first, last = blocks[0].b, blocks[-1].b + blocks[-1].size - 1
    places = _find_moved(plain, found, [wanted[place].word for place in lacking], first, last, taken)
    is_slip = shared == len(wanted) - 1 and wanted[lacking[0]].word.isdecimal()
    is_near = shared >= MIN_SHARE * len(wanted) or shared + len(places) >= MIN_ANY_ORDER_SHARE * len(wanted)
    if not is_slip and not (is_near and shared >= MIN_WORDS):
        return None
    first, last = min([first, *places]), max([last, *places])
    extra = last - first + 1 - shared - len(places)
    before, after = blocks[0].a, len(wanted) - blocks[-1].a - blocks[-1].size
    if not places:  # words that stand for others at the ends of the quote
        first, last = _extend(plain, found, first, -before), _extend(plain, found, last, after and after + 1)
    own, other = plain_text(quote), plain[found[first].start : found[last].end]
    if not (_negations(wanted, own) or _negations(found[first : last + 1], other)):
        first = _first_with_negation(plain, found, first)
        other = plain[found[first].start : found[last].end]
    passage = found[first : last + 1]
    is_contrary = _negations(wanted, own) != _negations(passage, other) or _has_contrary(
        {wanted[place].word for place in lacking}, {each.word for each in passage}
    )
    differs = ["negation"] if is_contrary else []
    differs += ["number"] if _numbers(own) != _numbers(other) else []
    missing = tuple(quote[wanted[place].start : wanted[place].end] for place in lacking)
    return NearQuote(
        found[first].start, found[last].end, shared, len(wanted), missing, extra, len(places), tuple(differs)
    )


def _find_moved(
    plain: str, found: Sequence[_Token], words: Sequence[str], first: int, last: int, taken: set[int]
) -> list[int]:
    """Return the places of words that stand between two places or beside them in the sentence, in another order."""
    begin = _extend(plain, found, first, -2 * len(words))
    end = _extend(plain, found, last, 2 * len(words))
    lacking, places = Counter(words), list[int]()
    inside = [*range(first, last + 1), *range(last + 1, end + 1), *range(first - 1, begin - 1, -1)]
    for place in inside:
        if place not in taken and lacking[found[place].word]:
            lacking[found[place].word] -= 1
            places.append(place)
    return places


def _extend(plain: str, found: Sequence[_Token], place: int, steps: int) -> int:
    """Return the place `steps` words after another, or before it if negative, within its sentence."""
    step = 1 if steps > 0 else -1
    for _ in range(abs(steps)):
        left, right = sorted((place, place + step))
        if not 0 <= left < right < len(found) or _SENTENCE_END.search(plain, found[left].end, found[right].start + 1):
            break
        place += step
    return place


def _first_with_negation(plain: str, found: Sequence[_Token], first: int) -> int:
    """Return the place of a negation just before a passage in its sentence, or else the place of the passage."""
    start = _extend(plain, found, first, -WORDS_BEFORE)
    return next((place for place in range(first - 1, start - 1, -1) if found[place].word in _NEGATIONS), first)


def _negations(tokens: Sequence[_Token], text: str) -> int:
    return sum(token.word in _NEGATIONS for token in tokens) + len(_NEGATIVE_ENDINGS.findall(text))


def _has_contrary(words: set[str], others: set[str]) -> bool:
    """Return whether a word of one set is a word of the other with a prefix that makes its contrary."""
    longer = [(word, one) for one, all_words in ((others, words), (words, others)) for word in all_words]
    return any(
        word.startswith(prefix) and len(word) - len(prefix) >= MIN_PREFIXED_CHARS and word[len(prefix) :] in one
        for word, one in longer
        for prefix in _NEGATIVE_PREFIXES
    )


def _numbers(text: str) -> list[str]:
    """Return the numbers of a text in order of size, without the signs between their thousands."""
    return sorted("".join(filter(str.isdigit, number)) for number in _NUMBER.findall(text))
