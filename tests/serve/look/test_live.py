"""Open pages are told about changes of the log, and streams end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from keyhole.serve.look.live import QUIET_ROUNDS, RETRY, ROUNDS, changes


def events(numbers: Sequence[int], since: int | None) -> list[str]:
    """Return the events of a stream while the log has these numbers, one at each look, and then the last."""
    left = list(numbers)

    async def latest() -> int:
        return left.pop(0) if len(left) > 1 else left[0]

    async def wait() -> None: ...

    async def collect(stream: AsyncIterator[str]) -> list[str]:
        return [event async for event in stream]

    first, *others = asyncio.run(collect(changes(latest, wait, since)))
    assert first == RETRY
    return others


def told(numbers: Sequence[int], since: int | None) -> list[int]:
    return [int(event.split("data: ")[1]) for event in events(numbers, since) if event.startswith("event: change\n")]


def test_each_change_is_told_once() -> None:
    assert told([5, 5, 6, 6, 9], None) == [6, 9]


def test_a_change_between_the_page_and_the_stream_is_told_at_once() -> None:
    assert told([7], 6) == [7]
    assert told([7], 7) == []


def test_a_log_that_began_anew_is_a_change() -> None:
    assert told([0], 12) == [0]


def test_a_quiet_stream_sends_comments_and_ends() -> None:
    assert events([1], 1) == [": no change\n\n"] * (ROUNDS // QUIET_ROUNDS)
