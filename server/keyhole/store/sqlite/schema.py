"""The SQLite file's tables, from the first released to today's, and how it is opened. No artifacts are read here."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import sqlite_utils

from keyhole.errors import Code, KeyholeError
from keyhole.store.sqlite.damage import corrupt
from keyhole.store.sqlite.journal import sweep_journal
from keyhole.store.sqlite.migration import bring_up

BUSY_TIMEOUT: Final = 5.0
"""Seconds a writer waits for another process: writes take milliseconds, so this is a stuck disk or a migration."""
PAUSE: Final = 0.001
"""Seconds between two tries to write."""
SAFE_WAL: Final = (3, 51, 3)
"""The first SQLite in which concurrent writers cannot corrupt a write-ahead log."""

RELEASED: Final = (
    """
CREATE TABLE artifacts (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    requested_url TEXT NOT NULL,
    title TEXT NOT NULL,
    text BLOB NOT NULL,
    chars INTEGER NOT NULL,
    size INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    language TEXT NOT NULL,
    cut INTEGER NOT NULL,
    fetched_at REAL NOT NULL,
    last_access REAL NOT NULL
);
CREATE INDEX artifacts_by_access ON artifacts (last_access, size);
CREATE INDEX artifacts_by_fetch ON artifacts (fetched_at);
CREATE INDEX artifacts_by_request ON artifacts (requested_url, fetched_at);
CREATE TABLE dropped (id TEXT PRIMARY KEY, url TEXT NOT NULL, dropped_at REAL NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    stems, tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S*'", detail = none
)""",
    """
ALTER TABLE artifacts ADD COLUMN etag TEXT NOT NULL DEFAULT '';
ALTER TABLE artifacts ADD COLUMN last_modified TEXT NOT NULL DEFAULT '';
ALTER TABLE artifacts ADD COLUMN author TEXT NOT NULL DEFAULT '';
ALTER TABLE artifacts ADD COLUMN published TEXT NOT NULL DEFAULT '';
ALTER TABLE artifacts ADD COLUMN modified TEXT NOT NULL DEFAULT '';
ALTER TABLE artifacts ADD COLUMN site TEXT NOT NULL DEFAULT '';
ALTER TABLE artifacts ADD COLUMN replaces TEXT NOT NULL DEFAULT '';
ALTER TABLE artifacts ADD COLUMN notes TEXT NOT NULL DEFAULT '{}'""",
    # What a search filters by, apart from the texts, which SQLite reads through to reach the columns after them.
    "CREATE INDEX artifacts_by_key ON artifacts (key, last_access, fetched_at, published, language, chars, url)",
)
"""What led from each version of the schema to the next, the first from an empty file. A released one never changes."""

CURRENT: Final = {
    # A text; equal ones are one. Its chunks are found by its key.
    "contents": """CREATE TABLE contents (
    key INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    chunk_chars INTEGER NOT NULL,
    damaged INTEGER NOT NULL DEFAULT 0
)""",
    "chunks": "CREATE TABLE chunks (key INTEGER PRIMARY KEY, data BLOB NOT NULL, checksum BLOB NOT NULL)",
    # One for each artifact. An older Keyhole that has the file open finds no `artifacts`: it fails by name and spoils
    # nothing. `turn` counts accesses; `size` is about what dropping it frees.
    "entries": """CREATE TABLE entries (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    content INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    last_access REAL NOT NULL,
    fetched_at REAL NOT NULL,
    published TEXT NOT NULL,
    language TEXT NOT NULL,
    chars INTEGER NOT NULL,
    damaged INTEGER NOT NULL DEFAULT 0,
    url TEXT NOT NULL,
    requested_url TEXT NOT NULL,
    title TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    size INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    cut INTEGER NOT NULL,
    etag TEXT NOT NULL,
    last_modified TEXT NOT NULL,
    author TEXT NOT NULL,
    modified TEXT NOT NULL,
    site TEXT NOT NULL,
    replaces TEXT NOT NULL,
    notes TEXT NOT NULL,
    checksum BLOB NOT NULL
)""",
    "entries_by_turn": "CREATE INDEX entries_by_turn ON entries (turn, last_access, size)",
    "entries_by_fetch": "CREATE INDEX entries_by_fetch ON entries (fetched_at)",
    "entries_by_request": "CREATE INDEX entries_by_request ON entries (requested_url, fetched_at)",
    "entries_by_content": "CREATE INDEX entries_by_content ON entries (content)",
    "tombstones": "CREATE TABLE tombstones (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, url TEXT NOT NULL)",
    "known_urls": "CREATE TABLE known_urls (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE)",
    "vectors": "CREATE TABLE vectors (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL)",
    "words": RELEASED[0].split(";\n")[-1],
}
"""Today's tables and indexes. What older ones hold is carried over by sqlite_migration.py."""
SCHEMA_VERSION: Final = len(RELEASED) + 1
NO_VERSION: Final = 1 << 16
"""A larger number is no newer Keyhole's but damage."""

