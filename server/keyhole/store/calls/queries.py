"""Read and change a log of calls in SQLite. Lists read an index in their order, and stop at their limit."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from keyhole.store.calls.base import (
    ASKING,
    HOUR,
    MAX_SOURCES,
    OK,
    PLAIN_CHARS,
    CallAddresses,
    CallFilters,
    CallPlace,
    CallRecord,
    CallSummary,
    Figures,
    Hour,
    ReadText,
    SessionSummary,
    sum_session,
)
from keyhole.store.calls.relations import (
    EARLIER_CALLS,
    MAX_RECENT,
    OUTPUTS,
    PAUSE_SECONDS,
    Earlier,
    KnownRuns,
    OpenSession,
    in_session,
    output_read_by,
    relate,
    request_of,
)
from keyhole.store.calls.rows import (
    CALL_COLUMNS,
    SESSION_COLUMNS,
    TEXT_COLUMNS,
    pack_body,
    session_of,
    site_of,
    sites_of,
    sql_conditions,
    summary_of,
    summary_values,
    text_of,
    text_values,
    to_storable,
    unpack_record,
    words_of,
)

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


# Figures: the totals of many calls.

_HOURS: Final = f"""SELECT CAST(started_at / {HOUR} AS INTEGER) * {HOUR}, count(*), sum(outcome != '{OK}'),
    sum(miss != ''), sum(read_chars), sum(shown_chars), sum(tokens)
FROM calls WHERE started_at >= ? GROUP BY 1 ORDER BY 1"""  # noqa: S608 - constants
_PLAIN: Final = f"""SELECT CAST(started / {HOUR} AS INTEGER) * {HOUR}, sum(chars) FROM (
    SELECT min(started_at) AS started, min(max(chars), {PLAIN_CHARS}) AS chars FROM texts JOIN calls USING (key)
    WHERE started_at >= ? AND text_id != '' GROUP BY session, text_id
) GROUP BY 1"""  # noqa: S608 - constants
_ASKED: Final = f"""SELECT count(*), coalesce(sum(miss = ''), 0) FROM calls
WHERE started_at >= ? AND outcome = '{OK}' AND tool IN ({", ".join(f"'{tool}'" for tool in sorted(ASKING))})"""  # noqa: S608
_STAGES: Final = """SELECT name, sum(stages.seconds), count(*) FROM stages JOIN calls USING (key)
WHERE started_at >= ? GROUP BY name ORDER BY 2 DESC, 1"""
_SOURCES: Final = """SELECT site, sum(chars), count(DISTINCT texts.key) FROM texts JOIN calls USING (key)
WHERE started_at >= ? AND site != '' AND text_id != '' GROUP BY site ORDER BY 2 DESC, 1 LIMIT ?"""


def sum_figures(connection: sqlite3.Connection, since: float) -> Figures:
    """Return the figures of the calls since a time."""
    plain = dict(connection.execute(_PLAIN, [since]))
    hours = tuple(Hour(*(*row, plain.get(row[0], 0))) for row in connection.execute(_HOURS, [since]))
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


# Changes: calls are added and deleted with the totals of their sessions.

DROPPED_AT_ONCE: Final = 200
"""Calls dropped in one transaction: some 20 ms, during which no other process can add a call."""
PAGES_FREED: Final = 256
"""Free pages given back to the disk by one transaction that drops calls: 1 MB."""

_TABLES: Final = ("calls", "bodies", "searchable", "texts", "stages")
_SUMMED: Final = ("calls", "errors", "misses", "tokens", "result_bytes", "read_chars", "shown_chars")
_ADD_TO_SESSION: Final = f"""INSERT INTO sessions VALUES ({", ".join("?" * len(SESSION_COLUMNS))})
ON CONFLICT (id) DO UPDATE SET
    client = CASE WHEN excluded.last_at >= last_at THEN excluded.client ELSE client END,
    first_at = min(first_at, excluded.first_at),
    last_at = max(last_at, excluded.last_at),
    {", ".join(f"{name} = {name} + excluded.{name}" for name in _SUMMED)}"""  # noqa: S608 - constants
_ADD_MISS: Final = "UPDATE sessions SET misses = misses + 1 WHERE id = (SELECT session FROM calls WHERE id = ?)"
_ADD_CALL: Final = (
    f"INSERT INTO calls ({', '.join(CALL_COLUMNS)}, request) VALUES ({', '.join('?' * (len(CALL_COLUMNS) + 1))})"  # noqa: S608
)


@dataclass(frozen=True, slots=True)
class LogBounds:
    """The most calls of a log, and the most bytes of its used pages."""

    max_calls: int
    max_bytes: int


def add_call(connection: sqlite3.Connection, record: CallRecord) -> None:
    """Add a call, unless it is known, with the earlier call that it follows."""
    if connection.execute("SELECT 1 FROM calls WHERE id = ?", [to_storable(record.summary.id)]).fetchone():
        return
    record = in_session(record, _find_runs(connection, record.summary))
    related = relate(record, _earlier(connection, record))
    call = related.record.summary
    key = connection.execute(_ADD_CALL, [*summary_values(call), request_of(record)]).lastrowid
    connection.execute("INSERT INTO bodies VALUES (?, ?)", [key, pack_body(record)])
    words = to_storable(words_of(record))
    connection.execute("INSERT INTO searchable VALUES (?, ?, ?)", [key, to_storable(sites_of(record)), words])
    connection.executemany(
        "INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            [key, number, *text_values(text), to_storable(site_of(text.url))]
            for number, text in enumerate(related.record.texts)
        ],
    )
    stages = [(key, name, seconds) for name, seconds in dict(record.stages).items()]
    connection.executemany("INSERT INTO stages VALUES (?, ?, ?)", stages)
    total = sum_session([call])
    values = (getattr(total, name) for name in SESSION_COLUMNS)
    connection.execute(_ADD_TO_SESSION, [to_storable(each) if isinstance(each, str) else each for each in values])
    if related.miss:
        connection.execute("UPDATE calls SET miss = ? WHERE id = ?", [related.miss, call.follows])
        connection.execute(_ADD_MISS, [call.follows])
    connection.execute("UPDATE state SET changes = changes + 1, calls = calls + 1")


_SESSION_OF_RUN: Final = "SELECT session FROM calls WHERE run = ? AND run != '' LIMIT 1"
_RECENT: Final = f"""SELECT id, client, {FOLDER}, first_at, last_at,
    (SELECT group_concat(DISTINCT origin || ':' || run) FROM calls INDEXED BY calls_by_session
    WHERE session = sessions.id)
