"""The schema of the SQLite file, and opening the file."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from keyhole.errors import Code, KeyholeError
from keyhole.runtime.lazy_imports import hidden_modules
from keyhole.store.base import version_error
from keyhole.store.sqlite import word_index
from keyhole.store.sqlite.damage import check_integrity, corruption_error

if TYPE_CHECKING:
    from sqlite_utils import Database, Migrations


# Migrations: the tables of a file are created, brought to this version, and checked.
#
# A file says its version in `PRAGMA user_version`; `sqlite_utils.Migrations` records the names of the applied steps. A
# file that has more tables or columns than this version uses is in order: another program may have added them.

MAX_VERSION: Final = 1 << 16
"""Upper bound of a plausible version; a larger number is damage rather than another version of Keyhole."""
_CREATE: Final = re.compile(r"CREATE (?:VIRTUAL )?(?:TABLE|INDEX) (\w+)")
_COLUMN: Final = re.compile(r"[(,]\s*(\w+) (?:INTEGER|TEXT|REAL|BLOB)\b")
_ADD: Final = re.compile(r"ALTER TABLE (\w+) ADD COLUMN (\w+)")


class Step(NamedTuple):
    """A change of the tables, with the SQL statements that make it. A step that was released never changes."""

    name: str
    statements: tuple[str, ...]


class Tables(NamedTuple):
    """The tables of one kind of file: the first step creates them, and each further one makes the next version."""

    name: str
    """What messages call the file."""
    first_version: int
    steps: tuple[Step, ...]

    @property
    def version(self) -> int:
        """Return the version after all steps."""
        return self.first_version + len(self.steps) - 1

    def names(self, version: int) -> set[tuple[str, str]]:
        """Return `(name, "")` for each table and index of a version, and `(table, column)` for each column."""
        statements = [sql for step in self.steps[: version - self.first_version + 1] for sql in step.statements]
        found = set(_ADD.findall("\n".join(statements)))
        for sql in statements:
            if match := _CREATE.match(sql):
                columns = _COLUMN.findall(sql) if sql.startswith("CREATE TABLE") else []
                found |= {(match[1], name) for name in ("", *columns)}
        return found


def read_version(connection: Connection, tables: Tables) -> int:
    """Return the version of a file, 0 for an empty file.

    Raises KeyholeError (store_unavailable) for a newer version, for a version before the first, and for a file that
    lacks tables or columns of its version. Raises sqlite3.DatabaseError if the file is damaged.
    """
    if connection.in_transaction:
        return _read_version(connection, tables)
    # In one transaction, because another process may create the tables between two reads.
    connection.execute("BEGIN")
    try:
        return _read_version(connection, tables)
    finally:
        connection.rollback()


def migrate(connection: Connection, tables: Tables) -> None:
    """Apply the steps that a file lacks. Must be called in a transaction; does nothing if another process did it."""
    version = _read_version(connection, tables)
    if version == tables.version:
        return
    with hidden_modules("numpy", "pandas"):  # it would import them if they are installed
        from sqlite_utils import Database, Migrations  # takes 20 ms, and most files have their tables

    migrations = Migrations(f"keyhole {tables.name}")
    applied = 0 if version == 0 else version - tables.first_version + 1
    for number, step in enumerate(tables.steps):
        _register(migrations, step, is_applied=number < applied)
    migrations.apply(Database(connection, execute_plugins=False))
    connection.execute(f"PRAGMA user_version = {tables.version}")


def _register(migrations: Migrations, step: Step, *, is_applied: bool) -> None:
    """Register a step. `is_applied`: True if the file has its tables already, so that only its name is recorded."""

    @migrations(name=step.name)
    def apply(db: Database) -> None:
        for statement in () if is_applied else step.statements:
            db.execute(statement)


def _read_version(connection: Connection, tables: Tables) -> int:
    version = int(next(connection.execute("PRAGMA user_version"))[0])
    if not 0 <= version <= MAX_VERSION:
        raise corruption_error("the schema version is invalid")
    if version > tables.version or 0 < version < tables.first_version:
        raise version_error(tables.name, version, tables.version)
    existing = {
        (name, column)
        for name, column in connection.execute(
            "SELECT name, '' FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' UNION ALL SELECT m.name, c.name "
            "FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.sql LIKE 'CREATE TABLE%'"
        )
    }
    if (existing and not version) or not tables.names(version) <= existing:
        check_integrity(connection)
        raise KeyholeError(
            Code.STORE_UNAVAILABLE,
            f"the {tables.name} has other tables than format {version}: another program or version changed it",
        )
    return version


# The schema: the store's tables, and how its file is opened.

T = TypeVar("T")

BUSY_TIMEOUT: Final = 5.0
"""Seconds to wait for another process. Writes take milliseconds, so a longer wait means a stuck disk."""
LOCK_PAUSE: Final = 0.001
"""Seconds between two attempts to lock the file for writing."""
SAFE_WAL_VERSION: Final = (3, 51, 3)
"""The first SQLite version in which concurrent writers cannot corrupt a write-ahead log."""

_VERSION_7: Final = (
    # A text, stored once for all artifacts that share it. Its chunks are found by its key.
    """CREATE TABLE contents (
    key INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    chunk_chars INTEGER NOT NULL,
    damaged INTEGER NOT NULL DEFAULT 0
)""",
    "CREATE TABLE chunks (key INTEGER PRIMARY KEY, data BLOB NOT NULL, checksum BLOB NOT NULL)",
    # One row for each artifact. No key is used twice, because the index may keep words of an artifact that was dropped.
    # `turn` counts accesses; `size` is the approximate number of bytes that dropping the row frees; `indexed` are the
    # ranges whose words belong into the index, and `terms` is the checksum of the words that are there.
    """CREATE TABLE entries (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
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
    checksum BLOB NOT NULL,
    main_end INTEGER,
    pinned INTEGER NOT NULL DEFAULT 0,
    indexed TEXT,
    terms INTEGER
)""",
    "CREATE INDEX entries_by_turn ON entries (turn, last_access, size)",
    "CREATE INDEX entries_by_fetch ON entries (fetched_at)",
    "CREATE INDEX entries_by_request ON entries (requested_url, fetched_at)",
    "CREATE INDEX entries_by_content ON entries (content)",
    "CREATE INDEX entries_pinned ON entries (size) WHERE pinned",
    "CREATE INDEX entries_unindexed ON entries (key) WHERE indexed IS NOT NULL AND terms IS NULL",
    "CREATE TABLE tombstones (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, url TEXT NOT NULL)",
    "CREATE TABLE known_urls (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE)",
    "CREATE TABLE vectors (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL)",
    # The categories include all characters of a word, because the words are already divided.
    """CREATE VIRTUAL TABLE words USING fts5 (
    title, body, content = '', tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S*'"
)""",
    "CREATE TABLE words_version (version INTEGER NOT NULL)",
    "INSERT INTO words_version VALUES (2)",
)
STORE: Final = Tables("artifact store", 7, (Step("tables of version 7", _VERSION_7),))
"""The tables of the artifact store. The versions before 7 were in no release."""


def open_store(path: Path | None) -> Connection:
    """Open the file of a store, and create or migrate its tables. None opens a store in memory.

    A word index of another version is emptied.

    Raises sqlite3.Error, and KeyholeError (store_unavailable) for the file of a newer version or with other tables,
    which is not changed.
    """
    connection = connect(path)
    connection.row_factory = sqlite3.Row
    with ExitStack() as undo:
        undo.callback(connection.close)
        # Before any change, so that a file of an unknown version stays unchanged.
        version = read_version(connection, STORE)
        connection.execute("PRAGMA cell_size_check = ON")
        if version == 0:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute(f"PRAGMA journal_mode = {journal_mode(sqlite3.sqlite_version_info)}")
        # EXTRA is FULL and syncs the folder after deleting a rollback journal. Otherwise a power cut could bring the
        # journal back, which would undo an acknowledged write.
        connection.execute("PRAGMA synchronous = EXTRA")
        if version != STORE.version:
            run_transaction(connection, partial(migrate, tables=STORE), write=True)
        _check_words(connection)
        if path is not None:
            remove_empty_journal(connection, path)
        undo.pop_all()
    return connection


def connect(path: Path | None) -> Connection:
    """Return a connection to a file, which is created if it is missing, or to a database in memory for None.

    Transactions begin with statements.
    """
    if path is not None:
        # SQLite would create the file with the mode of the umask.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    file = ":memory:" if path is None else path
    return sqlite3.connect(file, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)


def _check_words(connection: Connection) -> None:
    """Empty an index whose words were made by another version. Later calls make them again, a few at a time."""

    def empty(connection: Connection) -> None:
        if _words_version(connection) != word_index.VERSION:  # another process may have done so
            word_index.rebuild(connection)
            connection.execute("UPDATE words_version SET version = ?", [word_index.VERSION])

    if _words_version(connection) != word_index.VERSION:
        run_transaction(connection, empty, write=True)


def _words_version(connection: Connection) -> int:
    """Return the version of the words in the index. Raises sqlite3.DatabaseError if the file has none."""
    rows = connection.execute("SELECT version FROM words_version").fetchall()
    if len(rows) != 1:
        raise corruption_error("the version of the words is missing")
    return int(rows[0][0])


def run_transaction(connection: Connection, work: Callable[[Connection], T], *, write: bool | None) -> T:
    """Return the result of `work` in a transaction, or outside one if `write` is None."""
    if write is None:
        return work(connection)
    begin_transaction(connection, write=write)
    try:
        result = work(connection)
        connection.execute("COMMIT")
        return result
    finally:
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.rollback()


def begin_transaction(connection: Connection, *, write: bool) -> None:
    """Begin a transaction; with `write`, wait up to BUSY_TIMEOUT for the write lock.

    SQLite's own busy handler soon tries only ten times a second, so a writer beside other busy writers can wait for
    seconds. Here the lock is tried every millisecond.
    """
    if not write:
        connection.execute("BEGIN")
        return
    until = time.monotonic() + BUSY_TIMEOUT
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                # IMMEDIATE takes the write lock first: upgrading a read transaction could fail at once as busy.
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(LOCK_PAUSE)
            else:
                return
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT * 1_000)}")


def journal_mode(sqlite_version: tuple[int, ...]) -> str:
    """Return the safest journal mode for a SQLite version."""
    return "WAL" if sqlite_version >= SAFE_WAL_VERSION else "DELETE"


def remove_empty_journal(connection: Connection, path: Path) -> None:
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
