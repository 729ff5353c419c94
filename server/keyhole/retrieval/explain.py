"""Who looks on while a call is answered, so that it can be explained afterwards. Changes nothing of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from keyhole.records import Artifact, EngineReport, Ranked, Source


class Witness(Protocol):
    """Told what a call found, before it is known how much of that fits."""

    def page(self, artifact: Artifact) -> None:
        """The page that was asked for."""
        ...

    def sources(self, sources: Sequence[Source], reports: Sequence[EngineReport], ranked: Ranked | None) -> None:
        """The sources of a search, how the engines are, and the passages of each source, best first."""
        ...


class _Nobody:
    def page(self, artifact: Artifact) -> None:
        """Nobody looks."""

    def sources(self, sources: Sequence[Source], reports: Sequence[EngineReport], ranked: Ranked | None) -> None:
        """Nobody looks."""


NOBODY: Witness = _Nobody()
"""What looks on while agents call."""
