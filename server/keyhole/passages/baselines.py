"""What the default is measured against, as named strategies: TF-cosine over paragraphs, BM25, head and tail."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from keyhole.measure import Measure
from keyhole.passages.find import Index
from keyhole.passages.languages import FUNCTION_WORDS, UNKNOWN, guess_language, snowball_stem
from keyhole.passages.pack import Span, gap_line, head_tail, pack
from keyhole.passages.query import parse
from keyhole.passages.words import WORD, fold_word, lower

STRATEGIES = ("tf_cosine", "bm25", "head_tail")

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
    return [fold_word(snowball_stem(language, word)) for word in WORD.findall(lower(text)) if word not in skipped]


def _tf_cosine(index: Index, query: str, room: int, measure: Measure) -> list[Span]:
    """Blank-line paragraphs by the cosine of their stems' counts, without IDF; the first one is kept."""
    text = index.text
    if len(text) <= room and measure(text) <= room:
        return [(0, len(text))] if text else []
    language = guess_language(*index.sample, WORD.findall(lower(query)))
    language = language if language != UNKNOWN else "en"
    paragraphs, asked = list(_paragraphs(text)), Counter(_stems(query, language))
    ranked: list[tuple[bool, float, int]] = []
    for number, (start, end) in enumerate(paragraphs):
        counts = Counter(_stems(text[start:end], language))
        shared = sum(asked[stem] * counts[stem] for stem in asked)
        length = math.sqrt(sum(count * count for count in counts.values())) or 1.0
        if number == 0 or shared:
            ranked.append((number != 0, -shared / length, number))
    gap = measure("\n" + gap_line(len(text), len(text)))
    left, chosen = room - gap, list[Span]()
    for _, _, number in sorted(ranked):
        start, end = paragraphs[number]
        size = measure(text[start:end]) + gap
        if size <= left:
            chosen.append((start, end))
            left -= size
    return sorted(chosen)


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
    from rank_bm25 import BM25Okapi  # brings numpy, which the default does without

    language = parse(query, *index.sample).language
    windows = range(index.size)
    corpus = [_stems(index.text[index.starts[i] : index.end(i)], language) or [""] for i in windows]
    scores = BM25Okapi(corpus).get_scores(_stems(query, language))
    return sorted(windows, key=lambda window: -scores[window])
