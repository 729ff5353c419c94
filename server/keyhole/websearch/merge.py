"""Many lists of hits into one: one entry per page, fused by rank. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from keyhole.records import Hit
from keyhole.websearch.canonical import address, is_variant, page_key

RANK_CONSTANT: Final = 60
"""Damps the first ranks so that agreement of engines counts more than one engine's favourite. Cormack, Clarke
and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009, who measured 60 as safe."""


def merge(lists: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """Hits fused over engines and phrasings, best first.

    Of each page the first title and date and the longest snippet are kept, and the first address that is no variant
    for phones.
    """
    score: dict[str, float] = {}
    found: dict[str, Hit] = {}
    for hits in lists:
        seen: set[str] = set()
        for hit in hits:
            key = page_key(hit.url)
            if not key or key in seen:
                continue
            seen.add(key)  # so that its size is the rank among distinct pages
            score[key] = score.get(key, 0.0) + 1 / (RANK_CONSTANT + len(seen))
            found[key] = _joined(found[key], hit) if key in found else replace(hit, url=address(hit.url))
    # Sorting is stable, and `score` has the pages in the order in which they were first met.
    return tuple(found[key] for key in sorted(score, key=lambda key: -score[key]))


def _joined(first: Hit, other: Hit) -> Hit:
    url = address(other.url) if is_variant(first.url) and not is_variant(other.url) else first.url
    return Hit(
        url,
        first.title or other.title,
        max(first.snippet, other.snippet, key=len),
        first.engine,
        first.date or other.date,
    )
