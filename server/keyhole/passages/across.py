"""Passages of several texts under one room, breadth first. Ranks and fits; words nothing."""

from __future__ import annotations

from collections.abc import Sequence

from keyhole.measure import serialized_size
from keyhole.passages.pack import Scored, gap_line
from keyhole.passages.rank import rank
from keyhole.passages.split import split
from keyhole.passages.words import Query

SHARE_CAP = 2
"""No source takes more than twice its even share, so that one long page cannot crowd out the others."""


def rank_sources(texts: Sequence[str], query: str) -> list[list[Scored]]:
    """For each text its matching passages, best first."""
    asked = Query.of(query)
    ranked = []
    for text in texts:
        passages = split(text)
        scored = [(p.start, p.end, s) for p, s in zip(passages, rank(text, passages, asked), strict=True) if s > 0]
        ranked.append(sorted(scored, key=lambda passage: (-passage[2], passage[0])))
    return ranked


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
