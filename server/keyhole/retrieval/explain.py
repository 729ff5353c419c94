"""The port that records the pages and passages of a call for `--explain`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from keyhole.records import Artifact, EngineReport, Ranked, Source


class CallRecorder(Protocol):
    """Receives the pages and ranked passages of a call before they are cut to the budget."""

    def page(self, artifact: Artifact) -> None:
        """Record the requested page."""
        ...

    def sources(self, sources: Sequence[Source], reports: Sequence[EngineReport], ranked: Ranked | None) -> None:
        """Record the sources of a search, the engines' reports, and the passages of each source, best first."""
        ...


class _NoRecorder:
    def page(self, artifact: Artifact) -> None:
        """Record nothing."""

    def sources(self, sources: Sequence[Source], reports: Sequence[EngineReport], ranked: Ranked | None) -> None:
        """Record nothing."""


NO_RECORDER: CallRecorder = _NoRecorder()
