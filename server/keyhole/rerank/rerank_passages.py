"""Rerank the passages of one call: send candidates in lexical order to each scorer, and apply its order.

If a scorer fails, the previous order is kept and the fault is reported. No scorer exceeds the call's deadline.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from keyhole.errors import Code, KeyholeError
from keyhole.records import Fault, Ranked
from keyhole.rerank.base import Scorer, describe_error, list_places, reorder_passages

if TYPE_CHECKING:
    from keyhole.passages.index import Index

CALL_MARGIN: Final = 1.0
"""Seconds of a call reserved for selecting and rendering passages: four times as long as the largest page takes."""


@dataclass(frozen=True, slots=True)
class Reranking:
    """A new order, as positions in the previous order, and the faults of the scorers."""

    order: tuple[int, ...]
    faults: tuple[Fault, ...] = ()


class PassageReranker:
    """Reranks passages with the scorers of one server in turn. Each reorders the result of the previous scorer."""

    def __init__(self, scorers: Sequence[Scorer]) -> None:
        self._scorers = tuple(scorers)
        self._max_candidates = max((scorer.limit for scorer in scorers), default=0)

    async def rerank_passages(
        self, texts: Sequence[str], ranked: Ranked, query: str, until: float
    ) -> tuple[Ranked, tuple[Fault, ...]]:
        """Reorder the ranked passages of several texts; `until` is the deadline by the event loop's clock."""
        places = list_places(ranked)

        def passage_text(at: int) -> str:
            source, number = places[at]
            passage = ranked[source][number]
            return label_passage(passage.label, texts[source][passage.start : passage.end])

        strength = max((passage.strength for passages in ranked for passage in passages), default=0.0)
        result = await self.rerank(query, len(places), passage_text, until, strength)
        return reorder_passages(ranked, [places[at] for at in result.order]), result.faults

    async def rerank_windows(self, page: Index, query: str, until: float) -> tuple[tuple[int, ...], tuple[Fault, ...]]:
        """Return the best windows of one page, empty if the lexical order stays, and the faults.

        The windows are those of the part of the page that `cut_to_ranked` returns.
        """
        if not self._scorers_of(query):
            return (), ()
        windows, units, strength = await asyncio.to_thread(list_units, page, query, self._max_candidates)
        result = await self.rerank(query, len(windows), units.__getitem__, until, strength)
        order = tuple(windows[at] for at in result.order)
        return () if order == tuple(windows) else order, result.faults

    async def rerank(
        self, query: str, count: int, text: Callable[[int], str], until: float, strength: float | None = 1.0
    ) -> Reranking:
        """Rerank `count` candidates in lexical order; `text` returns the text of the candidate at a position.

        `strength`: how probable it is by words, from 0 to 1, that the candidates answer; None if they share no word
        with the query.
        """
        order = list(range(count))
        faults: list[Fault] = []
        fallback = "lexical order"
        for scorer in self._scorers_of(query) if count else ():
            candidates = order[: scorer.limit]
            left = until - CALL_MARGIN - asyncio.get_running_loop().time()
            scores = await _score(scorer, query, [text(at) for at in candidates], min(scorer.seconds, left))
            if isinstance(scores, str):
                faults.append(Fault(scorer.name, scores, fallback))
            else:
                order[: len(candidates)] = [candidates[at] for at in scorer.rank(scores, strength)]
                fallback = f"order of the {scorer.name.lower()}"
        return Reranking(tuple(order), tuple(faults))

    def _scorers_of(self, query: str) -> list[Scorer]:
        """Return the scorers that were made for the language of a query."""
        return [scorer for scorer in self._scorers if is_spoken(query, scorer.languages)]


def is_spoken(query: str, languages: Collection[str]) -> bool:
    """Return whether a scorer of these languages was made for a query; True if `languages` is empty.

    The language of a few names cannot be told, because they have no function words. A scorer is used for them if they
    are in ASCII.
    """
    from keyhole.passages.languages import UNKNOWN
    from keyhole.passages.strength import find_language

    if not languages:
        return True
    language = find_language(query)
    return language in languages or (language == UNKNOWN and query.isascii())


async def _score(scorer: Scorer, query: str, texts: Sequence[str], seconds: float) -> tuple[float, ...] | str:
    """Return the scores of the texts, or the fault."""
    if seconds <= 0:
        return "no time left"
    try:
        return await scorer.score(query, texts, seconds)
    except KeyholeError as error:
        return describe_error(error)
    except TimeoutError:
        return str(Code.TIMEOUT)


def list_units(page: Index, query: str, count: int) -> tuple[list[int], list[str], float | None]:
    """Return the first `count` windows in lexical order, the text to score of each, and the strength of the match.

    If no word matches, the windows are from all parts of the page, and the strength is None. A model misreads a passage
    without the headings and carriers above it.
    """
    from keyhole.passages import cut_to_ranked, rank_windows, score_index
    from keyhole.passages.labels import gap_label
    from keyhole.passages.strength import match_strength

    index = cut_to_ranked(page, query)
    scored = score_index(index, query)
    windows = rank_windows(scored)[:count] or list(range(0, index.size, 1 + index.size // count))
    units = [
        label_passage(gap_label(index, each), index.text[index.starts[each] : index.end(each)]) for each in windows
    ]
    return windows, units, match_strength(scored) if scored.stages else None


def label_passage(label: str, passage: str) -> str:
    """Return a passage with its label on the line above."""
    return "\n".join(part for part in (label.strip(), passage.strip()) if part)
