"""Passages of several texts under one room, breadth first. Ranks and fits; words nothing."""

from __future__ import annotations

from collections.abc import Sequence

from keyhole.measure import serialized_size
from keyhole.passages import index_of
from keyhole.passages.pack import gap_line
from keyhole.passages.stems import query_stems, stems
from keyhole.records import Passage, Ranked

SHARE_CAP = 2
"""No source takes more than twice its even share, so that one long page cannot crowd out the others."""


def rank_sources(texts: Sequence[str], queries: Sequence[str]) -> Ranked:
    """For each text its matching passages, best first, comparable across texts: BM25 with the statistics of all
    passages of all texts (Robertson and Zaragoza, 2009; rank-bm25's BM25Plus, whose weights are never negative,
    which matters where the few pages of a search all hold the query's words). `queries`: phrasings of one question."""
    from rank_bm25 import BM25Plus  # brings numpy, which nothing else needs

    wanted = list(dict.fromkeys(term for query in queries for term in query_stems(query)))
    places = [(number, window) for number, text in enumerate(texts) if text for window in range(index_of(text).size)]
    held = [stems(_window_text(texts[number], window)) for number, window in places]
    ranked: list[list[Passage]] = [[] for _ in texts]
    if any(held):
        for (number, window), own, score in zip(places, held, BM25Plus(held).get_scores(wanted), strict=True):
            # BM25Plus gives every passage a floor; one without any term is no match all the same.
            if not set(wanted).isdisjoint(own):
                index = index_of(texts[number])
                ranked[number].append(Passage(index.starts[window], index.end(window), float(score)))
    return tuple(tuple(sorted(found, key=lambda passage: (-passage.score, passage.start))) for found in ranked)


def pack_across(texts: Sequence[str], ranked: Sequence[Sequence[Passage]], room: int) -> list[list[Passage]]:
    """Each text's chosen passages in reading order: every text its best before any its second."""
    chosen: list[list[Passage]] = [[] for _ in texts]
    cap = SHARE_CAP * room // max(1, len(texts))
    spent = [0] * len(texts)
    left = room
    for turn in range(max((len(passages) for passages in ranked), default=0)):
        for number, passages in enumerate(ranked):
            if turn >= len(passages) or passages[turn].end - passages[turn].start > left:
                continue
            start, end = passages[turn].start, passages[turn].end
            gaps = 2 * serialized_size("\n" + gap_line(len(texts[number]), len(texts[number])))
            size = serialized_size(texts[number][start:end]) + gaps
            if size <= left and spent[number] + size <= cap:
                chosen[number].append(passages[turn])
                spent[number] += size
                left -= size
    return [_joined(sorted(passages, key=lambda passage: passage.start)) for passages in chosen]


def join_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The verbatim spans and, on lines of their own, the gaps around them."""
    parts: list[str] = []
    position = 0
    for start, end in [*spans, (len(text), len(text))]:
        if start > position:
            parts.append(("" if not parts or parts[-1].endswith("\n") else "\n") + gap_line(position, start))
        parts.append(text[start:end])
        position = end
    return "".join(parts)


def _window_text(text: str, window: int) -> str:
    index = index_of(text)
    return text[index.starts[window] : index.end(window)]


def _joined(passages: list[Passage]) -> list[Passage]:
    joined: list[Passage] = []
    for passage in passages:
        if joined and joined[-1].end == passage.start:
            joined[-1] = Passage(joined[-1].start, passage.end, max(passage.score, joined[-1].score))
        else:
            joined.append(passage)
    return joined
