"""Rewrite an SQLite file, so that it has no remains of what was deleted.

A deleted row stays in the file as a free part of a page, and in the write-ahead log, until others are written there.
"""

from __future__ import annotations

import sqlite3
import time
from typing import Final

ERASE_SECONDS: Final = 60.0
"""Seconds for which `rewrite` tries again while other processes use the file. Their transactions take milliseconds."""
ERASE_PAUSE: Final = 0.05
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


def rewrite(connection: sqlite3.Connection) -> None:
    """Rewrite the file without its free pages, and empty its write-ahead log. Must be called outside a transaction.

    Raises sqlite3.OperationalError if other processes use the file for too long.
    """
    until = time.monotonic() + ERASE_SECONDS
    while True:
        try:
            connection.execute("VACUUM")
            is_busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not is_busy:
                return
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _BUSY or time.monotonic() > until:
                raise
        if time.monotonic() > until:
            raise sqlite3.OperationalError("other processes use the file")
        time.sleep(ERASE_PAUSE)
