"""Passages of several texts under one room, breadth first. Ranks and fits; words nothing."""

from __future__ import annotations

from collections.abc import Sequence

from keyhole.measure import serialized_size
from keyhole.passages.pack import Scored, gap_line
from keyhole.passages.split import split
from keyhole.passages.words import Query, words

SHARE_CAP = 2
"""No source takes more than twice its even share, so that one long page cannot crowd out the others."""


def rank_sources(texts: Sequence[str], query: str) -> list[list[Scored]]:
    """For each text its matching passages, best first, comparable across texts: BM25 with the statistics of all
    passages of all texts (Robertson and Zaragoza, 2009; rank-bm25's BM25Plus, whose weights are never negative,
    which matters where the few pages of a search all hold the query's words)."""
    from rank_bm25 import BM25Plus  # brings numpy, which nothing else needs

    wanted = [stem for _, stem in Query.of(query).terms]
    passages = [(index, passage) for index, text in enumerate(texts) for passage in split(text)]
    stems = [[stem for _, stem in words(texts[index][p.start : p.end])] for index, p in passages]
    ranked: list[list[Scored]] = [[] for _ in texts]
    if not any(stems):
        return ranked
    for (index, passage), own, score in zip(passages, stems, BM25Plus(stems).get_scores(wanted), strict=True):
        # BM25Plus gives every passage a floor; one without any term is no match all the same.
        if not set(wanted).isdisjoint(own):
            ranked[index].append((passage.start, passage.end, float(score)))
    return [sorted(found, key=lambda passage: (-passage[2], passage[0])) for found in ranked]


def pack_across(texts: Sequence[str], ranked: Sequence[Sequence[Scored]], room: int) -> list[list[Scored]]:
    """Each text's chosen passages in reading order: every text its best before any its second."""
    chosen: list[list[Scored]] = [[] for _ in texts]
    cap = SHARE_CAP * room // max(1, len(texts))
    spent = [0] * len(texts)
    left = room
    for turn in range(max((len(passages) for passages in ranked), default=0)):
        for index, passages in enumerate(ranked):
            if turn >= len(passages) or passages[turn][1] - passages[turn][0] > left:
                continue
            start, end, _ = passages[turn]
            size = serialized_size(texts[index][start:end]) + 2 * serialized_size("\n" + gap_line(end, end))
            if size <= left and spent[index] + size <= cap:
                chosen[index].append(passages[turn])
                spent[index] += size
                left -= size
    return [_joined(sorted(passages)) for passages in chosen]


def _joined(passages: list[Scored]) -> list[Scored]:
    joined: list[Scored] = []
    for start, end, score in passages:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end, max(score, joined[-1][2]))
        else:
            joined.append((start, end, score))
    return joined
