"""Indexing of stored results: after a pause, also under a steady load, and not after the end."""

from __future__ import annotations

import asyncio
from threading import Event

from keyhole.extensions.proxy.conversation import MAX_WAITING, Indexing


class Results:
    """Stored results that wait to be indexed, and the pauses that the indexing makes."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.pauses: list[asyncio.Future[None]] = []
        self.done = Event()

    def index_oldest(self) -> bool:
        if self.count == 0:
            self.done.set()
            return False
        self.count -= 1
        return True

    async def sleep(self, _seconds: float) -> None:
        self.pauses.append(asyncio.get_running_loop().create_future())
        await self.pauses[-1]


async def started(results: Results, calls: int) -> Indexing:
    indexing = Indexing(results.index_oldest, results.sleep)
    for _ in range(calls):
        indexing.start_later()
        await asyncio.sleep(0)  # the task begins its pause
    return indexing


async def end_pause(results: Results) -> None:
    results.pauses[-1].set_result(None)
    await asyncio.to_thread(results.done.wait, 30)


def test_all_results_are_indexed_after_a_pause() -> None:
    async def run() -> int:
        results = Results(3)
        await started(results, 1)
        assert results.count == 3
        await end_pause(results)
        return results.count

    assert asyncio.run(run()) == 0


def test_each_further_result_begins_the_pause_again() -> None:
    async def run() -> list[bool]:
        results = Results(3)
        await started(results, 3)
        await asyncio.sleep(0)
        return [pause.cancelled() for pause in results.pauses]

    assert asyncio.run(run()) == [True, True, False]


def test_too_many_waiting_results_are_indexed_although_further_ones_arrive() -> None:
    async def run() -> int:
        results = Results(3)
        await started(results, MAX_WAITING + 50)
        return len(results.pauses)

    assert asyncio.run(run()) == MAX_WAITING


def test_nothing_is_indexed_after_the_end() -> None:
    async def run() -> int:
        results = Results(3)
        (await started(results, 1)).stop()
        await asyncio.sleep(0)
        assert results.pauses[0].cancelled()
        return results.count

    assert asyncio.run(run()) == 3
