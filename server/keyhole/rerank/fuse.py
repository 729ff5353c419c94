"""Convert scores to an order of passages: reciprocal rank fusion, thresholds and reordering. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from keyhole.records import Passage, Ranked
from keyhole.rerank.base import Order

RANK_CONSTANT: Final = 20
"""Damps the first ranks, so that a text with two high ranks comes before a text with one first rank. Cormack,
Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009, use 60 for lists of a thousand; lists here have about 200."""
SCORE_SHARE: Final = 0.5
"""Weight of a rank by score, relative to a lexical rank. On development questions, equal weights found no more answers
in hard pages. In easy pages, where the answer contains the question's words, they lost five answers in a hundred."""

Place = tuple[int, int]
"""The number of a source, and the number of a passage in it."""


def fuse_ranks(scores: Sequence[float | None]) -> Order:
    """Order texts by their lexical rank fused with their rank by score.

    `scores` are in lexical order. A text without a score keeps its lexical rank in both orders.
    """
    rank = {at: rank for rank, (at, _) in enumerate(_sort_scored(scores))}

    def fused_score(at: int) -> float:
        return 1 / (RANK_CONSTANT + at + 1) + SCORE_SHARE / (RANK_CONSTANT + rank.get(at, at) + 1)

    return Order(tuple(sorted(range(len(scores)), key=lambda at: -fused_score(at))))


def order_by_score(scores: Sequence[float | None], threshold: float | None) -> Order:
    """Order texts by score, with ties in lexical order.

    Texts below `threshold` go last, after the texts without a score: those may still be relevant. No text is removed,
    because the budget decides how many passages are shown.
    """
    scored = _sort_scored(scores)
    passed = [at for at, score in scored if threshold is None or score >= threshold]
    return Order(tuple(passed), tuple(at for at, _ in scored[len(passed) :]))


def apply_order(positions: Sequence[int], order: Order) -> list[int]:
    """Apply the order of the first texts to `positions`. Positions that are missing in `order` go in the middle."""
    named = {*order.first, *order.last}
    rest = [position for at, position in enumerate(positions) if at not in named]
    return [*(positions[at] for at in order.first), *rest, *(positions[at] for at in order.last)]


def list_places(ranked: Ranked) -> list[Place]:
    """List the passages of all sources, best lexical score first."""
    places = [(source, at) for source, passages in enumerate(ranked) for at in range(len(passages))]
    return sorted(places, key=lambda place: -ranked[place[0]][place[1]].score)


def reorder_passages(ranked: Ranked, order: Sequence[Place]) -> Ranked:
    """Return the passages in a new order over all sources.

    The lexical scores are reassigned: the first passage gets the highest, and so on. Scores of different scorers do
    not compare, and later stages expect the spread of lexical scores.
    """
    levels = sorted((passage.score for passages in ranked for passage in passages), reverse=True)
    reordered: list[list[Passage]] = [[] for _ in ranked]
    for (source, at), level in zip(order, levels, strict=True):
        reordered[source].append(replace(ranked[source][at], score=level))
    return tuple(tuple(passages) for passages in reordered)


def _sort_scored(scores: Sequence[float | None]) -> list[tuple[int, float]]:
    """Return the positions that have a score, with their scores, best first."""
    return sorted(((at, score) for at, score in enumerate(scores) if score is not None), key=lambda pair: -pair[1])
