"""The schema of the SQLite file in all versions, and opening the file."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

import sqlite_utils

from keyhole.errors import Code, KeyholeError
from keyhole.store.sqlite.damage import corruption_error
from keyhole.store.sqlite.migration import migrate

BUSY_TIMEOUT: Final = 5.0
"""Seconds to wait for another process. Writes take milliseconds, so a longer wait means a stuck disk or a migration."""
LOCK_PAUSE: Final = 0.001
"""Seconds between two attempts to lock the file for writing."""
SAFE_WAL_VERSION: Final = (3, 51, 3)
"""The first SQLite version in which concurrent writers cannot corrupt a write-ahead log."""

OLDER_MIGRATIONS: Final = (
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
    # The columns that a search filters by: in the table, SQLite reads through the text to reach the columns after it.
    "CREATE INDEX artifacts_by_key ON artifacts (key, last_access, fetched_at, published, language, chars, url)",
)
"""Migrations to versions 1 to 3 of the schema; the first starts from an empty file. They never change."""

CURRENT_SCHEMA: Final = {
    # A text, stored once for all artifacts that share it. Its chunks are found by its key.
    "contents": """CREATE TABLE contents (
    key INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    chunk_chars INTEGER NOT NULL,
    damaged INTEGER NOT NULL DEFAULT 0
)""",
    "chunks": "CREATE TABLE chunks (key INTEGER PRIMARY KEY, data BLOB NOT NULL, checksum BLOB NOT NULL)",
    # One row for each artifact. An older Keyhole that has the file open finds no table `artifacts`, so it fails and
    # changes nothing. `turn` counts accesses; `size` is the approximate number of bytes that dropping the row frees.
    # Columns that were added later are on the last line, where SQLite writes them.
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
, main_end INTEGER, pinned INTEGER NOT NULL DEFAULT 0)""",
    "entries_by_turn": "CREATE INDEX entries_by_turn ON entries (turn, last_access, size)",
    "entries_by_fetch": "CREATE INDEX entries_by_fetch ON entries (fetched_at)",
    "entries_by_request": "CREATE INDEX entries_by_request ON entries (requested_url, fetched_at)",
    "entries_by_content": "CREATE INDEX entries_by_content ON entries (content)",
    "entries_pinned": "CREATE INDEX entries_pinned ON entries (size) WHERE pinned",
    "tombstones": "CREATE TABLE tombstones (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, url TEXT NOT NULL)",
    "known_urls": "CREATE TABLE known_urls (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE)",
    "vectors": "CREATE TABLE vectors (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL)",
    "words": OLDER_MIGRATIONS[0].split(";\n")[-1],
}
"""The current tables and indexes by name. store/sqlite/migration.py copies the contents of older tables."""
ADDED_COLUMNS: Final = (
    "ALTER TABLE entries ADD COLUMN main_end INTEGER",
    "ALTER TABLE entries ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;\n" + CURRENT_SCHEMA["entries_pinned"],
)
"""Migrations from version 4, which had these tables without the added columns, to each later version. A Keyhole of an
older version that has the file open can still use it: a column it does not know has its default."""
SCHEMA_VERSION: Final = len(OLDER_MIGRATIONS) + 1 + len(ADDED_COLUMNS)
MAX_VERSION: Final = 1 << 16
"""Upper bound of a plausible version; a larger number is damage rather than a newer Keyhole."""

_ADDED_INDEXES: Final = frozenset({"entries_pinned"})
"""Indexes that files of version 4 may lack."""
_OLDER_TABLES: Final = frozenset({"artifacts", "dropped", "words"})


def open_file(path: Path) -> sqlite_utils.Database:
    """Open the file, and create or migrate its tables if needed.

    Raises sqlite3.Error, and KeyholeError (store_unavailable) for the file of a newer Keyhole, which is not changed.
    """
    # SQLite would create the file with the mode of the umask.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
    with ExitStack() as undo:
        undo.callback(connection.close)
        # Before any change, so that a file of an unknown version stays unchanged.
        version = read_version(connection)
        connection.execute("PRAGMA cell_size_check = ON")
        if version == 0:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute(f"PRAGMA journal_mode = {journal_mode(sqlite3.sqlite_version_info)}")
        # EXTRA is FULL and syncs the folder after deleting a rollback journal. Otherwise a power cut could bring the
        # journal back, which would undo an acknowledged write.
        connection.execute("PRAGMA synchronous = EXTRA")
        database = sqlite_utils.Database(connection, execute_plugins=False)
        if version < SCHEMA_VERSION:
            migrate(database, (OLDER_MIGRATIONS, CURRENT_SCHEMA, ADDED_COLUMNS), read_version)
        remove_empty_journal(connection, path)
        undo.pop_all()
    return database


def begin_transaction(db: sqlite_utils.Database, *, write: bool) -> None:
    """Begin a transaction; with `write`, wait up to BUSY_TIMEOUT for the write lock.

    SQLite's own busy handler soon tries only ten times a second, so that one of several busy writers waits for seconds.
    With a try every millisecond none of them waits as long.
    """
    if not write:
        db.execute("BEGIN")
        return
    until = time.monotonic() + BUSY_TIMEOUT
    db.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                # IMMEDIATE takes the write lock first: upgrading a read transaction could fail at once as busy.
                db.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(LOCK_PAUSE)
            else:
                return
    finally:
        db.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT * 1_000)}")


def journal_mode(sqlite_version: tuple[int, ...]) -> str:
    """Return the safest journal mode for a SQLite version."""
    return "WAL" if sqlite_version >= SAFE_WAL_VERSION else "DELETE"


def read_version(connection: sqlite3.Connection) -> int:
    """Return the schema version of a file. Raises sqlite3.DatabaseError if its tables are not of that version."""
    if connection.in_transaction:
        return _read_version(connection)
    # In one transaction, because another process may create the tables between two reads.
    connection.execute("BEGIN")
    try:
        return _read_version(connection)
    finally:
        connection.rollback()


def _read_version(connection: sqlite3.Connection) -> int:
    version = int(next(connection.execute("PRAGMA user_version"))[0])
    if version > MAX_VERSION:
        raise corruption_error("the schema version is invalid")
    if version > SCHEMA_VERSION:
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the artifact store was written by a newer Keyhole")
    tables = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"))
    if version == SCHEMA_VERSION:
        is_valid = all(tables.get(name) == sql for name, sql in CURRENT_SCHEMA.items())
    elif version > len(OLDER_MIGRATIONS):
        is_valid = tables.keys() >= CURRENT_SCHEMA.keys() - _ADDED_INDEXES
    else:
        is_valid = tables.keys() >= _OLDER_TABLES if version else not tables
    if version < 0 or not is_valid:
        raise corruption_error("the file's tables are not those of its version")
    return version


def remove_empty_journal(connection: sqlite3.Connection, path: Path) -> None:
    """Remove an empty rollback journal that a killed process left beside the file just opened.

    SQLite rolls back and removes a journal with pages at the first read. An empty journal is harmless, but stays until
    the next write, so this writes the version number again, unless another process is writing and owns the journal.
    """
    if not path.with_name(f"{path.name}-journal").exists():
        return
    (busy_timeout,) = next(connection.execute("PRAGMA busy_timeout"))
    connection.execute("PRAGMA busy_timeout = 0")
    with suppress(sqlite3.Error):  # busy, or a full disk, which can still be read
        (version,) = next(connection.execute("PRAGMA user_version"))
        connection.execute(f"PRAGMA user_version = {version}")
    connection.execute(f"PRAGMA busy_timeout = {busy_timeout}")
