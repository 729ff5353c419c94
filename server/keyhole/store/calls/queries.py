"""Read a log of calls in SQLite. Lists read an index in their order, and stop at their limit."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from keyhole.store.calls.base import CallAddresses
from keyhole.store.calls.record import (
    ASKING,
    HOUR,
    MAX_SOURCES,
    OK,
    CallFilters,
    CallPlace,
    CallRecord,
    CallSummary,
    Figures,
    Hour,
    ReadText,
    SessionSummary,
)
from keyhole.store.calls.rows import (
    CALL_COLUMNS,
    SESSION_COLUMNS,
    TEXT_COLUMNS,
    session_of,
    summary_of,
    text_of,
    to_storable,
    unpack_record,
)
from keyhole.store.calls.search_terms import sql_conditions

CALLS: Final = ", ".join(f"calls.{name}" for name in CALL_COLUMNS)
FOLDER: Final = """coalesce((
    SELECT folder FROM calls INDEXED BY calls_by_session WHERE session = sessions.id ORDER BY started_at, id LIMIT 1
), '')"""
SESSIONS: Final = f"""{", ".join(SESSION_COLUMNS)}, {FOLDER}, coalesce((
    SELECT CASE WHEN query != '' THEN query ELSE target END FROM calls INDEXED BY calls_by_session
    WHERE session = sessions.id AND (query != '' OR target != '' AND tool != 'read_artifact')
    ORDER BY started_at, calls.id LIMIT 1
), '')"""  # noqa: S608 - constants
_CONTAINS: Final = "(SELECT instr({column}, ?) FROM searchable WHERE searchable.key = calls.key)"
_READS: Final = "calls.key IN (SELECT key FROM texts WHERE text_id = ?)"
_NEWEST_FIRST: Final = "ORDER BY calls.started_at DESC, calls.id DESC"


def find_call(connection: sqlite3.Connection, id: str) -> CallRecord | None:
    """Return a call, None if it is unknown."""
    sql = f"SELECT {CALLS}, data, key FROM calls JOIN bodies USING (key) WHERE id = ?"  # noqa: S608 - constants
    row = connection.execute(sql, [to_storable(id)]).fetchone()
    if row is None:
        return None
    *summary, data, key = row
    return unpack_record(summary_of(summary), data, texts_of_calls(connection, [key])[key])


def texts_of_calls(connection: sqlite3.Connection, keys: Sequence[int]) -> dict[int, list[ReadText]]:
    """Return the texts of each of the calls with these keys."""
    places = ", ".join("?" * len(keys))
    sql = f"SELECT key, {', '.join(TEXT_COLUMNS)} FROM texts WHERE key IN ({places}) ORDER BY key, number"  # noqa: S608
    texts: dict[int, list[ReadText]] = {key: [] for key in keys}
    for key, *row in connection.execute(sql, list(keys)):
        texts[key].append(text_of(row))
    return texts


def list_calls(
    connection: sqlite3.Connection, limit: int, filters: CallFilters, after: CallPlace | None
) -> tuple[CallSummary, ...]:
    """Return calls, newest first."""
    where, values = calls_where(filters, after)
    sql = f"SELECT {CALLS} FROM calls {where} {_NEWEST_FIRST} LIMIT ?"  # noqa: S608 - constants
    return tuple(map(summary_of, connection.execute(sql, [*values, limit])))


def calls_where(filters: CallFilters, after: CallPlace | None) -> tuple[str, list[Any]]:
    """Return the WHERE clause of a list of calls, and its values."""
    conditions, values = sql_conditions(filters, "?", _CONTAINS, _READS)
    if after is not None:
        conditions, values = [*conditions, "(calls.started_at, calls.id) < (?, ?)"], [*values, *after]
    return (f"WHERE {' AND '.join(conditions)}" if conditions else ""), values


def list_sessions(
    connection: sqlite3.Connection, limit: int, filters: CallFilters, after: CallPlace | None
) -> tuple[SessionSummary, ...]:
    """Return the sessions with a call that the filters allow, the one with the latest call first."""
    where, values = sessions_where(filters, after)
    sql = f"SELECT {SESSIONS} FROM sessions {where} ORDER BY last_at DESC, id DESC LIMIT ?"  # noqa: S608 - constants
    return tuple(map(session_of, connection.execute(sql, [*values, limit])))


def sessions_where(filters: CallFilters, after: CallPlace | None) -> tuple[str, list[Any]]:
    """Return the WHERE clause of a list of sessions, and its values."""
    conditions, values = sql_conditions(filters, "?", _CONTAINS, _READS)
    if conditions:
        every = " AND ".join(["calls.session = sessions.id", *conditions])
        conditions = [f"EXISTS (SELECT 1 FROM calls INDEXED BY calls_by_session WHERE {every})"]  # noqa: S608
    if filters.session:
        conditions, values = [*conditions, "sessions.id = ?"], [*values, to_storable(filters.session)]
    if after is not None:
        conditions, values = [*conditions, "(last_at, id) < (?, ?)"], [*values, *after]
    return (f"WHERE {' AND '.join(conditions)}" if conditions else ""), values


def list_choices(connection: sqlite3.Connection) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the clients, tools and error codes that occur."""
    clients, tools, outcomes = (
        tuple(value for (value,) in connection.execute(f"SELECT DISTINCT {name} FROM calls ORDER BY {name}"))  # noqa: S608
        for name in ("client", "tool", "outcome")
    )
    return clients, tools, tuple(outcome for outcome in outcomes if outcome != OK)


