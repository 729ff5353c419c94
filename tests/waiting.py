"""Waiting for what others do in their own time, and no longer than a test may take."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from loopback import PATIENCE


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    """Ask again until it is so. Fails where that never happens."""
    async with asyncio.timeout(PATIENCE):
        while not await true():  # noqa: ASYNC110 - no event tells of other processes
            await asyncio.sleep(0.005)
