"""Merge the hits of several engines into one list, one entry per page, by reciprocal rank fusion. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from keyhole.records import Hit
from keyhole.websearch.canonical import clean_url, is_variant, page_key

RANK_CONSTANT: Final = 60
"""Damps the first ranks, so that agreement of engines counts more than the first hit of one engine. Cormack, Clarke
and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009, measured 60 as safe."""


def merge_hits(lists: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """Merge the hits of all engines and phrasings into one list, best first.

    Each page keeps its first title and date, its longest snippet, and its first URL that is not a mobile variant.
    """
    score: dict[str, float] = {}
    pages: dict[str, Hit] = {}
    for hits in lists:
        seen: set[str] = set()
        for hit in hits:
            key = page_key(hit.url)
            if not key or key in seen:
                continue
            seen.add(key)  # its size is the rank among distinct pages
            score[key] = score.get(key, 0.0) + 1 / (RANK_CONSTANT + len(seen))
            pages[key] = _merge_pair(pages[key], hit) if key in pages else replace(hit, url=clean_url(hit.url))
    # Sorting is stable: pages with equal scores stay in the order in which they first appeared.
    return tuple(pages[key] for key in sorted(score, key=lambda key: -score[key]))


def _merge_pair(first: Hit, other: Hit) -> Hit:
    url = clean_url(other.url) if is_variant(first.url) and not is_variant(other.url) else first.url
    return Hit(
        url,
        first.title or other.title,
        max(first.snippet, other.snippet, key=len),
        first.engine,
        first.date or other.date,
    )
