"""Order the sources of a search, and collapse pages with nearly the same text into one source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from keyhole.passages.near_duplicates import group_duplicates, sketch
from keyhole.records import Passage, Ranked, Source
from keyhole.websearch.merge import RANK_CONSTANT

RankedSource = tuple[Source, tuple[Passage, ...]]
"""A source and its passages, best first."""


def order_sources(sources: Sequence[Source], ranked: Ranked, scope: str) -> list[int]:
    """Return the numbers of the sources, best first.

    The engines' order and the order of the sources' best passages are fused by reciprocal rank. With the scope `stored`
    only the passages count. Sources that were not read come last.
    """
    numbers = range(len(sources))
    by_passage = sorted(numbers, key=lambda number: -max((p.score for p in ranked[number]), default=0.0))
    place = {number: rank for rank, number in enumerate(by_passage)}

    def score(number: int) -> float:
        engine = 0.0 if scope == "stored" else 1 / (RANK_CONSTANT + number)
        return engine + 1 / (RANK_CONSTANT + place[number])

    return sorted(numbers, key=lambda number: (sources[number].artifact is None, -score(number), place[number]))


def first_different(read: Sequence[RankedSource], count: int) -> list[RankedSource]:
    """Return the first `count` sources of `read` after collapsing copies.

    Sketching a text takes as long as ranking it, and stored sources have no sketch yet. So only as many sources are
    compared as necessary.
    """
    compared = len(read) if all(source.sketch for source, _ in read) else count
    while len(found := collapse_copies(read[:compared])) < count and compared < len(read):
        compared += count - len(found)
    return found[:count]


def collapse_copies(sources: Sequence[RankedSource]) -> list[RankedSource]:
    """Return the first source of each group with nearly the same text; its `copies` are the URLs of the others."""
    read = [place for place, (source, _) in enumerate(sources) if source.artifact]
    sketches = [sources[place][0].sketch or sketch(text_of(sources[place][0])) for place in read]
    copies = {read[group[0]]: group[1:] for group in group_duplicates(sketches)}
    result = []
    for place, (source, passages) in enumerate(sources):
        if source.artifact is None:
            result.append((source, passages))
        elif place in copies:
            others = [sources[read[other]][0] for other in copies[place]]
            urls = [url for other in others for url in (other.url, *other.copies)]
            result.append((replace(source, copies=(*source.copies, *urls)), passages))
    return result


def text_of(source: Source) -> str:
    """Return the main part of a source's text, "" if it was not read."""
    return source.artifact.main if source.artifact else ""
