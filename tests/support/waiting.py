"""Waiting for what others do in their own time, and no longer than a test may take."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from tests.support.loopback import PATIENCE


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    """Ask again until it is so. Fails where that never happens."""
    async with asyncio.timeout(PATIENCE):
        while not await true():  # noqa: ASYNC110 - no event tells of other processes
            await asyncio.sleep(0.005)


def wait_for(true: Callable[[], object], every: float = 0.01) -> None:
    """The same without an event loop: looked at every so many seconds."""
    until = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < until, "it never came true"
        time.sleep(every)  # what other processes do is told to nobody
