"""The port that records the pages and passages of a call, for `--explain` and for the log of calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from keyhole.records import Artifact, EngineReport, Ranked, Source


class CallObserver(Protocol):
    """Receives the pages and ranked passages of a call before they are cut to the budget."""

    def budget(self, size: int) -> None:
        """Record the budget of the call, in bytes."""
        ...

    def page(self, artifact: Artifact, total: int) -> None:
        """Record the text that a call reads. It may be a part of the stored text, which has `total` characters."""
        ...

    def sources(self, sources: Sequence[Source], reports: Sequence[EngineReport], ranked: Ranked | None) -> None:
        """Record the sources of a search, the engines' reports, and the passages of each source, best first."""
        ...


class _NoRecorder:
    def budget(self, size: int) -> None:
        """Record nothing."""

    def page(self, artifact: Artifact, total: int) -> None:
        """Record nothing."""

    def sources(self, sources: Sequence[Source], reports: Sequence[EngineReport], ranked: Ranked | None) -> None:
        """Record nothing."""


NO_OBSERVER: CallObserver = _NoRecorder()
