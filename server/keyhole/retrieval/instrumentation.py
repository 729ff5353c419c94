"""Collect what happens in a call, and report calls, stages and amounts to observers such as metrics.

The events of a call are for its own user: the log of calls, look and `--explain` read them. Observers receive those of
all users, so they are told only names and numbers, never page content or an address. There are none by default.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, Literal, Protocol

from keyhole.records import Answer, Artifact, EngineReport, Ranked, Source
from keyhole.store.calls.base import OK

Stage = Literal["store", "fetch", "extract", "engines", "rank", "render", "browser"]
Amount = Literal["bytes_in", "characters_saved"]
CANCELLED: Final = "cancelled"


# The events of one call: what it read, found and returned.


@dataclass(slots=True)
class CallEvents:
    """What happened in one call: the texts that it read, the sources that it found, and the seconds of each stage."""

    budget: int = 0
    """The budget in bytes."""
    pages: list[tuple[Artifact, int]] = field(default_factory=list)
    """Each text that was read, whole or in part, with the length of the whole text."""
    removed: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    """By the URL of a page that was extracted: how many parts of each kind were removed from it."""
    sources: Sequence[Source] = ()
    """The sources of a search, read or not."""
    reports: Sequence[EngineReport] = ()
    ranked: Ranked | None = None
    """The passages of each source, best first; None if they were not ranked."""
    answer: Answer | None = None
    """None for a call that ended without an answer."""
    _running: dict[str, tuple[int, float]] = field(default_factory=dict)
    """By name of a stage: its parts that run now, and when the first of them started."""
    _seconds: dict[str, float] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the block as a part of a stage. Parts that run at the same time, as in a search, count once.

        Stages run in several threads.
        """
        with self._lock:
            parts, started = self._running.get(name, (0, 0.0))
            self._running[name] = (parts + 1, started if parts else time.perf_counter())
        try:
            yield
        finally:
            with self._lock:
                parts, started = self._running[name]
                self._running[name] = (parts - 1, started)
                if parts == 1:
                    self._seconds[name] = self._seconds.get(name, 0.0) + time.perf_counter() - started

    def stage_seconds(self) -> tuple[tuple[str, float], ...]:
        """Return the seconds of each stage, in the order in which the stages ended."""
        with self._lock:
            return tuple(self._seconds.items())


_events: ContextVar[CallEvents | None] = ContextVar("events", default=None)
"""The events of the running call. Threads and tasks that the call starts with asyncio have them too."""


@contextmanager
def collect_events() -> Iterator[CallEvents]:
    """Collect the events of the block. A block within another one adds to the events of the outer block."""
    events = _events.get() or CallEvents()
    token = _events.set(events)
    try:
        yield events
    finally:
        _events.reset(token)


def current_events() -> CallEvents:
    """Return the events of the running call. Outside of a call, return events that nobody reads."""
    return _events.get() or CallEvents()


# Observers of all calls.


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


_observers: tuple[Observer, ...] = ()
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
    if events := _events.get():
        contexts.append(events.stage(name))
    return _combine(contexts) if contexts else _NO_CONTEXT


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
