"""From scores to an order: reciprocal rank fusion, thresholds, and passages put into the order. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from keyhole.records import Passage, Ranked
from keyhole.rerank.base import Verdict

RANK_CONSTANT: Final = 20
"""Damps the first ranks, so that what both orders put high comes before the favourite of one. Cormack, Clarke and
Büttcher, "Reciprocal Rank Fusion", SIGIR 2009, took 60 for lists of a thousand; here they have some two hundred."""
SHARE: Final = 0.5
"""What a rank by embedding counts beside a lexical one. Measured on development questions: with equal shares hard
pages gain as much and easy ones, where the words of the question stand in the answer, lose five in a hundred."""

Place = tuple[int, int]
"""Which source, and which of its passages."""


def fused(scores: Sequence[float | None]) -> Verdict:
    """Texts in lexical order by both ranks, the lexical and that by score. One without a score has its lexical rank
    for both: nothing is known that would move it."""
    judged = sorted((at for at, score in enumerate(scores) if score is not None), key=lambda at: -_known(scores[at]))
    rank = dict(zip(judged, range(len(judged)), strict=True))

    def value(at: int) -> float:
        return 1 / (RANK_CONSTANT + at + 1) + SHARE / (RANK_CONSTANT + rank.get(at, at) + 1)

    return Verdict(tuple(sorted(range(len(scores)), key=lambda at: -value(at))))


def by_score(scores: Sequence[float | None], threshold: float | None) -> Verdict:
    """Texts by score alone, ties in lexical order. What scores under the threshold comes after all others, also after
    those that were not judged: of these nothing bad is known. It is not dropped, for the budget has room or not."""
    order = sorted((at for at, score in enumerate(scores) if score is not None), key=lambda at: -_known(scores[at]))
    enough = [at for at in order if threshold is None or _known(scores[at]) >= threshold]
    return Verdict(tuple(enough), tuple(order[len(enough) :]))


def applied(order: Sequence[int], verdict: Verdict, judged: int) -> list[int]:
    """An order after a verdict on its first `judged` places."""
    said = {*verdict.first, *verdict.last}
    rest = [order[at] for at in range(len(order)) if at >= judged or at not in said]
    return [*(order[at] for at in verdict.first), *rest, *(order[at] for at in verdict.last)]


def places(ranked: Ranked) -> list[Place]:
    """All passages of all sources, best lexical score first."""
    every = [(source, at) for source, passages in enumerate(ranked) for at in range(len(passages))]
    return sorted(every, key=lambda place: -ranked[place[0]][place[1]].score)


def reordered(ranked: Ranked, order: Sequence[Place]) -> Ranked:
    """The passages in another order over all sources. The best gets the highest of the lexical scores, and so on:
    scores of different scorers do not compare, and what comes after goes by how lexical ones are spread."""
    levels = sorted((passage.score for passages in ranked for passage in passages), reverse=True)
    found: list[list[Passage]] = [[] for _ in ranked]
    for (source, at), level in zip(order, levels, strict=True):
        found[source].append(replace(ranked[source][at], score=level))
    return tuple(tuple(passages) for passages in found)


def _known(score: float | None) -> float:
    return 0.0 if score is None else score
