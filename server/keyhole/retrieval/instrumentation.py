"""Report calls, the time of their stages and the amounts they move to observers, which metrics and logs register.

There are no observers by default. Only names and numbers are reported, never page content or an address.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Final, Literal, Protocol

Stage = Literal["store", "fetch", "extract", "engines", "rank", "render"]
Amount = Literal["bytes_in", "characters_saved"]
OK: Final = "ok"
CANCELLED: Final = "cancelled"


@dataclass(slots=True)
class ObservedCall:
    """One call of a tool while it runs, or one request for stored pages, whose method stands for the tool."""

    tool: str
    tenant: str
    outcome: str = CANCELLED
    """`ok` or the error code once there is an answer. A call that ends without an answer was cancelled."""


class Observer(Protocol):
    """Receives reports from the event loop and from threads. It must not raise and must be quick: every call waits for
    it."""

    def call(self, call: ObservedCall) -> AbstractContextManager[object]:
        """Return a context for one call of a tool; the call's outcome is set when the context ends."""
        ...

    def stage(self, name: Stage) -> AbstractContextManager[object]:
        """Return a context for one stage of one call."""
        ...

    def add(self, what: Amount, amount: int) -> None:
        """Add an amount to a count."""
        ...

    def refused(self, reason: str) -> None:
        """Count a request that was turned away before it became a call; there are few different reasons."""
        ...

    def answered(self, status: int) -> None:
        """Count an HTTP response with this status."""
        ...


_observers: tuple[Observer, ...] = ()
_NO_CONTEXT: Final = nullcontext()


@contextmanager
def observed_by(*observers: Observer) -> Iterator[None]:
    """Report everything that happens in the block to these observers."""
    global _observers  # every layer reports and few listen, so the observers have one place
    before = _observers
    _observers = (*before, *observers)
    try:
        yield
    finally:
        _observers = before


@contextmanager
def observe_call(tool: str, tenant: str) -> Iterator[ObservedCall]:
    """Report the block as one call of a tool; the block sets the call's outcome."""
    observed = ObservedCall(tool, tenant)
    with _combined([observer.call(observed) for observer in _observers]):
        yield observed


def stage(name: Stage) -> AbstractContextManager[object]:
    """Return a context that reports its block as one stage of a call."""
    return _combined([observer.stage(name) for observer in _observers]) if _observers else _NO_CONTEXT


def add_amount(what: Amount, amount: int) -> None:
    """Add to a count of the running call."""
    for observer in _observers:
        observer.add(what, amount)


def count_refusal(reason: str) -> None:
    """Count a request that was turned away."""
    for observer in _observers:
        observer.refused(reason)


def count_response(status: int) -> None:
    """Count an HTTP response."""
    for observer in _observers:
        observer.answered(status)


@contextmanager
def _combined(contexts: list[AbstractContextManager[object]]) -> Iterator[None]:
    with ExitStack() as stack:
        for context in contexts:
            stack.enter_context(context)
        yield
