"""Open pages are told about changes of the log, and streams end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.look.app import QUIET_ROUNDS, RETRY, ROUNDS, changes


async def collect(stream: AsyncIterator[str]) -> list[str]:
    return [each async for each in stream]


def event(number: int) -> str:
    return f"event: change\ndata: {number}\n\n"


def events(numbers: Sequence[int], since: int | None) -> list[str]:
    """Return the events of a stream while the log has these numbers, one at each look, and then the last."""
    left = list(numbers)

    async def latest() -> int:
        return left.pop(0) if len(left) > 1 else left[0]

    async def wait() -> bool:
        return False

    first, *others = asyncio.run(collect(changes(latest, wait, since)))
    assert first == RETRY
    return others


def told(numbers: Sequence[int], since: int | None) -> list[int]:
    return [int(each.split("data: ")[1]) for each in events(numbers, since) if each.startswith("event: change\n")]


def test_each_change_is_told_once() -> None:
    assert told([5, 5, 6, 6, 9], None) == [6, 9]


def test_a_change_between_the_page_and_the_stream_is_told_at_once() -> None:
    assert told([7], 6) == [7]
    assert told([7], 7) == []


def test_a_log_that_began_anew_is_a_change() -> None:
    assert told([0], 12) == [0]


def test_a_stream_ends_when_the_server_stops_or_the_log_fails() -> None:
    async def latest() -> int:
        if numbers:
            return numbers.pop()
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the log fails")

    async def wait() -> bool:
        return len(numbers) == 2

    numbers = [4, 3, 2, 1]
    assert asyncio.run(collect(changes(latest, wait, 0))) == [RETRY, *map(event, (1, 2))]
    numbers = [1]
    assert asyncio.run(collect(changes(latest, wait, 0))) == [RETRY, event(1)]


def test_a_quiet_stream_sends_comments_and_ends() -> None:
    assert events([1], 1) == [": no change\n\n"] * (ROUNDS // QUIET_ROUNDS)
