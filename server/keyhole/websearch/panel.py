"""Asks the engines, several at once and each within its time, and reports on every one. No engine here.

The preferred engines are asked, and a reserve steps in for each that fails or rests. Once the answers hold enough, the
others get a grace and are left behind. What the engines found comes in the order of preference, whichever was first.
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
from keyhole.websearch.base import Engine
from keyhole.websearch.breaker import Breakers
from keyhole.websearch.engine_result import Turn, report
from keyhole.websearch.filters import for_engine
from keyhole.websearch.outcome import every_fault, retry_after

log = logging.getLogger(__name__)

ENGINE_TIMEOUT: Final = 10.0
"""Seconds for one engine and all phrasings. Web search APIs answer within two; SearXNG waits three for its own engines
and a keyless search tries several sites in turn."""
ENGINE_COUNT: Final = 3
"""Engines asked at once. Ranks agree or differ among three; more cost quota, and bring the same pages."""
ASKING_SHARE: Final = 0.5
"""Of what is left of the call: the rest is for reading pages, which is what the call is for."""
TURNS: Final = 2
"""Engine timeouts that asking takes at most, one for the preferred and one for the reserves."""
RESERVE_SHARE: Final = 0.6
"""Of the time for asking, that an engine gets where a reserve could step in for it: a reserve needs some too."""
GRACE: Final = 1.5
"""Seconds that the other engines get once there is enough to read: what most APIs take at all, so that an engine in
good health is hardly ever left behind, and one in bad health costs little. Where that enough took longer to come, the
others get as long again: then the network is slow and not they."""
PATIENCE: Final = 4.0
"""Seconds that the most preferred engine gets before the others suffice without it, so that one which is preferred for
what it finds is not always left behind by a faster one: SearXNG and keyless searches take two to four seconds."""
AT_ONCE: Final = 12
"""Requests of one call at once."""
ENGINE_AT_ONCE: Final = 3
"""Requests to one engine at once: free plans count by the second, and five phrasings are then done in two rounds."""
MAX_FAULTS: Final = 300
"""Bytes of an error's message."""


@dataclass(frozen=True, slots=True)
class Found:
    """One list of hits for each engine and phrasing that was answered, best first, and a report on each engine."""

    lists: tuple[tuple[Hit, ...], ...]
    reports: tuple[EngineReport, ...]


class Panel:
    """The engines of one server, most preferred first, and how each has been of late."""

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
        """`missing`: what the settings would need for engines that they name. `clock`: seconds since the epoch, to
        judge dates by. `ticks`: never goes back, to rest engines by."""
        self.engines = tuple(engines)
        self.count = count
        self.timeout = timeout
        self.grace = grace
        self.patience = patience
        self.clock = clock
        self.breakers = Breakers(ticks)
        self.missing = tuple(missing)

    async def ask(self, requests: Sequence[SearchRequest], until: float | None = None) -> Found:
        """What the engines find for the phrasings of one question, which share their filters.

        `until`: the call's deadline in seconds of the event loop's clock. Raises KeyholeError: engine_unavailable, with
        every fault, when no engine gave an answer; key_refused where all keys are bad or no engine is set up, as then
        trying again cannot help.
        """
        if not self.engines:
            needs = f": {', '.join(self.missing)}" if self.missing else ""
            raise KeyholeError(Code.KEY_REFUSED, f"no search engine is set up{needs}")
        asking = _Asking(self, requests, until)
        await asking.run()
        return asking.outcome()


