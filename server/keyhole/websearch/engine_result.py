"""One engine in one call: what it answered to each phrasing, and what is reported of it. Asks nothing. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keyhole.errors import KeyholeError
from keyhole.records import EngineReport, Hit, SearchRequest
from keyhole.websearch.base import Engine
from keyhole.websearch.filters import kept, unapplied
from keyhole.websearch.outcome import SLOW, fault

Answer = tuple[Hit, ...] | KeyholeError | None
"""An engine's hits for one phrasing, its failure, or nothing yet."""


@dataclass(slots=True)
class Turn:
    """The answers come in as they may; all else follows from them."""

    engine: Engine
    answers: list[Answer]
    resting: str = ""
    """The fault after which it rests, where it was therefore not asked."""
    settled: bool = False
    """Whether its breaker knows how it went."""

    @property
    def complete(self) -> bool:
        """Whether nothing more will come."""
        return bool(self.resting) or None not in self.answers

    @property
    def found(self) -> list[tuple[Hit, ...]]:
        """Its hits by phrasing, in their order; an engine that is well and found nothing has answered."""
        return [answer for answer in self.answers if isinstance(answer, tuple)]

    @property
    def failures(self) -> list[KeyholeError]:
        """Its failures by phrasing."""
        return [answer for answer in self.answers if isinstance(answer, KeyholeError)]

    @property
    def fault(self) -> str:
        """In a few words; "" where any phrasing was answered."""
        if self.resting:
            return f"resting after {'slow answers' if self.resting == SLOW else self.resting}"
        if self.found:
            return ""
        return self._first_fault

    @property
    def note(self) -> str:
        """What an engine that answered left out: phrasings that failed, and its own remark."""
        if not self.found:
            return ""
        missing = len(self.answers) - len(self.found)
        failed = f"{self._first_fault} for {missing} of {len(self.answers)} phrasings" if missing else ""
        remarks = dict.fromkeys(str(getattr(hits, "note", "")) for hits in self.found)
        return "; ".join(note for note in (failed, *remarks) if note)

    def kept(self, request: SearchRequest, now: float) -> list[tuple[Hit, ...]]:
        """Of each answer the hits that pass the filters."""
        return [kept(hits, request, self.engine.applies, now) for hits in self.found]

    @property
    def _first_fault(self) -> str:
        return fault(self.failures[0]) if self.failures else SLOW


def report(turn: Turn, lists: Sequence[Sequence[Hit]], request: SearchRequest) -> EngineReport:
    """How asking went; `lists` are the hits that were kept."""
    names = [name for hits in lists for name in unapplied(hits, request, turn.engine.applies)]
    return EngineReport(turn.engine.name, turn.fault, tuple(dict.fromkeys(names)), turn.note)
