"""Rank the passages of several texts by comparable scores, and join passages with gap lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from keyhole.passages.feedback import add_feedback
from keyhole.passages.find import Hits, Index
from keyhole.passages.labels import gap_label
from keyhole.passages.packing.one_text import gap_line
from keyhole.passages.query import Match
from keyhole.passages.rank import WindowScores, find_terms, score_windows
from keyhole.records import Passage, Ranked

SHORT_CHARS: Final = 60
"""A shorter window, such as a lone heading, a lead-in or "Read more", is joined with the next one."""
MAX_LABELS: Final = 30
"""Passages of a text that have a label: more are seldom shown, and each label costs a search backwards."""


def rank_sources(texts: Sequence[str], queries: Sequence[str]) -> Ranked:
    """Rank the matching passages of each text, best first, by scores that are comparable across texts.

    A score is the share of the query's weight that a passage and its context match; a term's weight is its rarity in
    all texts. `queries` are phrasings of one question. A passage's score is the mean over them, because agreement of
    phrasings is better evidence than one high score (Fox and Shaw, "Combination of multiple searches", TREC 1994). Its
    `coverage` is the maximum over them.
    """
    numbers = [number for number, text in enumerate(texts) if text]
    indexes = [Index(texts[number]) for number in numbers]
    by_query = [score_together(indexes, query) for query in queries]
    ranked: list[tuple[Passage, ...]] = [()] * len(texts)
    for place, number in enumerate(numbers):
        ranked[number] = _rank_passages(indexes[place], [scored[place] for scored in by_query])
    return tuple(ranked)


def score_together(indexes: Sequence[Index], query: str) -> list[WindowScores]:
    """Score the windows of each text for a query. A term has one weight, by its rarity in all texts together."""
    found = [find_terms(index, query) for index in indexes]
    counts: Counter[tuple[str, Match]] = Counter()
    for _, hits in found:
        for term_hits in hits:
            counts[_term_key(term_hits)] += len(term_hits.windows)
    windows = sum(index.size for index in indexes)
    return [
        add_feedback(score_windows(index, parsed, hits, [counts[_term_key(each)] for each in hits], windows))
        for index, (parsed, hits) in zip(indexes, found, strict=True)
    ]


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
        parts.append(text[start:end])
        position = end
    return "".join(parts)


def _rank_passages(index: Index, by_query: Sequence[WindowScores]) -> tuple[Passage, ...]:
    """Return the passages of one text that match a term of any query, best first."""
    scores, coverage = [0.0] * index.size, [0.0] * index.size
    for scored in by_query:
        for window, value in enumerate(scored.scores):
            scores[window] += value / scored.query_weight / len(by_query)
        for window, value in enumerate(dict(scored.stages).get("context", ())):
            coverage[window] = max(coverage[window], value / scored.query_weight)
    passages = [
        (max(scores[first:last]), first, last, share)
        for first, last in _join_short_windows(index)
        if (share := max(coverage[first:last])) > 0
    ]
    passages.sort(key=lambda passage: (-passage[0], passage[1]))
    ranked = []
    for place, (score, first, last, share) in enumerate(passages):
        label = gap_label(index, first) if place < MAX_LABELS else ""
        ranked.append(Passage(index.starts[first], index.end(last - 1), score, label, share))
    return tuple(ranked)


def _join_short_windows(index: Index) -> list[tuple[int, int]]:
    """Return ranges of windows. A short window is joined with the next ones, at the end of the text with the last."""
    ranges: list[tuple[int, int]] = []
    first = 0
    for window in range(index.size):
        last = window + 1
        if len(index.text[index.starts[first] : index.end(window)].strip()) >= SHORT_CHARS:
            ranges.append((first, last))
            first = last
    if first < index.size:
        ranges.append((ranges.pop()[0] if ranges else first, index.size))
    return ranges
