"""Poll until a condition holds, for at most PATIENCE seconds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from tests.support.loopback import PATIENCE


async def wait_for_async(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait until the condition holds. Raises TimeoutError after PATIENCE seconds."""
    async with asyncio.timeout(PATIENCE):
        while not await condition():  # noqa: ASYNC110 - other processes set no event
            await asyncio.sleep(0.005)


def wait_for(condition: Callable[[], object], every: float = 0.01) -> None:
    """Check the condition every `every` seconds until it holds. Raises AssertionError after PATIENCE seconds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "the condition never held"
        time.sleep(every)  # polled, because other processes set no event
