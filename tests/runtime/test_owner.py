"""The owner of the running call."""

from __future__ import annotations

import asyncio

from keyhole.runtime.owner import current_owner, owned_by


def test_outside_a_call_there_is_no_owner() -> None:
    assert current_owner() == ""


def test_tasks_and_threads_of_a_call_have_its_owner() -> None:
    async def call(owner: str) -> set[str]:
        with owned_by(owner):
            task = asyncio.create_task(answer())
            return {current_owner(), await task, await asyncio.to_thread(current_owner)}

    async def answer() -> str:
        await asyncio.sleep(0)
        return current_owner()

    async def both() -> list[set[str]]:
        return list(await asyncio.gather(call("one"), call("other")))

    assert asyncio.run(both()) == [{"one"}, {"other"}]


def test_a_nested_block_sets_its_owner_only_inside() -> None:
    with owned_by("outer"):
        with owned_by("inner"):
            assert current_owner() == "inner"
        assert current_owner() == "outer"
    assert current_owner() == ""
