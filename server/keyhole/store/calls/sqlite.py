"""The log of calls in an SQLite file beside the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from keyhole.errors import KeyholeError
from keyhole.store.base import Clock
from keyhole.store.calls import queries
from keyhole.store.calls.base import (
    MAX_CALLS,
    MAX_LOG_BYTES,
    NO_CALL_FILTERS,
    CallFilters,
    CallMatch,
    CallPlace,
    CallRecord,
    CallSummary,
    Figures,
    SessionSummary,
    match_calls,
)
from keyhole.store.calls.relations import output_read_by
from keyhole.store.filters import Scope
from keyhole.store.forget_mark import open_marks
from keyhole.store.sqlite.file import open_database, rewrite
from keyhole.store.sqlite.schema import Step, Tables, connect, migrate, read_version, run_transaction

# The file: its tables, and how it is opened.

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
    # Microseconds rather than 0, so that the number grows even when this log takes the place of a damaged one.
    "INSERT INTO state VALUES (CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER), 0)",
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


# The log: it opens its file at its first use, and drops its oldest calls.

T = TypeVar("T")

FILE_NAME: Final = "calls.db"
NAME: Final = "the log of calls"
MEMORY_CALLS: Final = 1_000
"""Calls that a log in memory keeps: some 3 MB with results of 10,000 bytes, compressed."""
MEMORY_BYTES: Final = 16 * 1024**2
"""Bytes that a log in memory may use."""
COLLECT_SECONDS: Final = 3_600.0
"""Seconds after which expired calls are dropped again, by the next use of the log."""
COLLECT_CALLS: Final = 64
"""Added calls after which the bounds are applied again."""


class SqliteCallLog:
    """Keeps the calls of one tenant in the file `calls.db` of `folder`, which must exist, or in memory for None.

    The file is opened by the first use.

    `adopt`: adds the calls that hooks have left for the log. It is called before the log is read, before a call that
    reads an output is added, and after expired calls are dropped.
    """

    def __init__(
        self,
        folder: Path | None,
        clock: Clock,
        ttl: float,
        max_calls: int = MAX_CALLS,
        max_bytes: int = MAX_LOG_BYTES,
        adopt: Callable[[SqliteCallLog], object] | None = None,
    ) -> None:
        self._clock = clock
        self._ttl = ttl
        self._bounds = queries.LogBounds(max_calls, max_bytes)
        self._marks = open_marks(folder)
        path = folder / FILE_NAME if folder else None
        self._database = open_database(path, NAME, open_log)
        self._adopt = adopt
        self._collected_at = 0.0
        self._added = 0

    def add(self, record: CallRecord) -> None:
        self._collect_if_due()
        if self._adopt and output_read_by(record):
            with suppress(KeyholeError):  # the call itself may still be recorded
                self._adopt(self)
        self._database.run(lambda connection: self._add(connection, record), write=True)
        self._added += 1

    def _add(self, connection: sqlite3.Connection, record: CallRecord) -> None:
        if record.summary.started_at >= self._marks.read().before:
            queries.add_call(connection, record)

    def get(self, id: str) -> CallRecord | None:
        return self._read(lambda connection: queries.find_call(connection, id))

    def calls(
        self, limit: int, filters: CallFilters = NO_CALL_FILTERS, after: CallPlace | None = None
    ) -> tuple[CallSummary, ...]:
        return self._read(lambda connection: queries.list_calls(connection, limit, filters, after))

    def sessions(
        self, limit: int, filters: CallFilters = NO_CALL_FILTERS, after: CallPlace | None = None
    ) -> tuple[SessionSummary, ...]:
        return self._read(lambda connection: queries.list_sessions(connection, limit, filters, after))

    def figures(self, since: float) -> Figures:
        return self._read(lambda connection: queries.sum_figures(connection, since))

    def choices(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        return self._read(queries.list_choices)

    def latest(self) -> int:
        return self._read(lambda connection: int(connection.execute("SELECT changes FROM state").fetchone()[0]))

    def remove_call(self, *ids: str) -> int:
        return self._database.run(lambda connection: queries.remove_calls(connection, ids), write=True)

    def match(self, scope: Scope) -> CallMatch:
        if self._adopt:
            self._adopt(self)
        # Take the write lock, to wait for transactions that have not seen the mark.
        return self._database.run(lambda connection: match_calls(queries.list_addresses(connection), scope), write=True)

    def erase(self) -> None:
        self._database.run(rewrite, write=None)

    def remove_session(self, id: str) -> int:
        return self._database.run(lambda connection: queries.remove_session(connection, id), write=True)

    def collect(self) -> int:
        self._collected_at, self._added, dropped = self._clock(), 0, 0
        expired_before = self._collected_at - self._ttl
        excess = partial(queries.count_excess, bounds=self._bounds, expired_before=expired_before)
        drop = partial(queries.drop_oldest, bounds=self._bounds, expired_before=expired_before)
        # In several transactions, so that other processes can add calls between them.
        while self._database.run(excess) and (count := self._database.run(drop, write=True)):
            dropped += count
        return dropped

    def size_bytes(self) -> int:
        return self._read(queries.used_bytes)

    def close(self) -> None:
        self._database.close()

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self._collect_if_due()
        if self._adopt:
            self._adopt(self)
        return self._database.run(work)

    def _collect_if_due(self) -> None:
        is_due = self._clock() - self._collected_at > COLLECT_SECONDS or self._added >= COLLECT_CALLS
        if is_due:
            with suppress(KeyholeError):  # a disk that cannot be written can still be read
                self.collect()
                if self._adopt:
                    self._adopt(self)
