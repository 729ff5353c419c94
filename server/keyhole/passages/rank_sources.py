"""Passages of several texts: ranked so that their scores compare, and fitted into one room. Words nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from keyhole.passages.corpus import scored_together
from keyhole.passages.find import Index
from keyhole.passages.labels import label
from keyhole.passages.pack import gap_line
from keyhole.passages.rank import Scored
from keyhole.records import Passage, Ranked

SHORT_CHARS: Final = 60
"""A window shorter than this is shown with what follows it: a lone heading, a lead-in, "Read more"."""
LABELLED: Final = 30
"""Passages of a text that name what stands above them: more than these of one text are seldom shown, and a label costs
a look back."""


def rank_sources(texts: Sequence[str], queries: Sequence[str]) -> Ranked:
    """For each text its matching passages, best first, comparable across texts: a score is what a passage and its
    surroundings hold of the question, by how rare the words are in all texts together, to the question's whole weight.

    `queries`: phrasings of one question. A passage has the mean of their scores, as agreement says more than one
    phrasing's favourite (Fox and Shaw, "Combination of multiple searches", TREC 1994), and holds what the best holds.
    """
    numbers = [number for number, text in enumerate(texts) if text]
    indexes = [Index(texts[number]) for number in numbers]
    by_query = [scored_together(indexes, query) for query in queries]
    ranked: list[tuple[Passage, ...]] = [()] * len(texts)
    for place, number in enumerate(numbers):
        ranked[number] = _ranked(indexes[place], [scored[place] for scored in by_query])
    return tuple(ranked)


def join_spans(text: str, spans: Sequence[tuple[int, int]], labels: Sequence[str] = ()) -> str:
    """The verbatim spans and, on lines of their own, the gaps around them; a label says what stands above its span,
    unless that was just shown or said."""
    parts: list[str] = []
    position = 0
    said = ""
    for number, (start, end) in enumerate([*spans, (len(text), len(text))]):
        if start > position:
            above = labels[number] if number < len(labels) else ""
            new = above if above != said and not (parts and above.strip() in parts[-1]) else ""
            parts.append(("" if not parts or parts[-1].endswith("\n") else "\n") + gap_line(position, start, new))
            said = above
        parts.append(text[start:end])
        position = end
    return "".join(parts)


def _ranked(index: Index, scored: Sequence[Scored]) -> tuple[Passage, ...]:
    """The passages of one text that hold anything of a query, scores of different queries made comparable."""
    scores, held = [0.0] * index.size, [0.0] * index.size
    for each in scored:
        for window, value in enumerate(each.scores):
            scores[window] += value / each.mass / len(scored)
        for window, value in enumerate(dict(each.stages).get("context", ())):
            held[window] = max(held[window], value / each.mass)
    found = [
        (max(scores[first:last]), first, last, share)
        for first, last in _units(index)
        if (share := max(held[first:last])) > 0
    ]
    found.sort(key=lambda unit: (-unit[0], unit[1]))
    return tuple(
        Passage(index.starts[first], index.end(last - 1), score, label(index, first) if place < LABELLED else "", share)
        for place, (score, first, last, share) in enumerate(found)
    )


def _units(index: Index) -> list[tuple[int, int]]:
    """The windows, a short one together with those after it up to the first that is not, the last with those before."""
    units: list[tuple[int, int]] = []
    first = 0
    for window in range(index.size):
        last = window + 1
        if len(index.text[index.starts[first] : index.end(window)].strip()) >= SHORT_CHARS:
            units.append((first, last))
            first = last
    if first < index.size:
        units.append((units.pop()[0] if units else first, index.size))
    return units
