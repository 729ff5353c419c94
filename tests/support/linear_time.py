"""Measure whether the time of a function grows linearly with its input."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

Input = TypeVar("Input")

GROWTH: Final = 9.0
"""Times as long for four times the input: linear time takes 4 times as long, quadratic time 16 times."""
EARLY: Final = 5.5
"""Times as long for four times the input that are accepted without larger inputs."""
CERTAIN: Final = 0.03
"""Seconds. The input is doubled until it takes as long, so that neither the clock nor other programs matter."""
MAX_DOUBLINGS: Final = 7


def seconds(use: Callable[[Input], object], made: Input, repeat: int = 3) -> float:
    """Return the least time of the processor in which this thread uses an input."""
    times = []
    for _ in range(repeat):
        started = time.thread_time()
        use(made)
        times.append(time.thread_time() - started)
    return min(times)


def is_linear(make: Callable[[int], Input], use: Callable[[Input], object], size: int) -> bool:
    """Return True if using an input takes time linear in its size. `size`: the least size, which is doubled.

    A growth counts if it is measured twice in a row, over four inputs.
    """
    times: list[float] = []
    before = 0.0
    for doubling in range(MAX_DOUBLINGS + 1):
        times.append(seconds(use, make(size << doubling)))
        growth = times[-1] / max(times[-3], 1e-6) if len(times) > 2 else 0.0
        if times[-1] > CERTAIN and min(growth, before) > GROWTH:
            return False
        if 0 < growth < GROWTH and (times[-1] > CERTAIN or (doubling > 3 and growth < EARLY)):
            return True
        before = growth
    return True
