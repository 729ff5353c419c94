"""The log of calls in an SQLite file beside the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from keyhole.errors import KeyholeError
from keyhole.store.base import Clock
from keyhole.store.calls import queries, writes
from keyhole.store.calls.base import MAX_CALLS, MAX_LOG_BYTES, CallMatch, match_calls
from keyhole.store.calls.record import (
    NO_CALL_FILTERS,
    CallFilters,
    CallPlace,
    CallRecord,
    CallSummary,
    Figures,
    SessionSummary,
)
from keyhole.store.calls.relations import output_read_by
from keyhole.store.calls.schema import open_log
from keyhole.store.forget_mark import open_marks
from keyhole.store.scope import Scope
from keyhole.store.sqlite.file import open_database, rewrite

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
        self._bounds = writes.Bounds(max_calls, max_bytes)
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
            writes.add(connection, record)

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
        return self._database.run(lambda connection: writes.remove_calls(connection, ids), write=True)

    def match(self, scope: Scope) -> CallMatch:
        if self._adopt:
            self._adopt(self)
        # Take the write lock, to wait for transactions that have not seen the mark.
        return self._database.run(lambda connection: match_calls(queries.list_addresses(connection), scope), write=True)

    def erase(self) -> None:
        self._database.run(rewrite, write=None)

    def remove_session(self, id: str) -> int:
        return self._database.run(lambda connection: writes.remove_session(connection, id), write=True)

    def collect(self) -> int:
        self._collected_at, self._added, dropped = self._clock(), 0, 0
        expired_before = self._collected_at - self._ttl
        excess = partial(writes.count_excess, bounds=self._bounds, expired_before=expired_before)
        drop = partial(writes.drop_oldest, bounds=self._bounds, expired_before=expired_before)
        # In several transactions, so that other processes can add calls between them.
        while self._database.run(excess) and (count := self._database.run(drop, write=True)):
            dropped += count
        return dropped

    def size_bytes(self) -> int:
        return self._read(writes.used_bytes)

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
