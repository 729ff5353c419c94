"""Rank the passages of several texts by comparable scores, and join passages with gap lines."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from keyhole.passages.feedback import FEEDBACK_SHARE as SINGLE_PAGE_SHARE
from keyhole.passages.feedback import add_feedback
from keyhole.passages.find import Hits, find_hits
from keyhole.passages.gaps import gap_line, shown_part
from keyhole.passages.index import Index
from keyhole.passages.labels import range_label
from keyhole.passages.packing.units import complete_range
from keyhole.passages.query import MAX_QUERY_CHARS, Match, Query
from keyhole.passages.query_parts import divide_query
from keyhole.passages.rank import WindowScores, find_terms, score_windows
from keyhole.passages.strength import match_strength
from keyhole.passages.words import UNSPACED, WORD, fold
from keyhole.records import Passage, Ranked
from keyhole.text.letters import lower
from keyhole.text.page_structure import PageStarts

# Find where a text repeats a question word for word.

MIN_ECHO_WORDS: Final = 5
"""Words of a question whose repetition counts as an echo. Fewer words are a name or term, which an answer uses too."""
CHARS_PER_WORD: Final = 2
"""Characters of a word in scripts without spaces."""


def find_echoes(index: Index, query: str, *, folded: bool) -> frozenset[int]:
    """Return the windows of a text that contain a part of the whole query, repeated word for word.

    Returns no windows for a query of fewer than `MIN_ECHO_WORDS` words. `folded`: accents are ignored.
    """
    low = lower(query[:MAX_QUERY_CHARS])
    words = WORD.findall(fold(low) if folded else low)
    if sum(map(_count_words, words)) < MIN_ECHO_WORDS:
        return frozenset()
    text = index.searchable_text(folded)
    windows: set[int] = set()
    for match in _echo_pattern(words).finditer(text):
        windows.update(range(index.window_at(match.start()), index.window_at(match.end() - 1) + 1))
    return frozenset(windows)


def _echo_pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of words in this order, whatever signs are between them."""
    return re.compile(r"[\W_]++".join(map(re.escape, words)))


