"""Order hits by how probably their pages answer a question, before any page is read. Pure.

The rank by the engines counts most, because they compare whole pages. The words of the question in a hit's title,
address and snippet count less: engines shorten snippets, and spam repeats the question.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import chain
from typing import Final
from urllib.parse import unquote

from keyhole.passages.stems import query_words, stem_text
from keyhole.records import Hit

RANK_CONSTANT: Final = 10
"""Damps the ranks. With 10, the tenth hit has half of the rank weight of the first."""
WORDS_WEIGHT: Final = 0.3
"""Weight of the words, relative to the rank of the first hit. Weights from 0.15 to 0.6 find as many pages."""
ENOUGH_SHARE: Final = 0.5
"""Share of the question's weight from which more words count no more: a title that repeats it is no better."""
FIELD_WEIGHTS: Final = (1.0, 0.5, 0.7)
"""Weights of a word in the title, in the path of the address and in the snippet."""

_SEPARATORS = re.compile(r"[\W_]+")

Words = Sequence[tuple[str, ...]]
"""The words of a question, each as the stems that match it."""


def choose_hits(hits: Sequence[Hit], phrasings: Sequence[str]) -> list[Hit]:
    """Order hits, given in the order of the engines, by rank and words. Hits with the same title and snippet as another
    hit are probably copies, and come last.

    `phrasings` of one question count with all their words. A word weighs more if fewer hits contain it.
    """
    first, copies = _split_copies(hits)
    words = list(dict.fromkeys(chain.from_iterable(query_words(phrasing) for phrasing in phrasings)))
    shares = match_words(first, words)

    def score(rank: int) -> float:
        return (RANK_CONSTANT + 1) / (RANK_CONSTANT + 1 + rank) + WORDS_WEIGHT * min(1.0, shares[rank] / ENOUGH_SHARE)

    return [*(first[rank] for rank in sorted(range(len(first)), key=lambda rank: -score(rank))), *copies]


def match_words(hits: Sequence[Hit], words: Words) -> list[float]:
    """Return for each hit the share of the words' weight, from 0 to 1, that its title, address and snippet contain."""
    fields = [_list_fields(hit) for hit in hits]
    total = 0.0
    matched = [0.0] * len(hits)
    for forms in words:
        found = [_match_fields(each, forms) for each in fields]
        count = sum(value > 0 for value in found)
        weight = math.log(1 + (len(hits) - count + 0.5) / (count + 0.5))
        total += weight
        for number, value in enumerate(found):
            matched[number] += weight * value
    return [value / total if total else 0.0 for value in matched]


def _split_copies(hits: Sequence[Hit]) -> tuple[list[Hit], list[Hit]]:
    """Return the hits with a new title or snippet, and those that have both in common with an earlier hit."""
    seen: set[tuple[str, str]] = set()
    first: list[Hit] = []
    copies: list[Hit] = []
    for hit in hits:
        is_copy = bool(hit.title and hit.snippet) and (hit.title, hit.snippet) in seen
        (copies if is_copy else first).append(hit)
        seen.add((hit.title, hit.snippet))
    return first, copies


def _list_fields(hit: Hit) -> tuple[frozenset[str], ...]:
    path = unquote(hit.url.partition("://")[2].partition("?")[0].partition("/")[2])
    return tuple(frozenset(stem_text(text)) for text in (hit.title, _SEPARATORS.sub(" ", path), hit.snippet))


def _match_fields(fields: Sequence[frozenset[str]], forms: tuple[str, ...]) -> float:
    """Return the largest weight of a field that contains one of the forms of a word, 0 if no field contains any."""
    return max(
        (weight for weight, field in zip(FIELD_WEIGHTS, fields, strict=True) if not field.isdisjoint(forms)),
        default=0.0,
    )
