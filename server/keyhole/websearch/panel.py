"""Query several engines at once, each within a time limit, and report on each engine.

The most preferred engines are queried first. A reserve, the next engine, replaces each engine that fails or rests. Once
the answers contain enough hits, the remaining engines get a grace period and are then dropped.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.records import EngineReport, Hit, SearchRequest
from keyhole.runtime.fair_slots import FairSlots
from keyhole.websearch.base import Engine
from keyhole.websearch.breaker import SLOW, Breakers, describe_fault, describe_faults, retry_after_seconds
from keyhole.websearch.filters import adapt_request, filter_hits, unapplied_filters

# Results: what one engine answered to each phrasing of a call, and the report on it.

EngineAnswer = tuple[Hit, ...] | KeyholeError | None
"""An engine's hits for one phrasing, its failure, or None while it has not answered."""


@dataclass(slots=True)
class EngineResult:
    """The answers of one engine to all phrasings of a call, filled in as they arrive."""

    engine: Engine
    answers: list[EngineAnswer]
    open_fault: str = ""
    """The fault after which the engine rests. It is then not queried. "" if the engine does not rest."""
    was_queried: bool = False
    """True once a request was sent to the engine."""
    is_recorded: bool = False
    """True once the outcome was recorded in the engine's breaker."""

    @property
    def is_complete(self) -> bool:
        """True if no further answer will come."""
        return bool(self.open_fault) or None not in self.answers

    @property
    def hit_lists(self) -> list[tuple[Hit, ...]]:
        """The hits for each answered phrasing, in the order of the phrasings. A list may be empty."""
        return [answer for answer in self.answers if isinstance(answer, tuple)]

    @property
    def failures(self) -> list[KeyholeError]:
        """The failures, in the order of the phrasings."""
        return [answer for answer in self.answers if isinstance(answer, KeyholeError)]

    @property
    def fault(self) -> str:
        """The engine's fault in a few words; "" if it answered any phrasing."""
        if self.open_fault:
            return f"paused after {'slow answers' if self.open_fault == SLOW else self.open_fault}"
        if self.hit_lists:
            return ""
        return self._first_fault

    @property
    def note(self) -> str:
        """Notes on incomplete answers: phrasings that failed, and the engine's own notes."""
        if not self.hit_lists:
            return ""
        missing = len(self.answers) - len(self.hit_lists)
        failed = f"{self._first_fault} for {missing} of {len(self.answers)} phrasings" if missing else ""
        notes = dict.fromkeys(str(getattr(hits, "note", "")) for hits in self.hit_lists)
        return "; ".join(note for note in (failed, *notes) if note)

    def filtered_lists(self, request: SearchRequest, now: float) -> list[tuple[Hit, ...]]:
        """Return the hits for each answered phrasing, without those that the request's filters exclude."""
        return [filter_hits(hits, request, self.engine.supported_filters, now) for hits in self.hit_lists]

    @property
    def _first_fault(self) -> str:
        return describe_fault(self.failures[0]) if self.failures else SLOW


def build_report(result: EngineResult, lists: Sequence[Sequence[Hit]], request: SearchRequest) -> EngineReport:
    """Return the report on an engine. `lists`: its filtered hits."""
    names = [name for hits in lists for name in unapplied_filters(hits, request, result.engine.supported_filters)]
    return EngineReport(result.engine.name, result.fault, tuple(dict.fromkeys(names)), result.note)


# The panel: engines are queried at once, each within a time limit.

log = logging.getLogger(__name__)

ENGINE_TIMEOUT: Final = 10.0
"""Seconds for one engine and all phrasings. Web search APIs answer within two seconds. SearXNG waits three for its own
engines, and a keyless search tries several sites one after another."""
ENGINE_COUNT: Final = 3
"""Engines queried at once. Three rankings show agreement; more engines use up quotas and return the same pages."""
SEARCH_SHARE: Final = 0.5
"""Share of the call's remaining time for querying engines; the rest is for reading pages."""
MAX_ROUNDS: Final = 2
"""Time limit for querying, in engine timeouts: one for the preferred engines and one for the reserves."""
RESERVE_SHARE: Final = 0.6
"""Share of the remaining time for an engine that a reserve could replace, so that the reserve has time too."""
GRACE: Final = 1.5
"""Seconds for the remaining engines once there are enough hits. It is the usual latency of most APIs, so that healthy
engines are rarely dropped and broken engines cost little. If finding enough hits took longer, the network is slow, and
the remaining engines get the same time once more."""
PATIENCE: Final = 4.0
"""Seconds from the start during which the most preferred engine is not dropped. SearXNG and keyless searches take two
to four seconds, and would otherwise be dropped whenever another engine is faster."""
MAX_REQUESTS: Final = 12
"""Concurrent requests of one call."""
MAX_ENGINE_REQUESTS: Final = 3
"""Concurrent requests to one engine, since free plans limit requests per second. Five phrasings take two rounds."""
MAX_SHARED_REQUESTS: Final = 9 * MAX_ENGINE_REQUESTS
"""Concurrent requests of all calls to one engine: those of eight calls of one owner, and of one call of another."""
MAX_FAULTS: Final = 300
"""Bytes of an error message."""


