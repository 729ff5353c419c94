"""The port of the finders: each knows which lists of a kind of site name its pages, and how to read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from keyhole.sites.dead_links.similarity import CandidateUrl, Near


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to a request of a finder. `url` and `body` are empty if there was no reply."""

    request: str
    url: str = ""
    """The final address, after redirects."""
    body: bytes = b""

    @property
    def found(self) -> bool:
        """Return True if the list exists."""
        return bool(self.url)


@dataclass(frozen=True, slots=True)
class ListRequest:
    """A request that was made, whether it was answered, and at which address."""

    request: str
    url: str
    found: bool


@dataclass(frozen=True, slots=True)
class State:
    """What a search has found so far. `ranked`: the candidates near the address, best first."""

    candidates: Sequence[CandidateUrl]
    requested: Sequence[ListRequest]
    ranked: Sequence[Near]

    @property
    def best(self) -> float:
        """Return the score of the best candidate."""
        return self.ranked[0].score if self.ranked else 0.0


class Finder(Protocol):
    """Finds addresses near one dead address. Pure: the caller makes the requests, one at a time."""

    def next_request(self, state: State) -> str:
        """Return the address of the next list to request, or "" if no further list can help."""
        ...

    def read(self, reply: Reply) -> tuple[CandidateUrl, ...]:
        """Return the candidates that a list names."""
        ...
