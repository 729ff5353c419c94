"""Lock the store's folder: shared while the database file is in use, exclusive while it is replaced.

SQLite's locks belong to a file, but its journal belongs to a name. A process that still writes to a renamed file would
create its journal beside the new file, and SQLite would roll it back into the new file. So no transaction may be open
while the file is replaced. The lock is on the folder itself: it needs no lock file and ends with the process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

RETRY_PAUSE: Final = 0.01
"""Seconds between two attempts. Waiting is rare: only while a damaged file is replaced."""


@contextmanager
def lock_folder(folder: Path, seconds: float, *, exclusive: bool = False) -> Iterator[None]:
    """Hold a shared or exclusive lock of a folder. Raises OSError, and TimeoutError after `seconds`."""
    if os.name != "posix":  # other systems do not rename open files, so no lock is needed
        yield
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _wait(handle, seconds, exclusive)
        yield
    finally:
        os.close(handle)


def _wait(handle: int, seconds: float, exclusive: bool) -> None:
    import fcntl

    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(handle, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise TimeoutError("the store is being replaced by another process") from None
            time.sleep(RETRY_PAUSE)
        else:
            return
