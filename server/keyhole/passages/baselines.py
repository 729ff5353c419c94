"""Baseline strategies for comparison: TF-cosine over paragraphs, BM25, head and tail."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from keyhole.passages.gaps import Span, gap_line
from keyhole.passages.index import Index
from keyhole.passages.languages import UNKNOWN, guess_language
from keyhole.passages.packing.one_text import head_tail_order, pack_windows
from keyhole.passages.query import parse_query
from keyhole.passages.stems import stem_words
from keyhole.passages.words import WORD
from keyhole.text.letters import lower
from keyhole.text.measure import Measure, fits

STRATEGIES = ("tf_cosine", "bm25", "head_tail")

CACHED_TEXTS = 4
"""Texts whose stems are cached: the benchmark has many questions for each text."""

_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def select_baseline(strategy: str, index: Index, query: str, max_size: int, measure: Measure) -> list[Span]:
    """Return the spans that a baseline selects. Raise KeyError for an unknown strategy."""
    if strategy == "tf_cosine":
        return _tf_cosine(index, query, max_size, measure)
    orders = {"bm25": lambda: _bm25(index, query), "head_tail": lambda: list(head_tail_order(index))}
    return pack_windows(index, orders[strategy](), max_size, measure)


def _stem_content_words(text: str, language: str) -> list[str]:
    """Return the stems of the words that are not function words."""
    return stem_words(WORD.findall(lower(text)), language)


def _tf_cosine(index: Index, query: str, max_size: int, measure: Measure) -> list[Span]:
    """Rank blank-line paragraphs by the cosine of their stem counts, without IDF; the first paragraph comes first."""
    text = index.text
    if fits(text, max_size, measure):
        return [(0, len(text))] if text else []
    language = guess_language(*index.sample, WORD.findall(lower(query)))
    language = language if language != UNKNOWN else "en"
    paragraphs = _count_paragraph_stems(text, language)
    query_counts = Counter(_stem_content_words(query, language))
    ranked: list[tuple[bool, float, int]] = []
    for number, (_, counts) in enumerate(paragraphs):
        shared = sum(query_counts[stem] * counts[stem] for stem in query_counts)
        length = math.sqrt(sum(count * count for count in counts.values())) or 1.0
        if number == 0 or shared:
            ranked.append((number != 0, -shared / length, number))
    gap = measure("\n" + gap_line(len(text), len(text)))
    left, selected = max_size - gap, list[Span]()
    for _, _, number in sorted(ranked):
        (start, end), _ = paragraphs[number]
        size = measure(text[start:end]) + gap
        if size <= left:
            selected.append((start, end))
            left -= size
    return sorted(selected)


@lru_cache(maxsize=CACHED_TEXTS)
def _count_paragraph_stems(text: str, language: str) -> list[tuple[Span, Counter[str]]]:
    """Return each blank-line paragraph with the counts of its stems."""
    return [((start, end), Counter(_stem_content_words(text[start:end], language))) for start, end in _paragraphs(text)]


def _paragraphs(text: str) -> Iterator[Span]:
    start = 0
    for blank in _BLANK_LINE.finditer(text):
        if text[start : blank.start()].strip():
            yield start, blank.start()
        start = blank.end()
    if text[start:].strip():
        yield start, len(text)


def _bm25(index: Index, query: str) -> list[int]:
    """Order the default strategy's windows by rank-bm25's Okapi score."""
    language = parse_query(query, *index.sample).language
    scores = _okapi(index, language).get_scores(_stem_content_words(query, language))
    return sorted(range(index.size), key=lambda window: -scores[window])


@lru_cache(maxsize=CACHED_TEXTS)
def _okapi(index: Index, language: str) -> Any:
    from rank_bm25 import BM25Okapi  # imports numpy, which the default strategy does not need

    windows = (index.text[index.starts[i] : index.end(i)] for i in range(index.size))
    return BM25Okapi([_stem_content_words(window, language) or [""] for window in windows])
