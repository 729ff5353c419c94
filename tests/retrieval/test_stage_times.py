"""Tests of measuring the stages of one call."""

from __future__ import annotations

import asyncio

import pytest

from keyhole.retrieval.instrumentation import CallEvents, collect_events, stage


class Ticks:
    """A counter in place of the clock: each reading is one second later."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> CallEvents:
    monkeypatch.setattr("keyhole.retrieval.instrumentation.time.perf_counter", Ticks())
    return CallEvents()


def test_the_times_of_a_stage_that_runs_twice_are_added(events: CallEvents) -> None:
    for _ in range(2):
        with events.stage("rank"):
            pass
    assert events.stage_seconds() == (("rank", 2.0),)


def test_parts_of_a_stage_that_run_at_the_same_time_count_once(events: CallEvents) -> None:
    with events.stage("fetch"), events.stage("fetch"):
        pass
    assert events.stage_seconds() == (("fetch", 1.0),)


def test_stages_in_threads_and_tasks_belong_to_the_call_that_started_them() -> None:
    def rank() -> None:
        with stage("rank"):
            pass

    async def call(name: str) -> tuple[str, ...]:
        with collect_events() as own:
            await asyncio.gather(asyncio.to_thread(rank), asyncio.to_thread(rank))
            with stage("fetch" if name == "one" else "render"):
                await asyncio.sleep(0)
        return tuple(stage for stage, _ in own.stage_seconds())

    async def both() -> tuple[tuple[str, ...], ...]:
        return tuple(await asyncio.gather(call("one"), call("two")))

    assert asyncio.run(both()) == (("rank", "fetch"), ("rank", "render"))
