"""The journal that a killed process left beside a database with nothing in it. Reads and changes no table."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path


def sweep_journal(connection: sqlite3.Connection, path: Path) -> None:
    """Remove it from beside the file that was just opened, so that a start leaves no trace of the end before it.

    A journal that holds pages is rolled back and removed by the first read. An empty one does no harm, but stays
    until something is written. So the version is written that stands there; not while another process writes, whose
    journal it is then.
    """
    if not path.with_name(f"{path.name}-journal").exists():
        return
    (patience,) = next(connection.execute("PRAGMA busy_timeout"))
    connection.execute("PRAGMA busy_timeout = 0")
    with suppress(sqlite3.Error):  # busy; or a full disk, which can be read all the same
        (version,) = next(connection.execute("PRAGMA user_version"))
        connection.execute(f"PRAGMA user_version = {version}")
    connection.execute(f"PRAGMA busy_timeout = {patience}")
