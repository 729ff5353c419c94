"""Limits of processor time that hold on slow and on busy machines."""

from __future__ import annotations

import time
from typing import Final

SQUARES: Final = 400_000
REFERENCE: Final = 0.025
"""Seconds that a processor of 2023 takes to add this many squares in Python 3.11."""


def allowed(seconds: float) -> float:
    """Return a limit of processor time: `seconds`, or as many times more as this machine is slower now."""
    started = time.process_time()
    sum(number * number for number in range(SQUARES))
    return seconds * max(1.0, (time.process_time() - started) / REFERENCE)