@dataclass(frozen=True, slots=True)
class PanelResult:
    """Lists of hits, one for each engine and answered phrasing, best first, and a report on each engine."""

    lists: tuple[tuple[Hit, ...], ...]
    reports: tuple[EngineReport, ...]


class Panel:
    """The engines of one server, most preferred first, with their circuit breakers.

    The owners of calls share the requests to each engine fairly.
    """

    def __init__(
        self,
        engines: Sequence[Engine],
        *,
        count: int = ENGINE_COUNT,
        timeout: float = ENGINE_TIMEOUT,
        grace: float = GRACE,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
        missing: Sequence[str] = (),
    ) -> None:
        """`missing`: messages on engines that are named in the settings but not set up.

        `clock`: returns seconds since the epoch, for the age of hits. `ticks`: returns monotonic seconds, for the
        breakers.
        """
        self.engines = tuple(engines)
        self.count = count
        self.timeout = timeout
        self.grace = grace
        self.patience = patience
        self.clock = clock
        self.breakers = Breakers(ticks)
        self.slots = {engine.name: FairSlots(MAX_SHARED_REQUESTS, MAX_ENGINE_REQUESTS) for engine in engines}
        """The slots for requests to each engine, by its name."""
        self.missing = tuple(missing)

    async def search(self, requests: Sequence[SearchRequest], until: float | None = None) -> PanelResult:
        """Query the engines. `requests`: the phrasings of one question, all with the same filters.

        `until`: the call's deadline in seconds of the event loop's clock. Raises KeyholeError: engine_unavailable
        with every fault if no engine answered; key_refused, for which a retry is useless, if all keys are bad or no
        engine is set up.
        """
        if not self.engines:
            missing = f": {', '.join(self.missing)}" if self.missing else ""
            raise KeyholeError(Code.KEY_REFUSED, f"no search engine is set up{missing}")
        call = _PanelCall(self, requests, until)
        await call.run()
        return call.result()


