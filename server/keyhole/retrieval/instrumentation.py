"""Where calls tell what they are, how long their stages took and how much they moved. Who listens is set from outside;
nobody is by default. No page content and no address passes through here, only names and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Final, Literal, Protocol

Stage = Literal["store", "fetch", "extract", "engines", "rank", "wording"]
Amount = Literal["bytes_in", "characters_saved"]
OK: Final = "ok"
CANCELLED: Final = "cancelled"


@dataclass(slots=True)
class Call:
    """One call of a tool while it is under way, or a request for stored pages, whose method stands for the tool."""

    tool: str
    tenant: str
    outcome: str = CANCELLED
    """`ok` or the code of the error, once there is an answer; what ends without one was cancelled."""


class Observer(Protocol):
    """Who is told, from the event loop and from threads. It must not raise, and must be quick: it stands in the path
    of every call."""

    def call(self, call: Call) -> AbstractContextManager[object]:
        """Around one call of a tool; its outcome is set when the context ends."""
        ...

    def stage(self, name: Stage) -> AbstractContextManager[object]:
        """Around one stage of one call."""
        ...

    def add(self, what: Amount, amount: int) -> None:
        """So much more of something."""
        ...

    def refused(self, reason: str) -> None:
        """A request was turned away before it became a call; `reason` is one of few."""
        ...

    def answered(self, status: int) -> None:
        """An HTTP request was answered with this status."""
        ...


_observers: tuple[Observer, ...] = ()
_UNHEARD: Final = nullcontext()


@contextmanager
def listening(*observers: Observer) -> Iterator[None]:
    """Have these told of everything while the block runs."""
    global _observers  # what is told passes through every layer, and few listen: one place for them
    before = _observers
    _observers = (*before, *observers)
    try:
        yield
    finally:
        _observers = before


def stage(name: Stage) -> AbstractContextManager[object]:
    """Around one stage of a call."""
    return _around([observer.stage(name) for observer in _observers]) if _observers else _UNHEARD


@contextmanager
def call(tool: str, tenant: str) -> Iterator[Call]:
    """Around one call of a tool; the block sets its outcome."""
    told = Call(tool, tenant)
    with _around([observer.call(told) for observer in _observers]):
        yield told


def add(what: Amount, amount: int) -> None:
    """So much more of something, by the call that is under way."""
    for observer in _observers:
        observer.add(what, amount)


def refused(reason: str) -> None:
    """A request was turned away."""
    for observer in _observers:
        observer.refused(reason)


def answered(status: int) -> None:
    """An HTTP request was answered."""
    for observer in _observers:
        observer.answered(status)


@contextmanager
def _around(contexts: list[AbstractContextManager[object]]) -> Iterator[None]:
    with ExitStack() as stack:
        for context in contexts:
            stack.enter_context(context)
        yield
