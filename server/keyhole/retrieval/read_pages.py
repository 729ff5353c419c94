"""Read the best pages of a list concurrently, with reserves for pages that fail, repeat another one or are late.

Pure functions of a `ReadState` decide what to begin and when to stop; the loop in `read_best` only does it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from keyhole.records import Hit, Source

SPARES: Final = 2
"""Pages begun beyond the wanted number. Of five results usually one or two cannot be read or repeat another one, and
waiting for that before the next page is read would double the time."""
LATE_SHARE: Final = 1 / 20
"""Share of a search's deadline (2 s of 40) after which a page counts as late and a reserve is begun beside it. Most
pages come sooner. A hedged request as in Dean and Barroso, "The Tail at Scale", CACM 2013, but for another page."""
PATIENCE_SHARE: Final = 1 / 8
"""Share of the deadline (5 s of 40) for which late pages are awaited although the wanted number has been read. They were
ranked higher and may contain the answer; a page that takes longer seldom comes at all."""
Read = Callable[[Hit], Coroutine[Any, Any, Source]]
"""Reads one page. A failure is a source with `not_read`, never an exception."""
OnRead = Callable[[int, Hit], Awaitable[None]]
"""Receives the number of pages read and the latest one, each time that there is one more."""


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """The number of wanted pages and of concurrent fetches, and moments in seconds of the event loop's clock."""

    wanted: int
    at_once: int
    begun: float
    late_after: float
    patience: float
    until: float


@dataclass(frozen=True, slots=True)
class ReadState:
    """The progress of the reading at one moment."""

    now: float
    read: int
    """Different pages read."""
    begun: int
    left: int
    """Hits not yet begun."""
    running: tuple[float, ...]
    """When each page that is being read was begun."""
    better: int
    """Running pages that are ranked above the last of the wanted pages that were read."""


def make_plan(wanted: int, at_once: int, deadline: float, now: float, until: float) -> ReadPlan:
    """Return the plan for a search with this `deadline` in seconds, whose reading must end at `until`."""
    return ReadPlan(wanted, at_once, now, deadline * LATE_SHARE, now + deadline * PATIENCE_SHARE, until)


def is_finished(plan: ReadPlan, state: ReadState) -> bool:
    """Return True if there is nothing left to wait for."""
    if state.now >= plan.until or not (state.running or state.left):
        return True
    return state.read >= plan.wanted and (not state.better or state.now >= plan.patience)


def pages_to_begin(plan: ReadPlan, state: ReadState) -> int:
    """Return how many pages to begin now: the spares, and one for each page that is missing, failed or late."""
    if state.read >= plan.wanted:
        return 0
    in_time = sum(state.now - begun < plan.late_after for begun in state.running)
    missing = max(plan.wanted + SPARES - state.begun, plan.wanted - state.read - in_time)
    # Late pages hardly use their connections, but their number must be bounded.
    room = min(plan.at_once - in_time, 2 * plan.at_once - len(state.running))
    return max(0, min(missing, room, state.left))


def next_check(plan: ReadPlan, state: ReadState) -> float:
    """Return when to decide again, even if no page has arrived by then."""
    late = [begun + plan.late_after for begun in state.running if begun + plan.late_after > state.now]
    patience = [plan.patience] if state.read >= plan.wanted else []
    return min([plan.until, *late, *patience])


async def read_best(hits: Sequence[Hit], plan: ReadPlan, read: Read, on_read: OnRead) -> list[Source]:
    """Return the sources of the hits that were begun, in the order of the hits.

    A page that was not read in time says so. A page ranked below the wanted number, for which nobody waits, was only a
    spare and is left out. Pages with nearly the same text count as one; of pages with the same text the first is kept.
    """
    now = asyncio.get_running_loop().time
    sources: dict[int, Source] = {}
    running: dict[asyncio.Task[Source], tuple[int, float]] = {}
    begun = reported = 0

    def current() -> ReadState:
        read = _different(sources)
        last = _last_wanted(read, plan.wanted)
        better = sum(number < last for number, _ in running.values())
        since = tuple(at for _, at in running.values())
        return ReadState(now(), len(read), begun, len(hits) - begun, since, better)

    async with asyncio.TaskGroup() as group:
        while not is_finished(plan, state := current()):
            for hit in hits[begun : begun + pages_to_begin(plan, state)]:
                running[group.create_task(read(hit))] = begun, state.now
                begun += 1
            wait = max(0.0, next_check(plan, current()) - now())
            done, _ = await asyncio.wait(running, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
            for task in sorted(done, key=lambda task: running[task]):
                number, _ = running.pop(task)
                sources[number] = task.result()
                if (count := len(_different(sources))) > reported:
                    reported = count
                    await on_read(count, hits[number])
        last = _last_wanted(_different(sources), plan.wanted)
        for task, (number, _) in running.items():
            task.cancel()
            if number < last:
                sources[number] = unread_source(hits[number], "timed out")
    return _without_repeats(source for _, source in sorted(sources.items()))


def unread_source(hit: Hit, reason: str = "") -> Source:
    """Return the source of a hit that was not read; `reason` is "" if no attempt was made."""
    return Source(hit.url, hit.title, hit.snippet, not_read=reason, date=hit.date)


def _different(sources: Mapping[int, Source]) -> list[int]:
    """Return the numbers of the pages that were read; of pages with nearly the same text the first."""
    from keyhole.passages.near_duplicates import group_duplicates

    read = [(number, source.sketch) for number, source in sorted(sources.items()) if source.sketch]
    return [read[group[0]][0] for group in group_duplicates([sketch for _, sketch in read])]


def _last_wanted(read: Sequence[int], wanted: int) -> float:
    """Return the number of the last wanted page that was read; infinity while a wanted page is missing."""
    return read[wanted - 1] if len(read) >= wanted else float("inf")


def _without_repeats(sources: Iterable[Source]) -> list[Source]:
    """Return the first source of each text."""
    seen: set[str] = set()
    first = []
    for source in sources:
        id = source.artifact.id if source.artifact else ""
        if not id or id not in seen:
            first.append(source)
        seen.add(id)
    return first