def _count_words(word: str) -> int:
    """Return 1 for a word, or the approximate number of words in a run of a script without spaces."""
    return max(1, len("".join(UNSPACED.findall(word))) // CHARS_PER_WORD)


# Rank the passages of several texts by comparable scores, and join passages with gap lines.

FEEDBACK_SHARE: Final = 0.3
"""Share of the best score that a window gains by feedback: less than `SINGLE_PAGE_SHARE`. Feedback raises the best
windows of every page alike, and most pages of a search do not answer the question."""
PAGE_SHARE: Final = 0.1
"""Share of all windows in which a term counts as frequent if every page contains it."""
NAME_GAIN: Final = 1.0
"""The scores of a page whose title and address contain the whole query gain this share. At 0.5 and at 2, about as
many answers are found (benchmarks/search/search.py)."""
ECHO_SHARE: Final = 0.5
"""Maximum score of a passage that repeats the question word for word, as a share of the best score of the others."""
SHORT_CHARS: Final = 60
"""A shorter window, such as a lone heading, a lead-in or "Read more", is joined with the next one."""
MAX_LABELS: Final = 30
"""Passages of a text that have a label: more are seldom shown, and each label costs a search backwards."""


def rank_sources(
    texts: Sequence[str], queries: Sequence[str], names: Sequence[str] = (), pages: Sequence[PageStarts] = ()
) -> Ranked:
    """Rank the matching passages of each text, best first, by scores that are comparable across texts.

    A score is the share of the query's weight that a passage and its context match; a term's weight is its rarity in
    all texts. `queries` are phrasings of one question. A passage's score is the mean over them, because agreement of
    phrasings is better evidence than one high score (Fox and Shaw, "Combination of multiple searches", TREC 1994). Its
    `coverage` is the maximum over them. The best passage for each part of a question scores as high as the best one for
    the whole of it. `names`: for each text its title and the words of its address. A text gains score by the share of
    the query's weight that its name matches. `pages`: for each text where the pages of a PDF file begin.
    """
    numbers = [number for number, text in enumerate(texts) if text]
    indexes = [Index(texts[number], None, pages[number] if pages else ()) for number in numbers]
    by_query = [score_together(indexes, query) for query in queries]
    named = [Index(names[number] if names else "") for number in numbers]
    values = _compare_windows(by_query, named)
    ranked: list[tuple[Passage, ...]] = [()] * len(texts)
    echoes: list[frozenset[int]] = [frozenset()] * len(texts)
    for place, number in enumerate(numbers):
        index, own = indexes[place], [scored[place] for scored in by_query]
        found = (find_echoes(index, scored.query.text, folded=scored.query.folded) for scored in own)
        echoes[number] = frozenset(index.starts[window] for windows in found for window in windows)
        strength = 0.0 if echoes[number] and len(numbers) > 1 else max(map(match_strength, own), default=0.0)
        ranked[number] = _rank_passages(index, own, values[place], strength)
    capped = list(_cap_echoes(ranked, echoes))
    for place, number in enumerate(numbers):
        capped[number] = _complete_passages(indexes[place], capped[number])
    return tuple(capped)


def _compare_windows(by_query: Sequence[Sequence[WindowScores]], names: Sequence[Index]) -> list[list[float]]:
    """Return the scores of the windows of each text, comparable across texts.

    `by_query`: for each query the scores of each text. `names`: the name of each text.
    """
    whole = [_mean_scores(own, name) for *own, name in zip(*by_query, names, strict=True)]
    best = max(map(max, whole), default=0.0)
    for part in _score_parts(by_query[0]):
        values = [_mean_scores([scored], name) for scored, name in zip(part, names, strict=True)]
        if largest := max(map(max, values)):
            factor = best / largest
            whole = [
                [max(value, factor * own) for value, own in zip(*both, strict=True)]
                for both in zip(whole, values, strict=True)
            ]
    return whole


def _mean_scores(by_query: Sequence[WindowScores], name: Index) -> list[float]:
    """Return the mean scores of a text's windows, as shares of the weight of each query, with the gain by its name."""
    means = [0.0] * by_query[0].index.size
    for scored in by_query:
        gain = 1 + NAME_GAIN * match_name(name, scored)
        for window, value in enumerate(scored.scores):
            means[window] += gain * value / scored.query_weight / len(by_query)
    return means


def _score_parts(scored: Sequence[WindowScores]) -> list[list[WindowScores]]:
    """Return for each part of a question the scores of each text; nothing if the question is one for some text."""
    indexes, divided = [each.index for each in scored], [divide_query(each.query) for each in scored]
    if len(set(map(len, divided))) != 1:  # texts in other languages have other words for "and"
        return []
    return [
        _score_found(indexes, [(part, each.hits) for part, each in zip(parts, scored, strict=True)])
        for parts in zip(*divided, strict=True)
    ]


def _complete_passages(index: Index, passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Return the passages with what belongs to them at their edges, and with labels. They may overlap then."""
    completed = []
    for place, passage in enumerate(passages):
        start, end = complete_range(index, passage.start, passage.end)
        label = range_label(index, start, end) if place < MAX_LABELS else ""
        completed.append(replace(passage, start=start, end=end, label=label))
    return tuple(completed)


def _cap_echoes(ranked: Sequence[tuple[Passage, ...]], echoes: Sequence[frozenset[int]]) -> Ranked:
    """Return the passages with those that repeat the question scored at most `ECHO_SHARE` of the best other passage.

    `echoes`: for each text the starts of the windows that repeat it.
    """
    if not any(echoes):
        return tuple(ranked)

    def repeats(number: int, passage: Passage) -> bool:
        return any(passage.start <= start < passage.end for start in echoes[number])

    others = [p.score for number, passages in enumerate(ranked) for p in passages if not repeats(number, p)]
    most = ECHO_SHARE * max(others) if others else float("inf")
    capped = []
    for number, passages in enumerate(ranked):
        scored = [replace(p, score=min(p.score, most)) if repeats(number, p) else p for p in passages]
        capped.append(tuple(sorted(scored, key=lambda p: -p.score)))
    return tuple(capped)


def score_together(indexes: Sequence[Index], query: str) -> list[WindowScores]:
    """Score the windows of each text for a query. A term has one weight, by its rarity in all texts together."""
    return _score_found(indexes, [find_terms(index, query) for index in indexes])


def _score_found(indexes: Sequence[Index], found: Sequence[tuple[Query, list[Hits]]]) -> list[WindowScores]:
    """Score the windows of each text for the terms of its query and their hits."""
    counts = _effective_counts(indexes, [hits for _, hits in found])
    windows = sum(index.size for index in indexes)
    share = FEEDBACK_SHARE if len(indexes) > 1 else SINGLE_PAGE_SHARE
    return [
        add_feedback(score_windows(index, parsed, hits, [counts[_term_key(each)] for each in hits], windows), share)
        for index, (parsed, hits) in zip(indexes, found, strict=True)
    ]


def _effective_counts(indexes: Sequence[Index], found: Sequence[Sequence[Hits]]) -> dict[tuple[str, Match], float]:
    """Return the number of windows that contain each term, as IDF uses it.

    This is the geometric mean of the windows and the pages that contain the term. A page about a rare word contains it
    in many windows, which must not make it a frequent word; and few pages alone would tell little.
    """
    counts: Counter[tuple[str, Match]] = Counter()
    pages: Counter[tuple[str, Match]] = Counter()
    for hits in found:
        for term_hits in hits:
            counts[_term_key(term_hits)] += len(term_hits.windows)
            pages[_term_key(term_hits)] += bool(term_hits.windows)
    if len(indexes) < 2:
        return {key: float(count) for key, count in counts.items()}
    by_page = PAGE_SHARE * sum(index.size for index in indexes) / len(indexes)
    return {key: math.sqrt(count * pages[key] * by_page) for key, count in counts.items()}


def match_name(name: Index, scored: WindowScores) -> float:
    """Return the share of the query's weight, from 0 to 1, that a text's name matches; 0 if it repeats the query."""
    query = scored.query
    if find_echoes(name, query.text, folded=query.folded):
        return 0.0
    matched = sum(
        weight
        for weight, hits in zip(scored.idf, scored.hits, strict=True)
        if weight and find_hits(name, hits.term, query.language, query.folded).count
    )
    return matched / scored.query_weight if scored.query_weight else 0.0


def _term_key(hits: Hits) -> tuple[str, Match]:
    # Not the stem: pages in different languages may stem the same word differently.
    return hits.term.surface, hits.term.match


def join_spans(text: str, spans: Sequence[tuple[int, int]], labels: Sequence[str] = ()) -> str:
    """Join the verbatim spans with gap lines for what is omitted.

    A gap line ends with the label of the next span, unless the previous span or gap line has the same words.
    """
    parts: list[str] = []
    position = 0
    last_label = ""
    for number, (start, end) in enumerate([*spans, (len(text), len(text))]):
        if start > position:
            label = labels[number] if number < len(labels) else ""
            is_new = label != last_label and not (parts and label.strip() in parts[-1])
            on_new_line = not parts or parts[-1].endswith("\n")
            parts.append(("" if on_new_line else "\n") + gap_line(position, start, label if is_new else ""))
            last_label = label
        parts.append(shown_part(text, start, end))
        position = end
    return "".join(parts)


def _rank_passages(
    index: Index, by_query: Sequence[WindowScores], scores: Sequence[float], strength: float
) -> tuple[Passage, ...]:
    """Return the passages of one text that match a term of any query, best first.

    `scores`: of its windows. `strength`: of its match.
    """
    coverage = [0.0] * index.size
    for scored in by_query:
        for window, value in enumerate(dict(scored.stages).get("context", ())):
            coverage[window] = max(coverage[window], value / scored.query_weight)
    passages = [
        (max(scores[first:last]), first, last, share)
        for first, last in _join_short_windows(index)
        if (share := max(coverage[first:last])) > 0
    ]
    passages.sort(key=lambda passage: (-passage[0], passage[1]))
    return tuple(
        Passage(index.starts[first], index.end(last - 1), score, "", share, strength)
        for score, first, last, share in passages
    )


def _join_short_windows(index: Index) -> list[tuple[int, int]]:
    """Return ranges of windows. A short window, or one that ends with a heading, is joined with the next ones, at the
    end of the text with the last."""
    ranges: list[tuple[int, int]] = []
    first = 0
    for window in range(index.size):
        last = window + 1
        start, end = index.starts[first], index.end(window)
        if len(index.text[start:end].strip()) >= SHORT_CHARS and not index.ends_with_heading(start, end):
            ranges.append((first, last))
            first = last
    if first < index.size:
        ranges.append((ranges.pop()[0] if ranges else first, index.size))
    return ranges
