"""The result of one engine in one call: its answers to each phrasing, and the report on it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keyhole.errors import KeyholeError
from keyhole.records import EngineReport, Hit, SearchRequest
from keyhole.websearch.base import Engine
from keyhole.websearch.faults import SLOW, describe_fault
from keyhole.websearch.filters import filter_hits, unapplied_filters

Answer = tuple[Hit, ...] | KeyholeError | None
"""An engine's hits for one phrasing, its failure, or None while it has not answered."""


@dataclass(slots=True)
class EngineResult:
    """The answers of one engine to all phrasings of a call, filled in as they arrive."""

    engine: Engine
    answers: list[Answer]
    open_fault: str = ""
    """The fault after which the engine rests. It is then not queried. "" if the engine does not rest."""
    was_queried: bool = False
    """True once a request was sent to the engine."""
    is_recorded: bool = False
    """True once the outcome was recorded in the engine's breaker."""

    @property
    def is_complete(self) -> bool:
        """True if no further answer will come."""
        return bool(self.open_fault) or None not in self.answers

    @property
    def hit_lists(self) -> list[tuple[Hit, ...]]:
        """The hits for each answered phrasing, in the order of the phrasings. A list may be empty."""
        return [answer for answer in self.answers if isinstance(answer, tuple)]

    @property
    def failures(self) -> list[KeyholeError]:
        """The failures, in the order of the phrasings."""
        return [answer for answer in self.answers if isinstance(answer, KeyholeError)]

    @property
    def fault(self) -> str:
        """The engine's fault in a few words; "" if it answered any phrasing."""
        if self.open_fault:
            return f"paused after {'slow answers' if self.open_fault == SLOW else self.open_fault}"
        if self.hit_lists:
            return ""
        return self._first_fault

    @property
    def note(self) -> str:
        """Notes on incomplete answers: phrasings that failed, and the engine's own notes."""
        if not self.hit_lists:
            return ""
        missing = len(self.answers) - len(self.hit_lists)
        failed = f"{self._first_fault} for {missing} of {len(self.answers)} phrasings" if missing else ""
        notes = dict.fromkeys(str(getattr(hits, "note", "")) for hits in self.hit_lists)
        return "; ".join(note for note in (failed, *notes) if note)

    def filtered_lists(self, request: SearchRequest, now: float) -> list[tuple[Hit, ...]]:
        """Return the hits for each answered phrasing, without those that the request's filters exclude."""
        return [filter_hits(hits, request, self.engine.supported_filters, now) for hits in self.hit_lists]

    @property
    def _first_fault(self) -> str:
        return describe_fault(self.failures[0]) if self.failures else SLOW


def build_report(result: EngineResult, lists: Sequence[Sequence[Hit]], request: SearchRequest) -> EngineReport:
    """Return the report on an engine. `lists`: its filtered hits."""
    names = [name for hits in lists for name in unapplied_filters(hits, request, result.engine.supported_filters)]
    return EngineReport(result.engine.name, result.fault, tuple(dict.fromkeys(names)), result.note)
