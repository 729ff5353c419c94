"""The port of scorers of passages, and functions that turn scores into an order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final, Protocol

from keyhole.errors import KeyholeError
from keyhole.records import Passage, Ranked


class Scorer(Protocol):
    """A model that scores how well texts answer a query."""

    @property
    def name(self) -> str:
        """The name of the scorer in results."""
        ...

    @property
    def limit(self) -> int:
        """The maximum of texts to score for one query."""
        ...

    @property
    def seconds(self) -> float:
        """The time limit of one call, in seconds."""
        ...

    @property
    def languages(self) -> Collection[str]:
        """The languages of the queries that it scores, empty for all."""
        ...

    async def score(self, query: str, texts: Sequence[str], seconds: float) -> tuple[float, ...]:
        """Return a score for each text, a higher one for a better match.

        All or nothing: raises KeyholeError or TimeoutError if a text has no score after `seconds`.
        """
        ...

    def rank(self, scores: Sequence[float], strength: float | None) -> list[int]:
        """Return the order that these scores give to texts, as positions. `scores` are in the order of the texts.

        `strength`: how probable it is by words, from 0 to 1, that the texts answer (passages/strength.py); None if they
        share no word with the query.
        """
        ...


def describe_error(error: KeyholeError) -> str:
    """Describe an error in a few words, without the address from the settings."""
    return str(error.facts.get("fault", error.code))


# Orders: scores become an order of passages, by reciprocal rank fusion and reordering.

RANK_CONSTANT: Final = 10
"""Damps the first ranks, so that a text with two high ranks comes before a text with one first rank. Cormack,
Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009, use 60 for lists of a thousand; lists here are short."""
MIN_WEIGHT: Final = 0.4
MAX_WEIGHT: Final = 1.2
"""Weight of a rank by score where the words match well, and where they hardly match. With a static model, the first
4,000 characters answer 242 of 277 reading tasks, with weights of 1 and 2 238, and with words alone 237."""

CandidatePlace = tuple[int, int]
"""The number of a source, and the number of a passage in it."""


def fuse_ranks(scores: Sequence[float], strength: float | None) -> list[int]:
    """Return the positions of texts, ordered by their lexical rank fused with their rank by score.

    The best text by words stays first: a result of 1,000 characters has room for three.

    `scores` are in lexical order. `strength`: how probable it is by words, from 0 to 1, that the texts answer. The less
    probable it is, the more a rank by score counts: from `MIN_WEIGHT` to `MAX_WEIGHT` times as much as a lexical rank.
    None, if no word matches, leaves the order by score alone.
    """
    if strength is None:
        return order_by_score(scores)
    weight = MAX_WEIGHT - (MAX_WEIGHT - MIN_WEIGHT) * strength
    rank = {at: rank for rank, at in enumerate(order_by_score(scores))}
    fused = [1 / (RANK_CONSTANT + at + 1) + weight / (RANK_CONSTANT + rank[at] + 1) for at in range(len(scores))]
    return sorted(order_by_score(fused), key=bool)  # the first text stays first


def order_by_score(scores: Sequence[float]) -> list[int]:
    """Return the positions of texts by score, best first, with ties in lexical order."""
    return sorted(range(len(scores)), key=lambda at: -scores[at])


def list_places(ranked: Ranked) -> list[CandidatePlace]:
    """List the passages of all sources, best lexical score first."""
    places = [(source, at) for source, passages in enumerate(ranked) for at in range(len(passages))]
    return sorted(places, key=lambda place: -ranked[place[0]][place[1]].score)


def reorder_passages(ranked: Ranked, order: Sequence[CandidatePlace]) -> Ranked:
    """Return the passages in a new order over all sources.

    The lexical scores are reassigned: the first passage gets the highest, and so on. Scores of different scorers do
    not compare, and later stages expect the spread of lexical scores.
    """
    levels = sorted((passage.score for passages in ranked for passage in passages), reverse=True)
    reordered: list[list[Passage]] = [[] for _ in ranked]
    for (source, at), level in zip(order, levels, strict=True):
        reordered[source].append(replace(ranked[source][at], score=level))
    return tuple(tuple(passages) for passages in reordered)
