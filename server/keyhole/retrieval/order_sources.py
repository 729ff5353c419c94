"""Order the sources of a search, and collapse pages with nearly the same text into one source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import unquote

from keyhole.passages.near_duplicates import group_duplicates, sketch
from keyhole.passages.rank_sources import rank_sources
from keyhole.records import Passage, Ranked, Source
from keyhole.text.page_structure import PAGES, parse_page_starts

LAST_SHARE: Final = 0.5
"""Factor of the scores of a source that the engines rank far down; the first has the factor 1, the second 0.75."""
LAST_STORED_SHARE: Final = 0.8
"""The same factor for sources of the store, whose BM25 tells little if it has only a few pages. Of 421 questions about
stored pages, the page is the first source in 74 % with it, in 58 % without (`python -m benchmarks.search.known`)."""

_SEPARATORS = re.compile(r"[\W_]+")

RankedSource = tuple[Source, tuple[Passage, ...]]
"""A source and its passages, best first."""


def rank_found(sources: Sequence[Source], queries: Sequence[str]) -> Ranked:
    """Rank the passages of the sources that were found for `queries`, which are phrasings of one question.

    A source's scores are higher the better its engines or the store rank it, and the more of the question its title and
    address contain.
    """
    names = [f"{source.title} {address_words(source.url)}" for source in sources]
    pages = [parse_page_starts(source.artifact.note(PAGES)) if source.artifact else () for source in sources]
    ranked = rank_sources([text_of(source) for source in sources], queries, names, pages)
    is_stored = all(source.from_store for source in sources)
    return weigh_by_rank(ranked, LAST_STORED_SHARE if is_stored else LAST_SHARE)


def weigh_by_rank(ranked: Ranked, last_share: float) -> Ranked:
    """Multiply the scores of each source that has passages by a factor that decreases with its rank among them.

    An engine compares a page with the whole web, and the store with all its pages; the ranking of passages compares it
    only with the other pages that were read.
    """
    weighted: list[tuple[Passage, ...]] = []
    rank = 0
    for passages in ranked:
        factor = last_share + (1 - last_share) / (1 + rank)
        weighted.append(tuple(replace(passage, score=passage.score * factor) for passage in passages))
        rank += bool(passages)
    return tuple(weighted)


def order_sources(sources: Sequence[Source], ranked: Ranked) -> list[int]:
    """Return the numbers of the sources by their best passage, best first. Sources that were not read come last."""
    best = [max((passage.score for passage in passages), default=float("-inf")) for passages in ranked]
    return sorted(range(len(sources)), key=lambda number: (sources[number].artifact is None, -best[number]))


def address_words(url: str) -> str:
    """Return the words of a URL's path."""
    path = unquote(url.partition("://")[2].partition("?")[0].partition("/")[2])
    return _SEPARATORS.sub(" ", path)


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
