"""Report calls, their stages and amounts to observers, such as metrics and logs.

There are no observers by default. Only names and numbers are reported, never page content or an address.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from keyhole.records import Answer
from keyhole.store.calls.record import OK

Stage = Literal["store", "fetch", "extract", "engines", "rank", "render", "browser"]
Amount = Literal["bytes_in", "characters_saved"]
CANCELLED: Final = "cancelled"


@dataclass(slots=True)
class ObservedCall:
    """One running call of a tool, or one running request for resources, with its method as `tool`."""

    tool: str
    tenant: str
    outcome: str = CANCELLED
    """`ok` or the error code as soon as there is an answer. A call that ends without an answer was cancelled."""


def outcome_of(answer: Answer) -> str:
    """Return `ok` or the error code. The code is read from the text, because the facts may have been dropped."""
    return answer.text.partition(":")[0] if answer.is_error else OK


class Observer(Protocol):
    """Receives reports from the event loop and from threads. It must not raise and must be quick: calls wait for it."""

    def call(self, call: ObservedCall) -> AbstractContextManager[object]:
        """Return a context for one call of a tool. When the context ends, the call's outcome is set."""
        ...

    def stage(self, name: Stage) -> AbstractContextManager[object]:
        """Return a context for one stage of one call."""
        ...

    def add(self, what: Amount, amount: int) -> None:
        """Add an amount to a count."""
        ...

    def count_refusal(self, reason: str) -> None:
        """Count a request that was rejected before it became a call. There are few different reasons."""
        ...

    def count_response(self, status: int) -> None:
        """Count an HTTP response with this status."""
        ...


class StageObserver(Protocol):
    """Receives the stages of one call."""

    def stage(self, name: str) -> AbstractContextManager[object]:
        """Return a context for one stage, or for one of its parts that run at the same time."""
        ...


_observers: tuple[Observer, ...] = ()
_stage_observer: ContextVar[StageObserver | None] = ContextVar("stage_observer", default=None)
"""The observer of the running call. Threads and tasks that the call starts with asyncio have it too."""
_NO_CONTEXT: Final = nullcontext()


@contextmanager
def observed_by(*observers: Observer) -> Iterator[None]:
    """Report everything that happens in the block to these observers."""
    global _observers  # a global, so that functions in every layer can report without a parameter
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
    with _combine([observer.call(observed) for observer in _observers]):
        yield observed


def stage(name: Stage) -> AbstractContextManager[object]:
    """Return a context that reports its block as one stage of a call."""
    contexts = [observer.stage(name) for observer in _observers]
    if own := _stage_observer.get():
        contexts.append(own.stage(name))
    return _combine(contexts) if contexts else _NO_CONTEXT


@contextmanager
def stages_observed_by(observer: StageObserver) -> Iterator[None]:
    """Report the stages of the running call to this observer too."""
    token = _stage_observer.set(observer)
    try:
        yield
    finally:
        _stage_observer.reset(token)


def add_amount(what: Amount, amount: int) -> None:
    """Add an amount to a count of the running call."""
    for observer in _observers:
        observer.add(what, amount)


def count_refusal(reason: str) -> None:
    """Count a request that was rejected before it became a call."""
    for observer in _observers:
        observer.count_refusal(reason)


def count_response(status: int) -> None:
    """Count an HTTP response."""
    for observer in _observers:
        observer.count_response(status)


@contextmanager
def _combine(contexts: list[AbstractContextManager[object]]) -> Iterator[None]:
    """Enter all contexts for the block."""
    with ExitStack() as stack:
        for context in contexts:
            stack.enter_context(context)
        yield
