"""The tables of a tenant's log of calls, and the SQL that reads, adds and deletes calls.

Lists read an index in their order, and stop at their limit. Each write locks the row of the tenant's log first. So the
servers of a tenant write one after the other, and each sees the calls that its own calls may follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, LiteralString
from uuid import UUID

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.postgresql.database import PostgresConnection
from keyhole.extensions.postgresql.tenant_tables import read_mark
from keyhole.store.calls.base import (
    ASKING,
    HOUR,
    MAX_CALLS,
    MAX_LOG_BYTES,
    MAX_SOURCES,
    OK,
    PLAIN_CHARS,
    CallAddresses,
    CallFilters,
    CallMatch,
    CallPlace,
    CallRecord,
    CallSummary,
    Figures,
    Hour,
    ReadText,
    SessionSummary,
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
from keyhole.store.filters import Scope

# The tables.

CALL_TABLES: Final = ("call_logs", "calls", "call_texts", "call_stages", "call_sessions")
"""The tables of a log, each with a column for the tenant."""

# Texts are compared and sorted by code points, as SQLite and Python do. `words` and `body` are stored outside of their
# row, so that lists read small rows.
CREATE_CALL_TABLES: Final[LiteralString] = """
CREATE TABLE keyhole.call_logs (
    tenant uuid PRIMARY KEY, changes bigint NOT NULL, calls bigint NOT NULL DEFAULT 0, bytes bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE keyhole.calls (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant uuid NOT NULL, id text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL, client text COLLATE "C" NOT NULL, origin text COLLATE "C" NOT NULL,
    tool text COLLATE "C" NOT NULL, query text COLLATE "C" NOT NULL, target text COLLATE "C" NOT NULL,
    started_at double precision NOT NULL, seconds double precision NOT NULL, outcome text COLLATE "C" NOT NULL,
    budget bigint NOT NULL, result_bytes bigint NOT NULL, tokens bigint NOT NULL, read_chars bigint NOT NULL,
    shown_chars bigint NOT NULL, follows text COLLATE "C" NOT NULL, relation text COLLATE "C" NOT NULL,
    miss text COLLATE "C" NOT NULL, folder text COLLATE "C" NOT NULL,
    run text COLLATE "C" NOT NULL, request text COLLATE "C" NOT NULL, size bigint NOT NULL,
    sites text COLLATE "C" NOT NULL, words text COLLATE "C" NOT NULL, body bytea NOT NULL, UNIQUE (tenant, id)
) WITH (toast_tuple_target = 512);
ALTER TABLE keyhole.calls ALTER body SET STORAGE EXTERNAL;
CREATE INDEX calls_by_time ON keyhole.calls (tenant, started_at, id);
CREATE INDEX calls_by_session ON keyhole.calls (tenant, session, started_at, id);
CREATE INDEX calls_by_run ON keyhole.calls (tenant, run) WHERE run <> '';
CREATE INDEX calls_by_client ON keyhole.calls (tenant, client, started_at, id);
CREATE INDEX calls_by_tool ON keyhole.calls (tenant, tool, started_at, id);
CREATE INDEX calls_by_outcome ON keyhole.calls (tenant, outcome, started_at, id);
CREATE INDEX calls_by_miss ON keyhole.calls (tenant, started_at, id) WHERE miss <> '';
CREATE INDEX calls_by_follows ON keyhole.calls (tenant, follows, started_at, id) WHERE follows <> '';
CREATE TABLE keyhole.call_texts (
    call bigint NOT NULL REFERENCES keyhole.calls ON DELETE CASCADE, number integer NOT NULL, tenant uuid NOT NULL,
    text_id text COLLATE "C" NOT NULL, url text NOT NULL, title text NOT NULL, chars bigint NOT NULL,
    spans text NOT NULL, state text NOT NULL, is_stored integer NOT NULL, site text COLLATE "C" NOT NULL,
    PRIMARY KEY (call, number)
);
CREATE INDEX call_texts_by_id ON keyhole.call_texts (tenant, text_id, call) WHERE text_id <> '';
CREATE TABLE keyhole.call_stages (
    call bigint NOT NULL REFERENCES keyhole.calls ON DELETE CASCADE, name text COLLATE "C" NOT NULL,
    tenant uuid NOT NULL, seconds double precision NOT NULL, PRIMARY KEY (call, name)
);
CREATE TABLE keyhole.call_sessions (
    tenant uuid NOT NULL, id text COLLATE "C" NOT NULL, client text COLLATE "C" NOT NULL,
    first_at double precision NOT NULL, last_at double precision NOT NULL, calls bigint NOT NULL,
    errors bigint NOT NULL, misses bigint NOT NULL, tokens bigint NOT NULL, result_bytes bigint NOT NULL,
    read_chars bigint NOT NULL, shown_chars bigint NOT NULL, PRIMARY KEY (tenant, id)
);
CREATE INDEX call_sessions_by_time ON keyhole.call_sessions (tenant, last_at, id)
"""


# Reads.

CALLS: Final = ", ".join(f"calls.{name}" for name in CALL_COLUMNS)
_READS: Final = """calls.key IN (
    SELECT call FROM keyhole.call_texts t WHERE t.tenant = calls.tenant AND text_id = %s AND text_id <> ''
)"""
_CONTAINS: Final = "strpos({column}, %s) > 0"
SESSIONS: Final = ", ".join(SESSION_COLUMNS)
FOLDER: Final = """coalesce((
    SELECT folder FROM keyhole.calls c WHERE c.tenant = s.tenant AND c.session = s.id
    ORDER BY c.started_at, c.id LIMIT 1
), '') AS folder"""
_ABOUT: Final = """coalesce((
    SELECT CASE WHEN query <> '' THEN query ELSE target END FROM keyhole.calls c
    WHERE c.tenant = s.tenant AND c.session = s.id AND (query <> '' OR target <> '' AND tool <> 'read_artifact')
    ORDER BY c.started_at, c.id LIMIT 1
), '') AS about"""
_TEXTS: Final = f"""
SELECT call, {", ".join(TEXT_COLUMNS)} FROM keyhole.call_texts
WHERE tenant = %s AND call = ANY(%s) ORDER BY call, number
"""


def decode_call(row: Mapping[str, Any]) -> CallSummary:
    """Return the call of a row."""
    return summary_of([row[name] for name in CALL_COLUMNS])


def decode_session(row: Mapping[str, Any]) -> SessionSummary:
    """Return the session of a row."""
    return session_of([row[name] for name in (*SESSION_COLUMNS, "folder", "about")])


def find_call(connection: PostgresConnection, tenant: UUID, id: str) -> CallRecord | None:
    """Return a call, None if it is unknown."""
    sql = f"SELECT {CALLS}, body, key FROM keyhole.calls WHERE tenant = %s AND id = %s"
    row = connection.execute(sql, [tenant, to_storable(id)], binary=True).fetchone()
    if row is None:
        return None
    texts = texts_of_calls(connection, tenant, [row["key"]])[row["key"]]
    try:
        return unpack_record(decode_call(row), bytes(row["body"]), texts)
    except (ValueError, LookupError, TypeError) as error:
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the record of this call is damaged") from error


def texts_of_calls(connection: PostgresConnection, tenant: UUID, keys: Sequence[int]) -> dict[int, list[ReadText]]:
    """Return the texts of each of the calls with these keys."""
    texts: dict[int, list[ReadText]] = {key: [] for key in keys}
    for row in connection.execute(_TEXTS, [tenant, list(keys)]) if keys else ():
        texts[row["call"]].append(text_of([row[name] for name in TEXT_COLUMNS]))
    return texts


def list_calls(
    connection: PostgresConnection, tenant: UUID, limit: int, filters: CallFilters, after: CallPlace | None
) -> tuple[CallSummary, ...]:
    """Return calls, newest first."""
    conditions, values = sql_conditions(filters, "%s", _CONTAINS, _READS)
    if after is not None:
        conditions, values = [*conditions, "(started_at, id) < (%s, %s)"], [*values, after[0], to_storable(after[1])]
    where = "".join(f" AND {each}" for each in conditions)
    sql = f"SELECT {CALLS} FROM keyhole.calls WHERE tenant = %s{where} ORDER BY started_at DESC, id DESC LIMIT %s"
    return tuple(map(decode_call, connection.execute(sql, [tenant, *values, limit])))


def list_sessions(
    connection: PostgresConnection, tenant: UUID, limit: int, filters: CallFilters, after: CallPlace | None
) -> tuple[SessionSummary, ...]:
    """Return the sessions with a call that the filters allow, the one with the latest call first."""
    conditions, values = sql_conditions(filters, "%s", _CONTAINS, _READS)
    where = ""
    if conditions:
        every = " AND ".join(["calls.tenant = s.tenant", "calls.session = s.id", *conditions])
        where = f" AND EXISTS (SELECT FROM keyhole.calls WHERE {every})"
    if filters.session:
        where, values = f"{where} AND id = %s", [*values, to_storable(filters.session)]
    if after is not None:
        where, values = f"{where} AND (last_at, id) < (%s, %s)", [*values, after[0], to_storable(after[1])]
    order = "ORDER BY last_at DESC, id DESC"
    sql = (
        f"SELECT {SESSIONS}, {FOLDER}, {_ABOUT} FROM keyhole.call_sessions s WHERE tenant = %s{where} {order} LIMIT %s"
    )
    return tuple(map(decode_session, connection.execute(sql, [tenant, *values, limit])))


def list_choices(
    connection: PostgresConnection, tenant: UUID
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the clients, tools and error codes that occur."""
    clients, tools, outcomes = (
        tuple(row["value"] for row in connection.execute(_CHOICES.format(name), [tenant] * 2))
        for name in ("client", "tool", "outcome")
    )
    return clients, tools, tuple(outcome for outcome in outcomes if outcome != OK)


# Reads one index entry for each value: PostgreSQL's DISTINCT would read all.
_CHOICES: Final = """
WITH RECURSIVE found AS (
    SELECT min({0}) AS value FROM keyhole.calls WHERE tenant = %s
    UNION ALL
    SELECT (SELECT min({0}) FROM keyhole.calls WHERE tenant = %s AND {0} > found.value) FROM found
    WHERE found.value IS NOT NULL
) SELECT value FROM found WHERE value IS NOT NULL ORDER BY value
"""

# Figures.

_HOURS: Final = f"""
SELECT floor(started_at / {HOUR}) * {HOUR} AS start, count(*) AS calls,
    count(*) FILTER (WHERE outcome <> '{OK}') AS errors, count(*) FILTER (WHERE miss <> '') AS misses,
    sum(read_chars)::bigint AS read_chars, sum(shown_chars)::bigint AS shown_chars, sum(tokens)::bigint AS tokens
FROM keyhole.calls WHERE tenant = %s AND started_at >= %s GROUP BY 1 ORDER BY 1
"""
_PLAIN: Final = f"""
SELECT floor(started / {HOUR}) * {HOUR} AS start, sum(chars)::bigint AS chars FROM (
    SELECT min(started_at) AS started, least(max(t.chars), {PLAIN_CHARS}) AS chars
    FROM keyhole.call_texts t JOIN keyhole.calls c ON c.key = t.call AND c.tenant = t.tenant
    WHERE c.tenant = %s AND started_at >= %s AND text_id <> '' GROUP BY session, text_id
) texts GROUP BY 1
"""
_ASKED: Final = f"""
SELECT count(*) AS asked, count(*) FILTER (WHERE miss = '') AS sufficed FROM keyhole.calls
WHERE tenant = %s AND started_at >= %s AND outcome = '{OK}' AND tool = ANY(%s)
"""
_ADDRESSES: Final = """
SELECT id, client, started_at, target, ARRAY(SELECT url FROM keyhole.call_texts t WHERE t.call = c.key
    AND t.tenant = c.tenant ORDER BY number) AS urls, ARRAY(SELECT text_id FROM keyhole.call_texts t
    WHERE t.call = c.key AND t.tenant = c.tenant ORDER BY number) AS texts
FROM keyhole.calls c WHERE tenant = %s
"""
_STAGES: Final = """
SELECT name, sum(p.seconds) AS seconds, count(*) AS calls
FROM keyhole.call_stages p JOIN keyhole.calls c ON c.key = p.call AND c.tenant = p.tenant
WHERE c.tenant = %s AND started_at >= %s GROUP BY name ORDER BY 2 DESC, 1
"""
_SOURCES: Final = """
SELECT site, sum(chars)::bigint AS chars, count(DISTINCT call) AS calls
FROM keyhole.call_texts t JOIN keyhole.calls c ON c.key = t.call AND c.tenant = t.tenant
WHERE c.tenant = %s AND started_at >= %s AND site <> '' AND text_id <> '' GROUP BY site ORDER BY 2 DESC, 1 LIMIT %s
"""


def list_addresses(connection: PostgresConnection, tenant: UUID) -> list[CallAddresses]:
    """Return the addresses and times of every call, which a scope compares."""
    rows = connection.execute(_ADDRESSES, [tenant])
    return [
        CallAddresses(row["id"], row["client"], row["started_at"], [row["target"], *row["urls"]], row["texts"])
        for row in rows
    ]


def sum_figures(connection: PostgresConnection, tenant: UUID, since: float) -> Figures:
    """Return the figures of the calls since a time."""
    plain = {row["start"]: row["chars"] for row in connection.execute(_PLAIN, [tenant, since])}
    rows = connection.execute(_HOURS, [tenant, since])
    hours = tuple(Hour(**row, plain_chars=plain.get(row["start"], 0)) for row in rows)
    asked = connection.execute(_ASKED, [tenant, since, sorted(ASKING)]).fetchone() or {"asked": 0, "sufficed": 0}
    outcomes, tools, clients, misses = (
        _count_by(connection, tenant, name, since) for name in ("outcome", "tool", "client", "miss")
    )
    stages = connection.execute(_STAGES, [tenant, since])
    sources = connection.execute(_SOURCES, [tenant, since, MAX_SOURCES])
    return Figures(
        since,
        sum(hour.calls for hour in hours),
        asked["asked"],
        asked["sufficed"],
        hours,
        outcomes,
        tuple((row["name"], row["seconds"], row["calls"]) for row in stages),
        tuple((row["site"], row["chars"], row["calls"]) for row in sources),
        tools,
        clients,
        misses,
    )


def _count_by(connection: PostgresConnection, tenant: UUID, name: str, since: float) -> tuple[tuple[str, int], ...]:
    sql = (
        f"SELECT {name} AS value, count(*) AS calls FROM keyhole.calls WHERE tenant = %s AND started_at >= %s "
        "GROUP BY 1 ORDER BY 2 DESC, 1"
    )
    return tuple((row["value"], row["calls"]) for row in connection.execute(sql, [tenant, since]))


# Writes, with the totals of the sessions and of the log.

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
class LogBounds:
    """The maximum calls and bytes of a tenant's log."""

    max_calls: int = MAX_CALLS
    max_bytes: int = MAX_LOG_BYTES


LOG_BOUNDS: Final = LogBounds()


def add_call(connection: PostgresConnection, tenant: UUID, record: CallRecord, now: float) -> None:
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


def _insert(connection: PostgresConnection, tenant: UUID, record: CallRecord) -> int:
    """Insert a call with its texts and stages; return its size in bytes."""
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


def _add_to_session(connection: PostgresConnection, tenant: UUID, related: Related) -> None:
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


def _find_runs(connection: PostgresConnection, tenant: UUID, call: CallSummary) -> KnownRuns:
    """Return the sessions that a call may join."""
    if row := connection.execute(_SESSION_OF_RUN, [tenant, to_storable(call.session)]).fetchone():
        return KnownRuns(row["session"])
    if not call.folder:
        return KnownRuns()
    rows = connection.execute(_RECENT, [tenant, call.started_at - PAUSE_SECONDS, MAX_RECENT])
    return KnownRuns("", tuple(OpenSession(**{**row, "runs": frozenset(row["runs"])}) for row in rows))


def _find_earlier(connection: PostgresConnection, tenant: UUID, record: CallRecord) -> list[Earlier]:
    """Return the calls that a call may follow, in the order that `relate` expects."""
    session = to_storable(record.summary.session)
    rows = connection.execute(_EARLIER, [tenant, session, EARLIER_CALLS]).fetchall()
    if id := output_read_by(record):
        values = [tenant, tenant, to_storable(id), session, list(OUTPUTS)]
        rows += connection.execute(_KEPT_OUTPUT, values).fetchall()
    texts = texts_of_calls(connection, tenant, [row["key"] for row in rows])
    return [Earlier(decode_call(row), row["request"], texts[row["key"]]) for row in rows]


def remove_calls(connection: PostgresConnection, tenant: UUID, ids: Sequence[str]) -> int:
    """Delete calls; return the number of those that were known."""
    _lock_log(connection, tenant)
    return _drop(connection, tenant, "id = ANY(%s)", [list(map(to_storable, ids))])


def match_log(connection: PostgresConnection, tenant: UUID, scope: Scope) -> CallMatch:
    """Return the calls in a scope. No server can add a call of the tenant until the transaction ends."""
    _lock_log(connection, tenant)
    return match_calls(list_addresses(connection, tenant), scope)


def remove_session(connection: PostgresConnection, tenant: UUID, id: str) -> int:
    """Delete all calls of a session; return their number."""
    _lock_log(connection, tenant)
    return _drop(connection, tenant, "session = %s", [to_storable(id)])


def drop_oldest(connection: PostgresConnection, tenant: UUID, now: float, ttl: float, bounds: LogBounds) -> int:
    """Drop up to DROPPED_AT_ONCE of the calls that have expired or exceed the bounds; return their number."""
    log = _lock_log(connection, tenant)
    excess_calls, excess_bytes = log["calls"] - bounds.max_calls, log["bytes"] - bounds.max_bytes
    values = [tenant, DROPPED_AT_ONCE, now - ttl, excess_calls, excess_bytes]
    rows = connection.execute(_FIND_OLDEST, values).fetchall()
    return _drop(connection, tenant, "key = ANY(%s)", [[row["key"] for row in rows]]) if rows else 0


def _drop(connection: PostgresConnection, tenant: UUID, condition: str, values: Sequence[Any]) -> int:
    """Delete the calls that a condition names, and sum up their sessions again; return their number."""
    sql = f"DELETE FROM keyhole.calls WHERE tenant = %s AND {condition} RETURNING session, size"
    rows = connection.execute(sql, [tenant, *values]).fetchall()
    if rows:
        sessions = sorted({row["session"] for row in rows})
        connection.execute("DELETE FROM keyhole.call_sessions WHERE tenant = %s AND id = ANY(%s)", [tenant, sessions])
        connection.execute(_SUM_SESSIONS, [tenant, sessions])
        connection.execute(_CHANGE, [-len(rows), -sum(row["size"] for row in rows), tenant])
    return len(rows)


def _lock_log(connection: PostgresConnection, tenant: UUID) -> Mapping[str, int]:
    """Lock the row of a tenant's log until the transaction ends, and return it, or zeros if there is no row."""
    sql = "SELECT calls, bytes FROM keyhole.call_logs WHERE tenant = %s FOR UPDATE"
    return connection.execute(sql, [tenant]).fetchone() or {"calls": 0, "bytes": 0}
