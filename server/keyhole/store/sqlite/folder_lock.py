"""A gate in front of the store's file: many processes use it at once, or one puts another file in its place.

SQLite's own locks belong to a file and its journal to a name. A process that still writes to a file which has lost its
name would lay its journal beside the new file, and SQLite would roll it back into that. So nobody is in a transaction
while a file is replaced. The lock is on the folder: it needs no file of its own and ends with its process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

PAUSE: Final = 0.01
"""Seconds between two tries. Waiting is rare: only while a damaged file is replaced."""


@contextmanager
def passing(folder: Path, seconds: float, *, alone: bool = False) -> Iterator[None]:
    """Hold the gate of a folder, together with others or alone. Raises OSError."""
    if os.name != "posix":  # elsewhere an open file cannot be renamed, so that there is nothing to guard
        yield
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _wait(handle, seconds, alone)
        yield
    finally:
        os.close(handle)


def _wait(handle: int, seconds: float, alone: bool) -> None:
    import fcntl

    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(handle, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise TimeoutError("the store is being replaced by another process") from None
            time.sleep(PAUSE)
        else:
            return