class _Asking:
    """One question to the panel."""

    def __init__(self, panel: Panel, requests: Sequence[SearchRequest], until: float | None) -> None:
        self._panel = panel
        self._requests = requests
        self._reserves = deque(able(panel.engines, requests[0]))
        self._turns: list[Turn] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._now = asyncio.get_running_loop().time
        self._start = self._now()
        left = float("inf") if until is None else (until - self._start) * ASKING_SHARE
        self._end = self._start + min(left, TURNS * panel.timeout)
        self._enough_at: float | None = None

    async def run(self) -> None:
        """Ask until all have answered, enough have and the grace is over, or the time is."""
        async with asyncio.TaskGroup() as group:
            try:
                self._fill(group)
                while self._tasks and (left := self._cutoff() - self._now()) > 0:
                    _, self._tasks = await asyncio.wait(self._tasks, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                    self._settle()
                    self._fill(group)
                self._leave_behind()
            finally:
                for task in self._tasks:
                    task.cancel()
                for turn in self._turns:
                    self._abandon(turn)

    def outcome(self) -> Found:
        """The lists in the order of preference, and the reports. Raises KeyholeError: engine_unavailable."""
        now = self._panel.clock()
        kept = [turn.kept(self._requests[0], now) for turn in self._turns]
        reports = tuple(report(turn, lists, self._requests[0]) for turn, lists in zip(self._turns, kept, strict=True))
        if not reports:
            raise KeyholeError(Code.ENGINE_UNAVAILABLE, "no time was left to ask an engine")
        if all(told.fault for told in reports):
            unkeyed = all("bad key" in told.fault for told in reports)  # then no later call goes better
            raise KeyholeError(
                Code.KEY_REFUSED if unkeyed else Code.ENGINE_UNAVAILABLE, every_fault(reports, MAX_FAULTS)
            )
        return Found(tuple(hits for lists in kept for hits in lists if hits), reports)

    # Which engines are asked.

    def _fill(self, group: asyncio.TaskGroup) -> None:
        """Begin to ask as many engines as are wanted, in place of those that failed or rest, while that is of use."""
        if self._enough_at is None and self._enough():
            self._enough_at = self._now()
        while self._reserves and self._enough_at is None and self._now() < self._end:
            if sum(not (turn.complete and turn.fault) for turn in self._turns) >= self._panel.count:
                break
            self._begin(self._reserves.popleft(), group)

    def _enough(self) -> bool:
        """Whether there are as many pages as the answer may show, or some, and half of the engines have been heard."""
        now = self._panel.clock()
        pages = {hit.url for turn in self._turns for hits in turn.kept(self._requests[0], now) for hit in hits}
        heard = sum(turn.complete for turn in self._turns)
        return len(pages) >= self._requests[0].max_results or (bool(pages) and 2 * heard >= len(self._turns))

    def _cutoff(self) -> float:
        """When those that have not answered are left behind."""
        if self._enough_at is None:
            return self._end
        grace = self._enough_at + max(self._panel.grace, self._enough_at - self._start)
        preferred = next((turn for turn in self._turns if not (turn.complete and turn.fault)), None)
        patience = self._start + self._panel.patience if preferred and not preferred.complete else 0.0
        return min(self._end, max(grace, patience))

    def _begin(self, engine: Engine, group: asyncio.TaskGroup) -> None:
        turn = Turn(engine, [None] * len(self._requests), self._panel.breakers.resting(engine.name))
        self._turns.append(turn)
        if turn.resting:
            turn.settled = True
            return
        self._panel.breakers.asked(engine.name)
        left = (self._end - self._now()) * (RESERVE_SHARE if self._reserves else 1)
        until = self._now() + min(self._panel.timeout, left)
        own = asyncio.Semaphore(ENGINE_AT_ONCE)
        for number in range(len(self._requests)):
            self._tasks.add(group.create_task(self._ask(turn, number, own, until)))

    async def _ask(self, turn: Turn, number: int, own: asyncio.Semaphore, until: float) -> None:
        request = for_engine(self._requests[number], turn.engine.applies)
        try:
            async with asyncio.timeout_at(until), own, self._slots:
                turn.answers[number] = await turn.engine.search(request)
        except KeyholeError as error:
            turn.answers[number] = error
        except TimeoutError:
            turn.answers[number] = _late()
        except (ValueError, TypeError, LookupError, AttributeError, OSError, RecursionError) as error:
            # A fault of ours in reading what one engine says must not cost the call what the others say.
            log.warning("%s: %s while reading its answer", turn.engine.name, type(error).__name__)
            turn.answers[number] = KeyholeError(Code.ENGINE_UNAVAILABLE, "its answer could not be read")

    # How each engine went.

    def _settle(self) -> None:
        """Tell the breakers of the engines that are done how it went."""
        for turn in self._turns:
            if turn.complete and not turn.settled:
                self._learn(turn)

    def _leave_behind(self) -> None:
        """Whoever has not answered by now is late where the others did not suffice, and else slow. Both count as
        failures: a slow engine would cost each call the grace."""
        for turn in self._turns:
            if self._enough_at is None:
                turn.answers = [_late() if answer is None else answer for answer in turn.answers]
            if not turn.settled:
                self._learn(turn)

    def _learn(self, turn: Turn) -> None:
        turn.settled = True
        if turn.found:
            self._panel.breakers.answered(turn.engine.name)
        else:
            wait = retry_after(turn.failures[0]) if turn.failures else None
            self._panel.breakers.failed(turn.engine.name, turn.fault, wait)

    def _abandon(self, turn: Turn) -> None:
        """The call was cancelled: a trial ends with it."""
        if not turn.settled:
            turn.settled = True
            self._panel.breakers.abandoned(turn.engine.name)


def able(engines: Sequence[Engine], request: SearchRequest) -> list[Engine]:
    """The engines that have what is asked for: for news those with news, or all where none has."""
    return [engine for engine in engines if request.kind != "news" or "news" in engine.applies] or list(engines)


def _late() -> KeyholeError:
    return KeyholeError(Code.TIMEOUT, "the engine did not answer in time")
