"""The port that records what a call found, so that `--explain` can show it. It changes nothing in the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from keyhole.records import Artifact, EngineReport, Ranked, Source


class CallRecorder(Protocol):
    """Receives what a call found, before it is known how much of it fits the budget."""

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