class _PanelCall:
    """One call of a panel: the engines queried so far, their tasks and the time limits."""

    def __init__(self, panel: Panel, requests: Sequence[SearchRequest], until: float | None) -> None:
        self._panel = panel
        self._requests = requests
        self._reserves = deque(select_by_kind(panel.engines, requests[0]))
        self._results: list[EngineResult] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(MAX_REQUESTS)
        self._now = asyncio.get_running_loop().time
        self._start = self._now()
        left = float("inf") if until is None else (until - self._start) * SEARCH_SHARE
        self._end = self._start + min(left, MAX_ROUNDS * panel.timeout)
        self._enough_at: float | None = None

    async def run(self) -> None:
        """Query engines until all have answered, the grace period has passed or the time is up."""
        async with asyncio.TaskGroup() as group:
            try:
                self._start_engines(group)
                while self._tasks and (left := self._cutoff() - self._now()) > 0:
                    _, self._tasks = await asyncio.wait(self._tasks, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                    self._record_complete()
                    self._start_engines(group)
                self._drop_incomplete()
            finally:
                for task in self._tasks:
                    task.cancel()
                for result in self._results:
                    self._abandon(result)

    def result(self) -> PanelResult:
        """Return the hits, in the order of preference, and the reports. Raises KeyholeError if no engine answered."""
        request, now = self._requests[0], self._panel.clock()
        lists = [result.filtered_lists(request, now) for result in self._results]
        reports = tuple(build_report(*pair, request) for pair in zip(self._results, lists, strict=True))
        if not reports:
            raise KeyholeError(Code.ENGINE_UNAVAILABLE, "no time was left to query an engine")
        if all(report.fault for report in reports):
            all_keys_bad = all("bad key" in report.fault for report in reports)  # a retry cannot help then
            code = Code.KEY_REFUSED if all_keys_bad else Code.ENGINE_UNAVAILABLE
            raise KeyholeError(code, describe_faults(reports, MAX_FAULTS))
        return PanelResult(tuple(hits for engine_lists in lists for hits in engine_lists if hits), reports)

    # Starting engines.

    def _start_engines(self, group: asyncio.TaskGroup) -> None:
        """Start engines until `count` engines run or have answered, unless there are enough hits already."""
        if self._enough_at is None and self._has_enough():
            self._enough_at = self._now()
        while self._reserves and self._enough_at is None and self._now() < self._end:
            if sum(not (result.is_complete and result.fault) for result in self._results) >= self._panel.count:
                break
            self._start_engine(self._reserves.popleft(), group)

    def _has_enough(self) -> bool:
        """Return True if there are enough hits: `max_results`, or a single hit if half of the engines are complete."""
        now = self._panel.clock()
        lists = [hits for result in self._results for hits in result.filtered_lists(self._requests[0], now)]
        pages = {hit.url for hits in lists for hit in hits}
        complete = sum(result.is_complete for result in self._results)
        return len(pages) >= self._requests[0].max_results or (bool(pages) and 2 * complete >= len(self._results))

    def _cutoff(self) -> float:
        """Return the time at which engines that have not answered are dropped."""
        if self._enough_at is None:
            return self._end
        grace = self._enough_at + max(self._panel.grace, self._enough_at - self._start)
        preferred = next((result for result in self._results if not (result.is_complete and result.fault)), None)
        patience = self._start + self._panel.patience if preferred and not preferred.is_complete else 0.0
        return min(self._end, max(grace, patience))

    def _start_engine(self, engine: Engine, group: asyncio.TaskGroup) -> None:
        result = EngineResult(engine, [None] * len(self._requests), self._panel.breakers.open_fault(engine.name))
        self._results.append(result)
        if result.open_fault:
            result.is_recorded = True
            return
        self._panel.breakers.begin_call(engine.name)
        left = (self._end - self._now()) * (RESERVE_SHARE if self._reserves else 1)
        until = self._now() + min(self._panel.timeout, left)
        engine_slots = asyncio.Semaphore(MAX_ENGINE_REQUESTS)
        for number in range(len(self._requests)):
            self._tasks.add(group.create_task(self._search(result, number, engine_slots, until)))

    async def _search(self, result: EngineResult, number: int, engine_slots: asyncio.Semaphore, until: float) -> None:
        """Query an engine for one phrasing, and store its hits or its failure in `result.answers`."""
        request = adapt_request(self._requests[number], result.engine.supported_filters)
        try:
            shared_slots = self._panel.slots[result.engine.name]
            async with asyncio.timeout_at(until), engine_slots, self._slots, shared_slots.slot():
                result.was_queried = True
                result.answers[number] = await result.engine.search(request)
        except KeyholeError as error:
            result.answers[number] = error.without_frames()
        except TimeoutError:
            result.answers[number] = _timeout_error()
        except (ValueError, TypeError, LookupError, AttributeError, OSError, RecursionError) as error:
            # A bug in parsing one engine's answer must not lose the hits of the other engines.
            log.warning("%s: %s while reading its answer", result.engine.name, type(error).__name__)
            result.answers[number] = KeyholeError(Code.ENGINE_UNAVAILABLE, "its answer could not be read")

    # Recording outcomes.

    def _record_complete(self) -> None:
        """Record the outcomes of complete engines in their breakers."""
        for result in self._results:
            if result.is_complete and not result.is_recorded:
                self._record(result)

    def _drop_incomplete(self) -> None:
        """Record engines that have not answered as timed out, or as slow if the others found enough hits.

        Both count as failures: a slow engine would cost every call the grace period.
        """
        for result in self._results:
            if self._enough_at is None:
                result.answers = [_timeout_error() if answer is None else answer for answer in result.answers]
            if not result.is_recorded:
                self._record(result)

    def _record(self, result: EngineResult) -> None:
        if not result.was_queried:  # requests of other calls used up the time, so nothing is known about the engine
            self._abandon(result)
            return
        result.is_recorded = True
        if result.hit_lists:
            self._panel.breakers.record_success(result.engine.name)
        else:
            wait = retry_after_seconds(result.failures[0]) if result.failures else None
            self._panel.breakers.record_failure(result.engine.name, result.fault, wait)

    def _abandon(self, result: EngineResult) -> None:
        """End the call to an engine without an outcome, because it was not queried or the search was cancelled."""
        if not result.is_recorded:
            result.is_recorded = True
            self._panel.breakers.abandon_call(result.engine.name)


def select_by_kind(engines: Sequence[Engine], request: SearchRequest) -> list[Engine]:
    """Return the engines for a request: for news, the engines with news, or all engines if there are no such
    engines."""
    return [engine for engine in engines if request.kind != "news" or "news" in engine.supported_filters] or list(
        engines
    )


def _timeout_error() -> KeyholeError:
    return KeyholeError(Code.TIMEOUT, "the engine did not answer in time")
