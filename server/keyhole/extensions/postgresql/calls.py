"""The log of calls of one tenant in PostgreSQL, shared by any number of servers.

Most methods are one short transaction. The SQL is in call_tables.py.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar
from uuid import UUID

from keyhole.errors import KeyholeError
from keyhole.extensions.postgresql import call_tables
from keyhole.extensions.postgresql.call_tables import LOG_BOUNDS, QUICK_COMMIT, LogBounds
from keyhole.extensions.postgresql.database import PostgresConnection, PostgresDatabase
from keyhole.extensions.postgresql.sweep import FORGET_SECONDS, sweep, sweep_calls
from keyhole.store.base import Clock, Limits
from keyhole.store.calls.base import (
    NO_CALL_FILTERS,
    CallFilters,
    CallMatch,
    CallPlace,
    CallRecord,
    CallSummary,
    Figures,
    SessionSummary,
)
from keyhole.store.filters import Scope

T = TypeVar("T")

COLLECT_SECONDS: Final = 3_600.0
"""Seconds after which a log drops its expired calls again, with the expired artifacts, at its next use."""
COLLECT_CALLS: Final = 64
"""Added calls after which the bounds are applied again."""
FIGURE_SECONDS: Final = 10.0
"""Time limit of figures, which read all calls since a time."""


class PostgresCallLog:
    """Keeps the calls of one tenant. All tenants of a server share the connections of its database.

    `limits`: the limits of the tenant's artifacts. Calls expire after the same time.
    """

    def __init__(
        self, database: PostgresDatabase, tenant: UUID, clock: Clock, limits: Limits, bounds: LogBounds = LOG_BOUNDS
    ) -> None:
        self._database = database
        self._tenant = tenant
        self._clock = clock
        self._limits = limits
        self._bounds = bounds
        self._collected_at = 0.0
        self._added = 0

    def add(self, record: CallRecord) -> None:
        self._write(lambda connection: call_tables.add_call(connection, self._tenant, record, self._clock()))
        self._added += 1
        self._collect_if_due()

    def get(self, id: str) -> CallRecord | None:
        return self._read(lambda connection: call_tables.find_call(connection, self._tenant, id))

    def calls(
        self, limit: int, filters: CallFilters = NO_CALL_FILTERS, after: CallPlace | None = None
    ) -> tuple[CallSummary, ...]:
        return self._read(lambda connection: call_tables.list_calls(connection, self._tenant, limit, filters, after))

    def sessions(
        self, limit: int, filters: CallFilters = NO_CALL_FILTERS, after: CallPlace | None = None
    ) -> tuple[SessionSummary, ...]:
        return self._read(lambda connection: call_tables.list_sessions(connection, self._tenant, limit, filters, after))

    def figures(self, since: float) -> Figures:
        self._collect_if_due()
        with self._database.transaction(self._tenant, seconds=FIGURE_SECONDS) as connection:
            return call_tables.sum_figures(connection, self._tenant, since)

    def choices(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        return self._read(lambda connection: call_tables.list_choices(connection, self._tenant))

    def latest(self) -> int:
        return self._read_number("changes")

    def remove_call(self, *ids: str) -> int:
        return self._write(lambda connection: call_tables.remove_calls(connection, self._tenant, ids))

    def match(self, scope: Scope) -> CallMatch:
        with self._database.transaction(self._tenant, seconds=FORGET_SECONDS) as connection:
            return call_tables.match_log(connection, self._tenant, scope)

    def erase(self) -> None:
        """Do nothing: PostgreSQL's vacuum reuses the room of deleted rows, and its administrator runs it."""

    def remove_session(self, id: str) -> int:
        return self._write(lambda connection: call_tables.remove_session(connection, self._tenant, id))

    def collect(self) -> int:
        self._added = 0
        return sweep_calls(self._database, self._tenant, self._clock(), self._limits.ttl, self._bounds)

    def size_bytes(self) -> int:
        return self._read_number("bytes")

    def close(self) -> None:
        """Do nothing: SharedStores closes the connections, which all tenants share."""

    def _read(self, work: Callable[[PostgresConnection], T]) -> T:
        self._collect_if_due()
        with self._database.transaction(self._tenant) as connection:
            return work(connection)

    def _read_number(self, column: str) -> int:
        sql = f"SELECT {column} AS number FROM keyhole.call_logs WHERE tenant = %s"
        row = self._read(lambda connection: connection.execute(sql, [self._tenant]).fetchone())
        return int(row["number"]) if row else 0

    def _write(self, work: Callable[[PostgresConnection], T]) -> T:
        with self._database.transaction(self._tenant, settings=QUICK_COMMIT) as connection:
            return work(connection)

    def _collect_if_due(self) -> None:
        now = self._clock()
        is_due = abs(now - self._collected_at) > COLLECT_SECONDS
        with suppress(KeyholeError):  # a later call tries again
            if is_due:
                self._collected_at = now
                # The sweep of artifacts also records that this tenant is to be swept when it is inactive.
                sweep(self._database, self._tenant, now, self._limits)
            if is_due or self._added >= COLLECT_CALLS:
                self.collect()
