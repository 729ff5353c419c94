"""The tables of a log of calls in SQLite, and opening its file."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from keyhole.store.sqlite.schema import connect, run_transaction, tables_error, version_error

VERSION: Final = 1
"""The version of the tables."""

TABLES: Final = {
    # `request` and the texts determine what later calls follow; see store/calls/relations.py.
    "calls": """CREATE TABLE calls (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    client TEXT NOT NULL,
    origin TEXT NOT NULL,
    tool TEXT NOT NULL,
    query TEXT NOT NULL,
    target TEXT NOT NULL,
    started_at REAL NOT NULL,
    seconds REAL NOT NULL,
    outcome TEXT NOT NULL,
    budget INTEGER NOT NULL,
    result_bytes INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    read_chars INTEGER NOT NULL,
    shown_chars INTEGER NOT NULL,
    follows TEXT NOT NULL,
    relation TEXT NOT NULL,
    miss TEXT NOT NULL,
    folder TEXT NOT NULL,
    run TEXT NOT NULL,
    request TEXT NOT NULL
)""",
    "calls_by_time": "CREATE INDEX calls_by_time ON calls (started_at, id)",
    "calls_by_session": "CREATE INDEX calls_by_session ON calls (session, started_at, id)",
    "calls_by_run": "CREATE INDEX calls_by_run ON calls (run) WHERE run != ''",
    "calls_by_client": "CREATE INDEX calls_by_client ON calls (client, started_at, id)",
    "calls_by_tool": "CREATE INDEX calls_by_tool ON calls (tool, started_at, id)",
    "calls_by_outcome": "CREATE INDEX calls_by_outcome ON calls (outcome, started_at, id)",
    "calls_by_miss": "CREATE INDEX calls_by_miss ON calls (started_at, id) WHERE miss != ''",
    "calls_by_follows": "CREATE INDEX calls_by_follows ON calls (follows, started_at, id) WHERE follows != ''",
    # In a table of its own, so that lists read small rows.
    "bodies": "CREATE TABLE bodies (key INTEGER PRIMARY KEY, data BLOB NOT NULL)",
    "searchable": "CREATE TABLE searchable (key INTEGER PRIMARY KEY, sites TEXT NOT NULL, words TEXT NOT NULL)",
    "texts": """CREATE TABLE texts (
    key INTEGER NOT NULL,
    number INTEGER NOT NULL,
    text_id TEXT NOT NULL,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    chars INTEGER NOT NULL,
    spans TEXT NOT NULL,
    state TEXT NOT NULL,
    is_stored INTEGER NOT NULL,
    site TEXT NOT NULL,
    PRIMARY KEY (key, number)
) WITHOUT ROWID""",
    "texts_by_id": "CREATE INDEX texts_by_id ON texts (text_id, key)",
    "stages": """CREATE TABLE stages (
    key INTEGER NOT NULL,
    name TEXT NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (key, name)
) WITHOUT ROWID""",
    # The totals of the calls of each session, so that a list of sessions reads one row for each.
    "sessions": """CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    client TEXT NOT NULL,
    first_at REAL NOT NULL,
    last_at REAL NOT NULL,
    calls INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    misses INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    result_bytes INTEGER NOT NULL,
    read_chars INTEGER NOT NULL,
    shown_chars INTEGER NOT NULL
) WITHOUT ROWID""",
    "sessions_by_time": "CREATE INDEX sessions_by_time ON sessions (last_at, id)",
    # One row: the number of changes, and the number of calls.
    "state": "CREATE TABLE state (changes INTEGER NOT NULL, calls INTEGER NOT NULL)",
}
"""The tables and indexes by name."""


def open_log(path: Path | None, now: float) -> sqlite3.Connection:
    """Open the file of a log, and create its tables if it is new. None opens a log in memory.

    Raises sqlite3.Error, and KeyholeError (store_unavailable) for the file of another version, which is not changed.
    """
    connection = connect(path)
    with ExitStack() as undo:
        undo.callback(connection.close)
        version = _read_version(connection)
        connection.execute("PRAGMA cell_size_check = ON")
        # A deleted call is overwritten: a person who deletes a session does not want to find it in the file.
        connection.execute("PRAGMA secure_delete = ON")
        if version == 0:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        # Unlike the store, the log may lose its last calls in a power cut, and a damaged log begins anew. So commits do
        # not wait for the disk, and readers do not wait for writers.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        if version == 0:
            _create_tables(connection, now)
        undo.pop_all()
    return connection


def _read_version(connection: sqlite3.Connection) -> int:
    """Return the version of the tables, 0 for an empty file. Raises an error for tables of no known version."""
    connection.execute("BEGIN")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        tables = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"))
    finally:
        connection.rollback()
    if version not in (0, VERSION):
        raise version_error("log of calls", version, VERSION)
    if tables != (TABLES if version else {}):
        raise tables_error(connection, "log of calls", VERSION)
    return int(version)


def _create_tables(connection: sqlite3.Connection, now: float) -> None:
    """Create the tables, unless another process has just done so."""

    def create(connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            for sql in TABLES.values():
                connection.execute(sql)
            # Not 0, so that the number grows even when this log takes the place of a damaged one.
            connection.execute("INSERT INTO state VALUES (?, 0)", [int(now * 1_000)])
            connection.execute(f"PRAGMA user_version = {VERSION}")

    run_transaction(connection, create, write=True)