FROM sessions WHERE last_at >= ? ORDER BY last_at DESC, id DESC LIMIT ?"""  # noqa: S608 - constants


def _find_runs(connection: sqlite3.Connection, call: CallSummary) -> KnownRuns:
    """Return the sessions that a call may join."""
    if row := connection.execute(_SESSION_OF_RUN, [to_storable(call.session)]).fetchone():
        return KnownRuns(row[0])
    if not call.folder:
        return KnownRuns()
    rows = connection.execute(_RECENT, [call.started_at - PAUSE_SECONDS, MAX_RECENT])
    sessions = (
        OpenSession(id, client, folder, first_at, last_at, frozenset(runs.split(",")))
        for id, client, folder, first_at, last_at, runs in rows
    )
    return KnownRuns("", tuple(sessions))


_OF_SESSION: Final = f"""SELECT {CALLS}, request, key FROM calls INDEXED BY calls_by_session WHERE session = ?
ORDER BY started_at DESC, id DESC LIMIT ?"""  # noqa: S608 - constants
_OF_OUTPUT: Final = f"""SELECT {CALLS}, request, key FROM calls
WHERE key IN (SELECT key FROM texts WHERE text_id = ?) AND session != ? AND origin IN {OUTPUTS}
ORDER BY started_at DESC, id DESC LIMIT 1"""  # noqa: S608 - constants


def _earlier(connection: sqlite3.Connection, record: CallRecord) -> list[Earlier]:
    """Return the calls that a call may follow, in the order that `relate` expects."""
    session = to_storable(record.summary.session)
    rows = connection.execute(_OF_SESSION, [session, EARLIER_CALLS]).fetchall()
    if id := output_read_by(record):
        rows += connection.execute(_OF_OUTPUT, [to_storable(id), session])
    texts = texts_of_calls(connection, [row[-1] for row in rows])
    return [Earlier(summary_of(row[:-2]), row[-2], texts[row[-1]]) for row in rows]


def remove_calls(connection: sqlite3.Connection, ids: Sequence[str]) -> int:
    """Delete calls; return the number of those that were known."""
    places = ", ".join("?" * len(ids))
    found = connection.execute(f"SELECT key FROM calls WHERE id IN ({places})", list(map(to_storable, ids)))  # noqa: S608
    return _drop(connection, found)


def remove_session(connection: sqlite3.Connection, id: str) -> int:
    """Delete all calls of a session; return their number."""
    return _drop(connection, connection.execute("SELECT key FROM calls WHERE session = ?", [to_storable(id)]))


def count_excess(connection: sqlite3.Connection, bounds: LogBounds, expired_before: float) -> int:
    """Return how many of the oldest calls are to be dropped now, at most `DROPPED_AT_ONCE`."""
    (calls,) = connection.execute("SELECT calls FROM state").fetchone()
    excess = max(calls - bounds.max_calls, 0)
    if used := used_bytes(connection):
        excess_bytes = max(used - bounds.max_bytes, 0)
        excess = max(excess, -(-calls * excess_bytes // used))
    sql = "SELECT count(*) FROM (SELECT 1 FROM calls WHERE started_at < ? ORDER BY started_at LIMIT ?)"
    (expired,) = connection.execute(sql, [expired_before, DROPPED_AT_ONCE]).fetchone()
    return int(min(max(excess, expired), DROPPED_AT_ONCE))


def drop_oldest(connection: sqlite3.Connection, bounds: LogBounds, expired_before: float) -> int:
    """Drop the oldest calls that have expired or exceed the bounds; return their number."""
    count = count_excess(connection, bounds, expired_before)
    dropped = _drop(connection, connection.execute("SELECT key FROM calls ORDER BY started_at, id LIMIT ?", [count]))
    for _ in range(PAGES_FREED if dropped else 0):
        # One page at a time: Python's sqlite3 runs a single step of a statement without columns, which is one page.
        connection.execute("PRAGMA incremental_vacuum(1)")
    return dropped


def used_bytes(connection: sqlite3.Connection) -> int:
    """Return the bytes of the file's used pages."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _drop(connection: sqlite3.Connection, found: sqlite3.Cursor) -> int:
    """Delete the calls with the keys that were found, and sum up their sessions again; return their number."""
    keys = found.fetchall()
    if not keys:
        return 0
    places = ", ".join("?" * len(keys))
    flat = [key for (key,) in keys]
    sessions = connection.execute(f"SELECT DISTINCT session FROM calls WHERE key IN ({places})", flat).fetchall()  # noqa: S608
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table} WHERE key IN ({places})", flat)  # noqa: S608 - constants
    _sum_again(connection, [session for (session,) in sessions])
    connection.execute("UPDATE state SET changes = changes + 1, calls = calls - ?", [len(flat)])
    return len(flat)


_SUM_SESSION: Final = """INSERT INTO sessions
SELECT session, (SELECT client FROM calls WHERE session = :id ORDER BY started_at DESC, id DESC LIMIT 1),
    min(started_at), max(started_at), count(*), sum(outcome != 'ok'), sum(miss != ''),
    sum(tokens), sum(result_bytes), sum(read_chars), sum(shown_chars)
FROM calls WHERE session = :id GROUP BY session"""


def _sum_again(connection: sqlite3.Connection, sessions: Sequence[str]) -> None:
    for id in sessions:
        connection.execute("DELETE FROM sessions WHERE id = ?", [id])
        connection.execute(_SUM_SESSION, {"id": id})
