"""Second opinions on one call's passages: candidates in lexical order, scorers asked in turn, a new order.

Whatever fails, the order before it stands and the fault is told. Nothing takes longer than the call has left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.records import Fault, Ranked
from keyhole.rerank.base import Opinion, Scorer, fault_of
from keyhole.rerank.fuse import applied, places, reordered

MARGIN: Final = 1.0
"""Seconds of a call that are left for choosing and wording: four times what the largest page takes."""


@dataclass(frozen=True, slots=True)
class Reordered:
    """An order as positions in the order before, and what went wrong on the way."""

    order: tuple[int, ...]
    faults: tuple[Fault, ...] = ()


class SecondOpinion:
    """The scorers of one server, in the order in which they are asked: the later one has the last word."""

    def __init__(self, scorers: Sequence[Scorer]) -> None:
        self._scorers = tuple(scorers)
        self._most = max((scorer.limit for scorer in scorers), default=0)

    async def passages(
        self, texts: Sequence[str], ranked: Ranked, query: str, until: float
    ) -> tuple[Ranked, tuple[Fault, ...]]:
        """The passages of several texts in a new order. `until`: the call's deadline by the event loop's clock."""
        lexical = places(ranked)

        def text(at: int) -> str:
            source, number = lexical[at]
            passage = ranked[source][number]
            return texts[source][passage.start : passage.end]

        found = await self.order(query, len(lexical), text, until)
        return reordered(ranked, [lexical[at] for at in found.order]), found.faults

    async def windows(self, text: str, query: str, until: float) -> tuple[tuple[int, ...], tuple[Fault, ...]]:
        """The windows of one text that are to be shown first, best first; none where no word of the query is there."""
        lexical, passages = await asyncio.to_thread(_windows, text, query, self._most)
        found = await self.order(query, len(lexical), passages.__getitem__, until)
        return tuple(lexical[at] for at in found.order), found.faults

    async def order(self, query: str, count: int, text: Callable[[int], str], until: float) -> Reordered:
        """Of `count` candidates in lexical order, whose text is `text(position)`."""
        order = list(range(count))
        faults: list[Fault] = []
        instead = "lexical order"
        for scorer in self._scorers if count else ():
            judged = order[: scorer.limit]
            left = until - MARGIN - asyncio.get_running_loop().time()
            opinion = await _asked(scorer, query, [text(at) for at in judged], min(scorer.seconds, left))
            missing = sum(score is None for score in opinion.scores)
            if missing:
                faults.append(Fault(scorer.name, opinion.fault, missing, len(judged), instead))
            if missing < len(judged):
                order = applied(order, scorer.verdict(opinion.scores), len(judged))
                instead = f"order of the {scorer.name.lower()}"
        return Reordered(tuple(order), tuple(faults))


async def _asked(scorer: Scorer, query: str, texts: Sequence[str], seconds: float) -> Opinion:
    nothing = (None,) * len(texts)
    if seconds <= 0:
        return Opinion(nothing, "no time left")
    try:
        return await scorer.opinion(query, texts, seconds)
    except KeyholeError as error:
        return Opinion(nothing, fault_of(error))
    except TimeoutError:
        return Opinion(nothing, str(Code.TIMEOUT))


def _windows(text: str, query: str, most: int) -> tuple[list[int], list[str]]:
    """The first windows in lexical order, with their texts."""
    from keyhole.passages import ranked
    from keyhole.passages.order import ordered

    scored = ranked(text, query)
    windows = list(islice(ordered(scored), most)) if scored.stages else []
    index = scored.index
    return windows, [text[index.starts[window] : index.end(window)] for window in windows]
