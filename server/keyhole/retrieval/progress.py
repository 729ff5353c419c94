"""The port through which a call reports its progress."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

Progress = Callable[[float, float, str], Coroutine[Any, Any, None]]
"""Receives `(done, total, message)`."""


async def no_progress(done: float, total: float, message: str) -> None:
    """Ignore a progress report."""


def only_rising(progress: Progress) -> Progress:
    """Return a function that passes on only reports above all earlier ones, as the protocol requires.

    Concurrent parts of a call do not know each other's progress.
    """
    last = -1.0

    async def report(done: float, total: float, message: str) -> None:
        nonlocal last
        if done > last:
            last = done
            await progress(done, total, message)

    return report
