"""How a call tells what it is at. Only the telling; who listens, and how it looks, is elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

Progress = Callable[[float, float, str], Coroutine[Any, Any, None]]
"""`(done, total, what)`."""


async def silent(done: float, total: float, what: str) -> None:
    """Nobody listens to this call."""


def rising(progress: Progress) -> Progress:
    """The same, with what does not rise left out: the protocol asks for it, and parts that work at once cannot know."""
    last = -1.0

    async def report(done: float, total: float, what: str) -> None:
        nonlocal last
        if done > last:
            last = done
            await progress(done, total, what)

    return report
