"""Where calls tell how long their stages took and how much they moved. Who listens is set from outside; nobody is by
default. No page content passes through here, only names and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal, Protocol

Stage = Literal["store", "fetch", "extract", "engines", "rank", "wording"]
Amount = Literal["bytes_in", "characters_saved"]


class Observer(Protocol):
    """Who is told. It must not raise, and must be quick: it stands in the path of every call."""

    def stage(self, name: Stage) -> object:
        """A context manager around one stage of one call."""
        ...

    def add(self, what: Amount, amount: int) -> None:
        """So much more of something."""
        ...


_observers: Final[list[Observer]] = []


@contextmanager
def stage(_name: Stage) -> Iterator[None]:
    """Around one stage of a call."""
    yield


def add(what: Amount, amount: int) -> None:
    """So much more of something, by the call that is under way."""
    for observer in _observers:
        observer.add(what, amount)
