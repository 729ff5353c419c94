"""What the default is measured against, as named strategies: TF-cosine over paragraphs, BM25, head and tail."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from keyhole.passages.find import Index
from keyhole.passages.languages import FUNCTION_WORDS, UNKNOWN, guess_language
from keyhole.passages.pack import Span, gap_line, head_tail, pack
from keyhole.passages.query import parse
from keyhole.passages.stems import terms_of
from keyhole.passages.words import WORD, lower
from keyhole.text.measure import Measure, fits

STRATEGIES = ("tf_cosine", "bm25", "head_tail")

KEPT_TEXTS = 4
"""Texts whose stems are kept: the benchmark asks many questions of one text in turn."""

_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def baseline(strategy: str, index: Index, query: str, room: int, measure: Measure) -> list[Span]:
    """The spans that a named baseline chooses. Raises KeyError for a name that is none."""
    if strategy == "tf_cosine":
        return _tf_cosine(index, query, room, measure)
    orders = {"bm25": lambda: _bm25(index, query), "head_tail": lambda: list(head_tail(index))}
    return pack(index, orders[strategy](), room, measure)


def _stems(text: str, language: str) -> list[str]:
    """Stems of the words that are not function words."""
    skipped = FUNCTION_WORDS.get(language, frozenset())
    words = (word for word in WORD.findall(lower(text)) if word not in skipped)
    return [term for word in words for term in terms_of(word, language)]


def _tf_cosine(index: Index, query: str, room: int, measure: Measure) -> list[Span]:
    """Blank-line paragraphs by the cosine of their stems' counts, without IDF; the first one is kept."""
    text = index.text
    if fits(text, room, measure):
        return [(0, len(text))] if text else []
    language = guess_language(*index.sample, WORD.findall(lower(query)))
    language = language if language != UNKNOWN else "en"
    paragraphs, asked = _counted_paragraphs(text, language), Counter(_stems(query, language))
    ranked: list[tuple[bool, float, int]] = []
    for number, (_, counts) in enumerate(paragraphs):
        shared = sum(asked[stem] * counts[stem] for stem in asked)
        length = math.sqrt(sum(count * count for count in counts.values())) or 1.0
        if number == 0 or shared:
            ranked.append((number != 0, -shared / length, number))
    gap = measure("\n" + gap_line(len(text), len(text)))
    left, chosen = room - gap, list[Span]()
    for _, _, number in sorted(ranked):
        (start, end), _ = paragraphs[number]
        size = measure(text[start:end]) + gap
        if size <= left:
            chosen.append((start, end))
            left -= size
    return sorted(chosen)


@lru_cache(maxsize=KEPT_TEXTS)
def _counted_paragraphs(text: str, language: str) -> list[tuple[Span, Counter[str]]]:
    """Each blank-line paragraph with the counts of its stems; the last few texts are kept."""
    return [((start, end), Counter(_stems(text[start:end], language))) for start, end in _paragraphs(text)]


def _paragraphs(text: str) -> Iterator[Span]:
    start = 0
    for found in _BLANK_LINE.finditer(text):
        if text[start : found.start()].strip():
            yield start, found.start()
        start = found.end()
    if text[start:].strip():
        yield start, len(text)


def _bm25(index: Index, query: str) -> list[int]:
    """rank-bm25's Okapi over the default's windows and stems."""
    language = parse(query, *index.sample).language
    scores = _okapi(index, language).get_scores(_stems(query, language))
    return sorted(range(index.size), key=lambda window: -scores[window])


@lru_cache(maxsize=KEPT_TEXTS)
def _okapi(index: Index, language: str) -> Any:
    from rank_bm25 import BM25Okapi  # brings numpy, which the default does without

    windows = (index.text[index.starts[i] : index.end(i)] for i in range(index.size))
    return BM25Okapi([_stems(window, language) or [""] for window in windows])
