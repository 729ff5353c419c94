"""SQL that adds calls to a tenant's log and deletes them, with the totals of their sessions and of the log.

Each write locks the row of the tenant's log first. So the servers of a tenant write one after the other, and each sees
the calls that its own calls may follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from keyhole.extensions.postgresql.call_reads import (
    CALLS,
    FOLDER,
    SESSIONS,
    decode_call,
    list_addresses,
    texts_of_calls,
)
from keyhole.extensions.postgresql.database import Connection
from keyhole.extensions.postgresql.marks import read_mark
from keyhole.store.calls.base import (
    MAX_CALLS,
    MAX_LOG_BYTES,
    CallMatch,
    CallRecord,
    CallSummary,
    match_calls,
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
    Related,
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
    site_of,
    sites_of,
    summary_values,
    text_values,
    to_storable,
    words_of,
)
from keyhole.store.filters import Scope

CALL_BYTES: Final = 1_600
"""Bytes of a call beside its body and its words: its row, nine index entries and its stages. With it, the counted bytes
are about those of the tables: `python -m benchmarks.look.call_log --postgresql` prints both."""
TEXT_BYTES: Final = 400
"""Bytes of a text of a call: its row and two index entries."""
DROPPED_AT_ONCE: Final = 200
"""Calls dropped in one transaction, during which no other server can add a call of the tenant."""
QUICK_COMMIT: Final = "SET LOCAL synchronous_commit = off; "
"""Setting of a transaction that writes to the log: its commit does not wait for the disk. A crash may lose the calls of
its last second, but damages nothing."""

_COLUMNS: Final = (*CALL_COLUMNS, "tenant", "request", "size", "sites", "words", "body")
_ADD_CALL: Final = f"""
INSERT INTO keyhole.calls ({", ".join(_COLUMNS)}) VALUES ({", ".join(["%s"] * (len(_COLUMNS) - 1))}, %b) RETURNING key
"""
_ADD_TEXTS: Final = f"""
INSERT INTO keyhole.call_texts (call, tenant, number, {", ".join(TEXT_COLUMNS)}, site)
VALUES ({", ".join(["%s"] * (len(TEXT_COLUMNS) + 4))})
"""
_ADD_STAGES: Final = "INSERT INTO keyhole.call_stages (call, tenant, name, seconds) VALUES (%s, %s, %s, %s)"
_SUMMED: Final = ("calls", "errors", "misses", "tokens", "result_bytes", "read_chars", "shown_chars")
_ADD_TO_SESSION: Final = f"""
INSERT INTO keyhole.call_sessions AS s (tenant, {SESSIONS}) VALUES (%s, {", ".join(["%s"] * len(SESSION_COLUMNS))})
ON CONFLICT (tenant, id) DO UPDATE SET
    client = CASE WHEN excluded.last_at >= s.last_at THEN excluded.client ELSE s.client END,
    first_at = least(s.first_at, excluded.first_at), last_at = greatest(s.last_at, excluded.last_at),
    {", ".join(f"{name} = s.{name} + excluded.{name}" for name in _SUMMED)}
"""
_CREATE_LOG: Final = "INSERT INTO keyhole.call_logs (tenant, changes) VALUES (%s, %s) ON CONFLICT DO NOTHING"
_CHANGE: Final = """
UPDATE keyhole.call_logs SET changes = changes + 1, calls = calls + %s, bytes = bytes + %s WHERE tenant = %s
"""
_SESSION_OF_RUN: Final = "SELECT session FROM keyhole.calls WHERE tenant = %s AND run = %s AND run <> '' LIMIT 1"
_RECENT: Final = f"""
SELECT id, client, {FOLDER}, first_at, last_at, ARRAY(
    SELECT DISTINCT origin || ':' || run FROM keyhole.calls c WHERE c.tenant = s.tenant AND c.session = s.id
) AS runs
FROM keyhole.call_sessions s WHERE tenant = %s AND last_at >= %s ORDER BY last_at DESC, id DESC LIMIT %s
"""
_EARLIER: Final = f"""
SELECT {CALLS}, request, key FROM keyhole.calls WHERE tenant = %s AND session = %s
ORDER BY started_at DESC, id DESC LIMIT %s
"""
_KEPT_OUTPUT: Final = f"""
SELECT {CALLS}, request, key FROM keyhole.calls
WHERE tenant = %s AND key IN (SELECT call FROM keyhole.call_texts WHERE tenant = %s AND text_id = %s)
    AND session <> %s AND origin = ANY(%s)
