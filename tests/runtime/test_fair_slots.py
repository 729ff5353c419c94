"""Fair slots: turns of owners, spare slots, and no slot lost by any sequence of calls, ends and cancellations."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from keyhole.runtime.fair_slots import FairSlots
from keyhole.runtime.owner import owned_by


class Calls:
    """Calls that hold a slot until they are told to end."""

    def __init__(self, slots: FairSlots) -> None:
        self.slots = slots
        self.running: list[str] = []
        """The names of the calls that hold a slot, in the order in which they got it."""
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, asyncio.Event] = {}

    async def begin(self, *names: str) -> None:
        """Begin calls. The first letter of a name is its owner."""
        for name in names:
            self._ends[name] = asyncio.Event()
            with owned_by(name[0]):
                self.tasks[name] = asyncio.create_task(self._run(name))
            await settle()

    async def end(self, *names: str) -> None:
        """End calls that hold a slot."""
        for name in names:
            self._ends[name].set()
            await settle()

    async def _run(self, name: str) -> None:
        async with self.slots.slot():
            self.running.append(name)
            try:
                await self._ends[name].wait()
            finally:
                self.running.remove(name)


async def settle() -> None:
    """Let all tasks run until they wait."""
    for _ in range(5):
        await asyncio.sleep(0)


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(scenario)


def test_one_owner_uses_all_slots_but_the_spare_ones() -> None:
    async def scenario() -> None:
        calls = Calls(FairSlots(3, spare=1))
        await calls.begin("a1", "a2", "a3")
        assert calls.running == ["a1", "a2"]
        await calls.end("a1")
        assert calls.running == ["a2", "a3"]
        await calls.end("a2", "a3")

    run(scenario())


def test_a_spare_slot_is_for_an_owner_that_holds_none() -> None:
    async def scenario() -> None:
        calls = Calls(FairSlots(3, spare=1))
        await calls.begin("a1", "a2", "a3", "b1", "b2")
        assert calls.running == ["a1", "a2", "b1"]
        await calls.end("b1")
        assert calls.running == ["a1", "a2", "b2"]

    run(scenario())


def test_a_free_slot_goes_to_the_owner_that_holds_the_fewest() -> None:
    async def scenario() -> None:
        calls = Calls(FairSlots(3))
        await calls.begin("a1", "a2", "b1", "a3", "a4", "b2", "c1")
        await calls.end("a1")
        assert calls.running == ["a2", "b1", "c1"]
        await calls.end("c1")
        assert calls.running == ["a2", "b1", "a3"]

    run(scenario())


def test_owners_with_equally_many_slots_take_turns() -> None:
    async def scenario() -> None:
        calls = Calls(FairSlots(1))
        await calls.begin("a1", "a2", "a3", "b1", "b2")
        order = []
        while calls.running:
            order += calls.running
            await calls.end(*calls.running)
        assert order == ["a1", "a2", "b1", "a3", "b2"]

    run(scenario())


def test_a_cancelled_call_that_waits_takes_no_slot() -> None:
    async def scenario() -> None:
        calls = Calls(FairSlots(1))
        await calls.begin("a1", "a2", "b1")
        calls.tasks["a2"].cancel()
        await settle()
        await calls.end("a1", "b1")
        assert calls.slots.is_unused

    run(scenario())


def test_a_call_cancelled_in_the_moment_it_gets_a_slot_passes_it_on() -> None:
    async def scenario() -> None:
        calls = Calls(FairSlots(1))
        await calls.begin("a1", "a2", "b1")
        calls.tasks["a1"].cancel()
        await asyncio.sleep(0)  # a1 has released its slot; a2 has got it and does not run yet
        calls.tasks["a2"].cancel()
        await settle()
        assert calls.running == ["b1"]
        await calls.end("b1")
        assert calls.slots.is_unused

    run(scenario())


def test_the_end_of_all_use_can_be_awaited() -> None:
    async def scenario() -> None:
        calls = Calls(FairSlots(1))
        await calls.begin("a1", "b1")
        waiting = asyncio.create_task(calls.slots.wait_unused())
        await calls.end("a1")
        assert not waiting.done()
        calls.tasks["b1"].cancel()
        await settle()
        assert waiting.done()
        await calls.slots.wait_unused()

    run(scenario())


actions = st.lists(
    st.tuples(st.sampled_from(["begin a", "begin b", "begin c", "end", "cancel", "step"]), st.integers(0, 9)),
    max_size=40,
)


@given(actions, st.integers(1, 4), st.integers(0, 2))
def test_no_sequence_of_calls_loses_or_exceeds_slots(actions: list[tuple[str, int]], total: int, spare: int) -> None:
    async def scenario() -> None:
        spared = min(spare, total - 1)
        calls = Calls(FairSlots(total, spared))
        for number, (action, index) in enumerate(actions):
            unfinished = [name for name, task in calls.tasks.items() if not task.done()]
            if action.startswith("begin"):
                with owned_by(action[-1]):
                    name = f"{action[-1]}{number}"
                    calls._ends[name] = asyncio.Event()
                    calls.tasks[name] = asyncio.create_task(calls._run(name))
            elif action == "end" and calls.running:
                calls._ends[calls.running[index % len(calls.running)]].set()
            elif action == "cancel" and unfinished:
                calls.tasks[unfinished[index % len(unfinished)]].cancel()
            elif action == "step":
                await asyncio.sleep(0)
            check_limits(calls, total, spared)
        await settle()
        await settle()
        check_limits(calls, total, spared)
        check_nobody_waits_without_need(calls, total, spared)
        while calls.running:
            await calls.end(*calls.running)
        assert all(task.done() for task in calls.tasks.values())
        assert calls.slots.is_unused
        assert calls.slots._free == total

    run(scenario())


def check_limits(calls: Calls, total: int, spare: int) -> None:
    assert len(calls.running) <= total
    for held in Counter(name[0] for name in calls.running).values():
        assert held <= max(1, total - spare)


def check_nobody_waits_without_need(calls: Calls, total: int, spare: int) -> None:
    held = Counter(name[0] for name in calls.running)
    waiting = {name[0] for name, task in calls.tasks.items() if not task.done() and name not in calls.running}
    for owner in waiting:
        assert total - len(calls.running) <= (spare if held[owner] else 0)


def test_an_owner_holds_at_most_its_limit_and_others_are_served_meanwhile() -> None:
    async def scenario() -> None:
        slots = FairSlots(3, most=1)
        await slots.acquire("a")
        second = asyncio.create_task(slots.acquire("a"))
        await settle()
        await slots.acquire("b")
        assert (slots.held("a"), slots.waiting("a"), slots.all_waiting(), slots.in_use) == (1, 1, 1, 2)
        slots.release("a")
        await second
        assert (slots.held("a"), slots.waiting("a")) == (1, 0)

    run(scenario())


def test_work_that_has_begun_is_counted_also_beyond_the_limit() -> None:
    async def scenario() -> None:
        slots = FairSlots(1)
        await slots.acquire("a")
        slots.count("b")
        waiting = asyncio.create_task(slots.acquire("c"))
        slots.release("a")
        await asyncio.sleep(0)
        assert not waiting.done()
        slots.release("b")
        await waiting

    run(scenario())