def list_addresses(connection: sqlite3.Connection) -> list[CallAddresses]:
    """Return the facts of every call that a scope compares."""
    texts: dict[int, list[tuple[str, str]]] = {}
    for key, id, url in connection.execute("SELECT key, text_id, url FROM texts"):
        texts.setdefault(key, []).append((id, url))
    rows = connection.execute("SELECT key, id, client, started_at, target FROM calls")
    return [
        CallAddresses(
            id, client, at, [target, *(url for _, url in texts.get(key, ()))], [id for id, _ in texts.get(key, ())]
        )
        for key, id, client, at, target in rows
    ]


# Figures.

_HOURS: Final = f"""SELECT CAST(started_at / {HOUR} AS INTEGER) * {HOUR}, count(*), sum(outcome != '{OK}'),
    sum(miss != ''), sum(read_chars), sum(shown_chars), sum(tokens)
FROM calls WHERE started_at >= ? GROUP BY 1 ORDER BY 1"""  # noqa: S608 - constants
_ASKED: Final = f"""SELECT count(*), coalesce(sum(miss = ''), 0) FROM calls
WHERE started_at >= ? AND outcome = '{OK}' AND tool IN ({", ".join(f"'{tool}'" for tool in sorted(ASKING))})"""  # noqa: S608
_STAGES: Final = """SELECT name, sum(stages.seconds), count(*) FROM stages JOIN calls USING (key)
WHERE started_at >= ? GROUP BY name ORDER BY 2 DESC, 1"""
_SOURCES: Final = """SELECT site, sum(chars), count(DISTINCT texts.key) FROM texts JOIN calls USING (key)
WHERE started_at >= ? AND site != '' AND text_id != '' GROUP BY site ORDER BY 2 DESC, 1 LIMIT ?"""


def sum_figures(connection: sqlite3.Connection, since: float) -> Figures:
    """Return the figures of the calls since a time."""
    hours = tuple(Hour(*row) for row in connection.execute(_HOURS, [since]))
    asked, sufficed = connection.execute(_ASKED, [since]).fetchone()
    outcomes, tools, clients, misses = (
        _count_by(connection, name, since) for name in ("outcome", "tool", "client", "miss")
    )
    stages = tuple(connection.execute(_STAGES, [since]))
    sources = tuple(connection.execute(_SOURCES, [since, MAX_SOURCES]))
    total = sum(hour.calls for hour in hours)
    return Figures(since, total, asked, sufficed, hours, outcomes, stages, sources, tools, clients, misses)


def _count_by(connection: sqlite3.Connection, name: str, since: float) -> tuple[tuple[str, int], ...]:
    sql = f"SELECT {name}, count(*) FROM calls WHERE started_at >= ? GROUP BY 1 ORDER BY 2 DESC, 1"  # noqa: S608
    return tuple(connection.execute(sql, [since]))
