"""Reads the best pages of a list at once, with more for those that fail, repeat or are late. No engine, no ranking.

What to begin and when to stop is decided by pure functions of a `Standing`; the loop only does it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from keyhole.records import Hit, Source

SPARES: Final = 2
"""Pages begun beyond as many as are wanted. Of five results one or two as a rule cannot be read or repeat another, and
to find that out first and then read the next would double the wait."""
LATE_SHARE: Final = 1 / 20
"""Of a search's deadline (2 s of 40): after it a page counts as late, and a reserve is begun beside it. Most pages
come sooner. A hedged request, as in Dean and Barroso, "The Tail at Scale", CACM 2013, but of another page."""
PATIENCE_SHARE: Final = 1 / 8
"""Of the deadline (5 s of 40): so long late pages are waited for although as many as were asked for are there.
They were ranked higher, and may hold the answer; a page that takes longer seldom comes at all."""
Read = Callable[[Hit], Coroutine[Any, Any, Source]]
"""Reads one page; what fails is a source with `not_read`, never an exception."""
OnRead = Callable[[int, Hit], Awaitable[None]]
"""Told how many pages are read, each time that there is one more, and which."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is wanted: pages, how many at once, and the moments that count, in seconds of the event loop's clock."""

    wanted: int
    at_once: int
    begun: float
    late_after: float
    patience: float
    until: float


@dataclass(frozen=True, slots=True)
class Standing:
    """How far it is: different pages read, hits begun and not yet begun, and when each page that is being read was
    begun. `better`: how many of these were ranked above the last of the wanted pages that are there."""

    now: float
    read: int
    begun: int
    left: int
    running: tuple[float, ...]
    better: int


def plan(wanted: int, at_once: int, deadline: float, now: float, until: float) -> Plan:
    """The plan for a search with this `deadline` in seconds, whose reading must end at `until`."""
    return Plan(wanted, at_once, now, deadline * LATE_SHARE, now + deadline * PATIENCE_SHARE, until)


def finished(plan: Plan, standing: Standing) -> bool:
    """Whether there is nothing to wait for any more."""
    if standing.now >= plan.until or not (standing.running or standing.left):
        return True
    return standing.read >= plan.wanted and (not standing.better or standing.now >= plan.patience)


def to_begin(plan: Plan, standing: Standing) -> int:
    """How many further pages to begin now: the spares, and one for each that is missing, failed or late."""
    if standing.read >= plan.wanted:
        return 0
    in_time = sum(standing.now - begun < plan.late_after for begun in standing.running)
    missing = max(plan.wanted + SPARES - standing.begun, plan.wanted - standing.read - in_time)
    # Late ones hardly use their connection, but there must be an end of them.
    room = min(plan.at_once - in_time, 2 * plan.at_once - len(standing.running))
    return max(0, min(missing, room, standing.left))


def look_again(plan: Plan, standing: Standing) -> float:
    """When to look again even if no page has come."""
    late = [begun + plan.late_after for begun in standing.running if begun + plan.late_after > standing.now]
    patience = [plan.patience] if standing.read >= plan.wanted else []
    return min([plan.until, *late, *patience])


async def read_best(hits: Sequence[Hit], plan: Plan, read: Read, on_read: OnRead) -> list[Source]:
    """The sources of the hits that were begun, in the order of the hits; what did not come in time says so. A page that
    nobody waits for, since it ranks below as many as are wanted, was only a spare and is no source.

    Pages with nearly the same text count as one; of those that are one text only the first is a source.
    """
    now = asyncio.get_running_loop().time
    sources: dict[int, Source] = {}
    running: dict[asyncio.Task[Source], tuple[int, float]] = {}
    begun = told = 0

    def standing() -> Standing:
        read = _different(sources)
        last = _last(read, plan.wanted)
        better = sum(number < last for number, _ in running.values())
        since = tuple(at for _, at in running.values())
        return Standing(now(), len(read), begun, len(hits) - begun, since, better)

    async with asyncio.TaskGroup() as group:
        while not finished(plan, stands := standing()):
            for hit in hits[begun : begun + to_begin(plan, stands)]:
                running[group.create_task(read(hit))] = begun, stands.now
                begun += 1
            wait = max(0.0, look_again(plan, standing()) - now())
            done, _ = await asyncio.wait(running, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
            for task in sorted(done, key=lambda task: running[task]):
                number, _ = running.pop(task)
                sources[number] = task.result()
                if (count := len(_different(sources))) > told:
                    told = count
                    await on_read(count, hits[number])
        last = _last(_different(sources), plan.wanted)
        for task, (number, _) in running.items():
            task.cancel()
            if number < last:
                sources[number] = unread(hits[number], "timed out")
    return _once(source for _, source in sorted(sources.items()))


def unread(hit: Hit, why: str = "") -> Source:
    """The source of a hit that was not read; `why` is "" where nobody tried."""
    return Source(hit.url, hit.title, hit.snippet, not_read=why, date=hit.date)


def _different(sources: Mapping[int, Source]) -> list[int]:
    """The numbers of the pages that were read, of those with nearly the same text the first."""
    from keyhole.passages.near_duplicates import groups

    read = [(number, source.sketch) for number, source in sorted(sources.items()) if source.sketch]
    return [read[group[0]][0] for group in groups([sketch for _, sketch in read])]


def _last(read: Sequence[int], wanted: int) -> float:
    """The number of the last wanted page that was read; pages above it are of use, all are while one is missing."""
    return read[wanted - 1] if len(read) >= wanted else float("inf")


def _once(sources: Iterable[Source]) -> list[Source]:
    """Of the sources that are one text the first."""
    seen: set[str] = set()
    kept = []
    for source in sources:
        id = source.artifact.id if source.artifact else ""
        if not id or id not in seen:
            kept.append(source)
        seen.add(id)
    return kept
