"""Read the best pages of a list concurrently, with reserves for pages that fail, are late, or duplicate another page.

Pure functions of a `ReadState` decide which pages to begin and when to stop. `read_best` executes their decisions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from keyhole.records import Hit, Source

PAGES_AT_ONCE: Final = 10
"""Pages that a search fetches at once."""
SPARES: Final = 2
"""Pages begun beyond the wanted number. Of five hits, one or two usually cannot be read or duplicate another.
Beginning a reserve only after such a failure would double the time. More spares find no more answers."""
GRACE: Final = 0.5
"""Time for which spares are awaited once the wanted number has been read, as a share of the time that these took."""
MIN_GRACE: Final = 0.1
"""Minimum seconds for which spares are awaited: pages from the store and of near servers differ by less."""
BETTER_GRACE: Final = 1.0
MIN_BETTER_GRACE: Final = 0.5
"""The same for pages that are ranked above a wanted page that was read, and may contain the answer. A longer wait
would let one page that never ends delay the whole search."""
LATE_SHARE: Final = 1 / 40
"""Share of a search's deadline (1 s of 40) after which a page counts as late and a reserve is begun beside it. Most
pages arrive earlier. A hedged request as in Dean and Barroso, "The Tail at Scale", CACM 2013, but for another page."""
Read = Callable[[Hit], Coroutine[Any, Any, Source]]
"""Reads one page. A failure is a source with `not_read`, never an exception."""
OnRead = Callable[[int, Hit], Awaitable[None]]
"""Receives the number of different pages read and the hit of the latest one, after each of them."""


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """The limits of the reading. Times are seconds of the event loop's clock."""

    wanted: int
    """Different pages to read."""
    at_once: int
    """Pages read concurrently."""
    late_after: float
    """Seconds after which a page counts as late."""
    start: float
    """The time at which the reading begins."""
    until: float
    """The time at which the reading ends in any case."""


@dataclass(frozen=True, slots=True)
class ReadState:
    """The state of the reading at the time `now`."""

    now: float
    read: int
    """Different pages read so far."""
    begun: int
    """Hits whose reading was begun."""
    left: int
    """Hits not yet begun."""
    running: tuple[float, ...]
    """For each page that is being read, the time when it was begun."""
    better: int
    """Pages being read that are ranked above the last wanted page that was read."""
    enough_at: float | None = None
    """The time at which the wanted number had been read, None before."""


def make_plan(wanted: int, at_once: int, deadline: float, now: float, until: float) -> ReadPlan:
    """Return the plan for a search with this `deadline` in seconds, whose reading must end at `until`."""
    return ReadPlan(wanted, at_once, deadline * LATE_SHARE, now, until)


def is_finished(plan: ReadPlan, state: ReadState) -> bool:
    """Return True if the reading must end or can end."""
    if state.now >= plan.until or not (state.running or state.left):
        return True
    if state.enough_at is None:
        return False
    return not state.running or state.now >= grace_end(plan, state)


def grace_end(plan: ReadPlan, state: ReadState) -> float:
    """Return the time until which the other pages are awaited, after the wanted number was read."""
    enough_at = state.enough_at if state.enough_at is not None else plan.until
    share, least = (BETTER_GRACE, MIN_BETTER_GRACE) if state.better else (GRACE, MIN_GRACE)
    return min(plan.until, enough_at + max(least, share * (enough_at - plan.start)))


def pages_to_begin(plan: ReadPlan, state: ReadState) -> int:
    """Return how many pages to begin now: the wanted ones and spares, and one for each that failed or is late."""
    if state.enough_at is not None:
        return 0
    in_time = sum(state.now - begun < plan.late_after for begun in state.running)
    missing = max(plan.wanted + SPARES - state.begun, plan.wanted - state.read - in_time)
    # Late pages do not count as concurrent, because they hardly use the network. Their number is limited too.
    free = min(plan.at_once - in_time, 2 * plan.at_once - len(state.running))
    return max(0, min(missing, free, state.left))


def next_check(plan: ReadPlan, state: ReadState) -> float:
    """Return the time of the next decision if no page arrives earlier."""
    late = [begun + plan.late_after for begun in state.running if begun + plan.late_after > state.now]
    grace = [] if state.enough_at is None else [grace_end(plan, state)]
    return min([plan.until, *late, *grace])


async def read_best(hits: Sequence[Hit], plan: ReadPlan, read: Read, on_read: OnRead) -> list[Source]:
    """Read the best hits and return their sources, in the order of the hits.

    A page that was not read in time has a reason in `not_read`, or is left out if enough better pages were read. Pages
    with nearly the same text count as one page read. Of pages with the same text, only the first is returned.
    """
    now = asyncio.get_running_loop().time
    sources: dict[int, Source] = {}
    running: dict[asyncio.Task[Source], tuple[int, float]] = {}
    begun = reported = 0
    enough_at: float | None = None

    def current() -> ReadState:
        last = _last_wanted(_different(sources), plan.wanted)
        better = sum(number < last for number, _ in running.values())
        since = tuple(at for _, at in running.values())
        return ReadState(now(), reported, begun, len(hits) - begun, since, better, enough_at)

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
                    enough_at = now() if count >= plan.wanted and enough_at is None else enough_at
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
    """Return the numbers of the different pages read: of pages with nearly the same text, only the first."""
    from keyhole.passages.near_duplicates import group_duplicates

    read = [(number, source.sketch) for number, source in sorted(sources.items()) if source.sketch]
    return [read[group[0]][0] for group in group_duplicates([sketch for _, sketch in read])]


def _last_wanted(read: Sequence[int], wanted: int) -> float:
    """Return the number of the last wanted page that was read, infinity until the wanted number has been read."""
    return read[wanted - 1] if len(read) >= wanted else float("inf")


def _without_repeats(sources: Iterable[Source]) -> list[Source]:
    """Return the sources without those whose text an earlier source has."""
    seen: set[str] = set()
    first = []
    for source in sources:
        id = source.artifact.id if source.artifact else ""
        if not id or id not in seen:
            first.append(source)
        seen.add(id)
    return first