ORDER BY started_at DESC, id DESC LIMIT 1
"""
_ADD_MISS: Final = """
UPDATE keyhole.call_sessions SET misses = misses + 1
WHERE tenant = %s AND id = (SELECT session FROM keyhole.calls WHERE tenant = %s AND id = %s)
"""
_SUM_SESSIONS: Final = f"""
INSERT INTO keyhole.call_sessions (tenant, {SESSIONS})
SELECT tenant, session, (array_agg(client ORDER BY started_at DESC, id DESC))[1], min(started_at), max(started_at),
    count(*), count(*) FILTER (WHERE outcome <> 'ok'), count(*) FILTER (WHERE miss <> ''),
    sum(tokens), sum(result_bytes), sum(read_chars), sum(shown_chars)
FROM keyhole.calls WHERE tenant = %s AND session = ANY(%s) GROUP BY tenant, session
"""
_FIND_OLDEST: Final = """
SELECT key FROM (
    SELECT key, started_at, row_number() OVER older - 1 AS calls, sum(size) OVER older - size AS bytes
    FROM (
        SELECT key, started_at, id, size FROM keyhole.calls WHERE tenant = %s ORDER BY started_at, id LIMIT %s
    ) AS oldest WINDOW older AS (ORDER BY started_at, id)
) AS numbered WHERE started_at < %s OR calls < %s OR bytes < %s
"""
"""Finds the oldest calls that have expired or exceed the bounds. `calls` and `bytes`: the number and size of all calls
older than the row's."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most calls of a tenant's log, and the most bytes."""

    max_calls: int = MAX_CALLS
    max_bytes: int = MAX_LOG_BYTES


LOG_BOUNDS: Final = Bounds()


def add_call(connection: Connection, tenant: UUID, record: CallRecord, now: float) -> None:
    """Add a call, unless it is known, and determine what it follows.

    A new log counts its changes from `now`, so that their number grows even when the tables were dropped.
    """
    connection.execute(_CREATE_LOG, [tenant, int(now * 1_000)])
    _lock_log(connection, tenant)
    if record.summary.started_at < read_mark(connection, tenant).before:
        return
    id = to_storable(record.summary.id)
    if connection.execute("SELECT FROM keyhole.calls WHERE tenant = %s AND id = %s", [tenant, id]).rowcount:
        return
    record = in_session(record, _find_runs(connection, tenant, record.summary))
    related = relate(record, _find_earlier(connection, tenant, record))
    size = _insert(connection, tenant, related.record)
    _add_to_session(connection, tenant, related)
    connection.execute(_CHANGE, [1, size, tenant])


def _insert(connection: Connection, tenant: UUID, record: CallRecord) -> int:
    """Insert a call with its texts and stages; return the bytes that it takes."""
    body, words, sites = pack_body(record), to_storable(words_of(record)), to_storable(sites_of(record))
    size = CALL_BYTES + len(body) + len(words.encode()) + TEXT_BYTES * len(record.texts)
    values = [*summary_values(record.summary), tenant, request_of(record), size, sites, words, body]
    row = connection.execute(_ADD_CALL, values).fetchone()
    key = row["key"] if row else 0
    texts = [
        [key, tenant, number, *text_values(text), to_storable(site_of(text.url))]
        for number, text in enumerate(record.texts)
    ]
    stages = [[key, tenant, to_storable(name), seconds] for name, seconds in dict(record.stages).items()]
    with connection.cursor() as cursor:
        cursor.executemany(_ADD_TEXTS, texts)
        cursor.executemany(_ADD_STAGES, stages)
    return size


def _add_to_session(connection: Connection, tenant: UUID, related: Related) -> None:
    """Add a call to the totals of its session, and record the miss of the call that it follows."""
    call = related.record.summary
    total = sum_session([call])
    values = [getattr(total, name) for name in SESSION_COLUMNS]
    values = [to_storable(value) if isinstance(value, str) else value for value in values]
    connection.execute(_ADD_TO_SESSION, [tenant, *values])
    if related.miss:
        follows = to_storable(call.follows)
        sql = "UPDATE keyhole.calls SET miss = %s WHERE tenant = %s AND id = %s"
        connection.execute(sql, [related.miss, tenant, follows])
        connection.execute(_ADD_MISS, [tenant, tenant, follows])


def _find_runs(connection: Connection, tenant: UUID, call: CallSummary) -> KnownRuns:
    """Return the sessions that a call may join."""
    if row := connection.execute(_SESSION_OF_RUN, [tenant, to_storable(call.session)]).fetchone():
        return KnownRuns(row["session"])
    if not call.folder:
        return KnownRuns()
    rows = connection.execute(_RECENT, [tenant, call.started_at - PAUSE_SECONDS, MAX_RECENT])
    return KnownRuns("", tuple(OpenSession(**{**row, "runs": frozenset(row["runs"])}) for row in rows))


def _find_earlier(connection: Connection, tenant: UUID, record: CallRecord) -> list[Earlier]:
    """Return the calls that a call may follow, in the order that `relate` expects."""
    session = to_storable(record.summary.session)
    rows = connection.execute(_EARLIER, [tenant, session, EARLIER_CALLS]).fetchall()
    if id := output_read_by(record):
        values = [tenant, tenant, to_storable(id), session, list(OUTPUTS)]
        rows += connection.execute(_KEPT_OUTPUT, values).fetchall()
    texts = texts_of_calls(connection, tenant, [row["key"] for row in rows])
    return [Earlier(decode_call(row), row["request"], texts[row["key"]]) for row in rows]


def remove_calls(connection: Connection, tenant: UUID, ids: Sequence[str]) -> int:
    """Delete calls; return the number of those that were known."""
    _lock_log(connection, tenant)
    return _drop(connection, tenant, "id = ANY(%s)", [list(map(to_storable, ids))])


def match(connection: Connection, tenant: UUID, scope: Scope) -> CallMatch:
    """Return the calls in a scope. No server can add a call of the tenant until the transaction ends."""
    _lock_log(connection, tenant)
    return match_calls(list_addresses(connection, tenant), scope)


def remove_session(connection: Connection, tenant: UUID, id: str) -> int:
    """Delete all calls of a session; return their number."""
    _lock_log(connection, tenant)
    return _drop(connection, tenant, "session = %s", [to_storable(id)])


def drop_oldest(connection: Connection, tenant: UUID, now: float, ttl: float, bounds: Bounds) -> int:
    """Drop up to DROPPED_AT_ONCE of the calls that have expired or exceed the bounds; return their number."""
    log = _lock_log(connection, tenant)
    excess_calls, excess_bytes = log["calls"] - bounds.max_calls, log["bytes"] - bounds.max_bytes
    values = [tenant, DROPPED_AT_ONCE, now - ttl, excess_calls, excess_bytes]
    rows = connection.execute(_FIND_OLDEST, values).fetchall()
    return _drop(connection, tenant, "key = ANY(%s)", [[row["key"] for row in rows]]) if rows else 0


def _drop(connection: Connection, tenant: UUID, condition: str, values: Sequence[Any]) -> int:
    """Delete the calls that a condition names, and sum up their sessions again; return their number."""
    sql = f"DELETE FROM keyhole.calls WHERE tenant = %s AND {condition} RETURNING session, size"
    rows = connection.execute(sql, [tenant, *values]).fetchall()
    if rows:
        sessions = sorted({row["session"] for row in rows})
        connection.execute("DELETE FROM keyhole.call_sessions WHERE tenant = %s AND id = ANY(%s)", [tenant, sessions])
        connection.execute(_SUM_SESSIONS, [tenant, sessions])
        connection.execute(_CHANGE, [-len(rows), -sum(row["size"] for row in rows), tenant])
    return len(rows)


def _lock_log(connection: Connection, tenant: UUID) -> Mapping[str, int]:
    """Lock the row of a tenant's log until the transaction ends, and return it, or zeros if there is no row."""
    sql = "SELECT calls, bytes FROM keyhole.call_logs WHERE tenant = %s FOR UPDATE"
    return connection.execute(sql, [tenant]).fetchone() or {"calls": 0, "bytes": 0}
