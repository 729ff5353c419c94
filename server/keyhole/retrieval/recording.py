"""Record each call in the log after its answer. A log that fails or is slow neither fails nor delays a call."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from keyhole._version import __version__
from keyhole.errors import Code
from keyhole.records import Answer
from keyhole.retrieval.call import Caller
from keyhole.retrieval.call_record import CallTrace, FinishedCall, Recording, make_record
from keyhole.retrieval.instrumentation import CANCELLED, outcome_of, stages_observed_by
from keyhole.store.calls.record import Origin
from keyhole.store.ids import random_id

if TYPE_CHECKING:
    from keyhole.retrieval.retrieve import Retrieval

# Measure the stages of one call.


class StageTimes:
    """The seconds during which each stage of a call ran. Thread-safe.

    Parts of a stage that run at the same time, such as the fetches of a search, count once.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: dict[str, tuple[int, float]] = {}
        """By name of the stage: its parts that run now, and when the first of them started."""
        self._seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the block as a part of a stage."""
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

    def measured(self) -> tuple[tuple[str, float], ...]:
        """Return the seconds of each stage, in the order in which they ended."""
        with self._lock:
            return tuple(self._seconds.items())


# Record each call in the log after its answer. A log that fails or is slow neither fails nor delays a call.


@dataclass(frozen=True, slots=True)
class Request:
    """One call as it was made, before its arguments are checked."""

    origin: Origin
    tool: str
    arguments: Mapping[str, Any]
    caller: Caller


@dataclass(slots=True)
class RecordedCall:
    """A call that is recorded when it ends."""

    retrieval: Retrieval
    """The tools, which note what they read."""
    answer: Answer | None = None
    """Set by the caller of the tool; None for a call without an answer."""


@contextmanager
def record_call(retrieval: Retrieval, request: Request) -> Iterator[RecordedCall]:
    """Record the block as one call, if calls are recorded."""
    recording = retrieval.recording
    if recording is None:
        yield RecordedCall(retrieval)
        return
    trace, times = CallTrace(retrieval.observer), StageTimes()
    call = RecordedCall(replace(retrieval, observer=trace))
    started_at, start = retrieval.clock(), time.perf_counter()
    try:
        with stages_observed_by(times):
            yield call
    finally:
        finished = FinishedCall(
            random_id(),
            _session_of(request, recording, started_at),
            _client_of(request),
            request.caller.folder,
            request.origin,
            request.tool,
            dict(request.arguments),
            started_at,
            time.perf_counter() - start,
            _outcome(call.answer),
            call.answer,
            trace,
            times.measured(),
        )
        recording.queue.put(lambda: recording.log.add(make_record(finished)))


def _session_of(request: Request, recording: Recording, now: float) -> str:
    caller = request.caller
    if request.origin == "command":
        return ""
    return caller.session_id or recording.visits.id_at((caller.client, caller.version), now)


def _client_of(request: Request) -> str:
    if request.origin == "command":
        return f"keyhole {__version__}"
    return f"{request.caller.client} {request.caller.version}".strip()


def _outcome(answer: Answer | None) -> str:
    """Return `ok` or an error code. Must be called while the exception of a call without answer is handled."""
    if answer is None:
        return CANCELLED if isinstance(sys.exception(), asyncio.CancelledError) else Code.INTERNAL_ERROR
    return outcome_of(answer)