_OLDER: Final = frozenset({"artifacts", "dropped", "words"})


def open_file(path: Path) -> sqlite_utils.Database:
    """The file with today's tables, made or brought up where need be.

    Raises KeyholeError (store_unavailable) for the file of a newer Keyhole, which is left as it is, and sqlite3.Error.
    """
    # Created by us first: sqlite would give it the mode that the umask leaves.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
    with ExitStack() as undo:
        undo.callback(connection.close)
        # Before anything is set: a file that we do not understand is left as it is.
        version = checked_version(connection)
        connection.execute("PRAGMA cell_size_check = ON")
        if version == 0:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute(f"PRAGMA journal_mode = {journal_mode(sqlite3.sqlite_version_info)}")
        # FULL, and the folder too after a rollback journal is deleted: else a power cut could bring the journal back,
        # and with it undo what had been acknowledged.
        connection.execute("PRAGMA synchronous = EXTRA")
        database = sqlite_utils.Database(connection, execute_plugins=False)
        if version < SCHEMA_VERSION:
            bring_up(database, RELEASED, CURRENT, checked_version)
        sweep_journal(connection, path)
        undo.pop_all()
    return database


def begin(db: sqlite_utils.Database, *, write: bool) -> None:
    """Begin a transaction; one that writes when it is this process's turn.

    SQLite itself asks for the lock ten times a second at last: of several processes that write all the time one then
    waits for seconds. Asked for every millisecond, it comes to each.
    """
    if not write:
        db.execute("BEGIN")
        return
    until = time.monotonic() + BUSY_TIMEOUT
    db.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                # Takes the write lock first: a read that turns into a write would fail as busy at once.
                db.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(PAUSE)
            else:
                return
    finally:
        db.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT * 1_000)}")


def journal_mode(sqlite_version: tuple[int, ...]) -> str:
    """How a SQLite of this version makes its writes whole."""
    return "WAL" if sqlite_version >= SAFE_WAL else "DELETE"


def checked_version(connection: sqlite3.Connection) -> int:
    """The version of a file's schema. A file whose tables are not of that version is damaged: sqlite3.DatabaseError."""
    if connection.in_transaction:
        return _checked_version(connection)
    # Of one state of the file: between two looks another process may have made its tables.
    connection.execute("BEGIN")
    try:
        return _checked_version(connection)
    finally:
        connection.rollback()


def _checked_version(connection: sqlite3.Connection) -> int:
    version = int(next(connection.execute("PRAGMA user_version"))[0])
    if version > NO_VERSION:
        raise corrupt("no Keyhole has this version")
    if version > SCHEMA_VERSION:
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the artifact store was written by a newer Keyhole")
    tables = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"))
    if version == SCHEMA_VERSION:
        sound = all(tables.get(name) == sql for name, sql in CURRENT.items())
    else:
        sound = tables.keys() >= _OLDER if version else not tables
    if version < 0 or not sound:
        raise corrupt("the file's tables are not those of its version")
    return version
