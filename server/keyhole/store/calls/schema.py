"""The tables of a log of calls in SQLite, and opening its file."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from keyhole.store.sqlite.migrations import Step, Tables, migrate, read_version
from keyhole.store.sqlite.schema import connect, run_transaction

_VERSION_1: Final = (
    # `request` and the texts determine what later calls follow; see store/calls/relations.py.
    """CREATE TABLE calls (
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
    "CREATE INDEX calls_by_time ON calls (started_at, id)",
    "CREATE INDEX calls_by_session ON calls (session, started_at, id)",
    "CREATE INDEX calls_by_run ON calls (run) WHERE run != ''",
    "CREATE INDEX calls_by_client ON calls (client, started_at, id)",
    "CREATE INDEX calls_by_tool ON calls (tool, started_at, id)",
    "CREATE INDEX calls_by_outcome ON calls (outcome, started_at, id)",
    "CREATE INDEX calls_by_miss ON calls (started_at, id) WHERE miss != ''",
    "CREATE INDEX calls_by_follows ON calls (follows, started_at, id) WHERE follows != ''",
    # In a table of its own, so that lists read small rows.
    "CREATE TABLE bodies (key INTEGER PRIMARY KEY, data BLOB NOT NULL)",
    "CREATE TABLE searchable (key INTEGER PRIMARY KEY, sites TEXT NOT NULL, words TEXT NOT NULL)",
    """CREATE TABLE texts (
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
    "CREATE INDEX texts_by_id ON texts (text_id, key)",
    """CREATE TABLE stages (
    key INTEGER NOT NULL,
    name TEXT NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (key, name)
) WITHOUT ROWID""",
    # The totals of the calls of each session, so that a list of sessions reads one row for each.
    """CREATE TABLE sessions (
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
    "CREATE INDEX sessions_by_time ON sessions (last_at, id)",
    # One row: the number of changes, and the number of calls.
    "CREATE TABLE state (changes INTEGER NOT NULL, calls INTEGER NOT NULL)",
    # Not 0, so that the number grows even when this log takes the place of a damaged one.
    "INSERT INTO state VALUES (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 0)",
)
LOG: Final = Tables("log of calls", 1, (Step("tables of version 1", _VERSION_1),))


def open_log(path: Path | None) -> sqlite3.Connection:
    """Open the file of a log, and create or migrate its tables. None opens a log in memory.

    Raises sqlite3.Error, and KeyholeError (store_unavailable) for the file of a newer version or with other tables,
    which is not changed.
    """
    connection = connect(path)
    with ExitStack() as undo:
        undo.callback(connection.close)
        version = read_version(connection, LOG)
        connection.execute("PRAGMA cell_size_check = ON")
        # A deleted call is overwritten: a person who deletes a session does not want to find it in the file.
        connection.execute("PRAGMA secure_delete = ON")
        if version == 0:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        # Unlike the store, the log may lose its last calls in a power cut, and a damaged log begins anew. So commits do
        # not wait for the disk, and readers do not wait for writers.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        if version != LOG.version:
            run_transaction(connection, partial(migrate, tables=LOG), write=True)
        undo.pop_all()
    return connection
