"""SQL that reads a tenant's log of calls. Lists read an index in their order, and stop at their limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.postgresql.database import Connection
from keyhole.store.calls.base import (
    ASKING,
    HOUR,
    MAX_SOURCES,
    OK,
    CallAddresses,
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
    sql_conditions,
    summary_of,
    text_of,
    to_storable,
    unpack_record,
)

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


def find_call(connection: Connection, tenant: UUID, id: str) -> CallRecord | None:
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


def texts_of_calls(connection: Connection, tenant: UUID, keys: Sequence[int]) -> dict[int, list[ReadText]]:
    """Return the texts of each of the calls with these keys."""
    texts: dict[int, list[ReadText]] = {key: [] for key in keys}
    for row in connection.execute(_TEXTS, [tenant, list(keys)]) if keys else ():
        texts[row["call"]].append(text_of([row[name] for name in TEXT_COLUMNS]))
    return texts


def list_calls(
    connection: Connection, tenant: UUID, limit: int, filters: CallFilters, after: CallPlace | None
) -> tuple[CallSummary, ...]:
    """Return calls, newest first."""
    conditions, values = sql_conditions(filters, "%s", _CONTAINS, _READS)
    if after is not None:
        conditions, values = [*conditions, "(started_at, id) < (%s, %s)"], [*values, after[0], to_storable(after[1])]
    where = "".join(f" AND {each}" for each in conditions)
    sql = f"SELECT {CALLS} FROM keyhole.calls WHERE tenant = %s{where} ORDER BY started_at DESC, id DESC LIMIT %s"
    return tuple(map(decode_call, connection.execute(sql, [tenant, *values, limit])))


def list_sessions(
    connection: Connection, tenant: UUID, limit: int, filters: CallFilters, after: CallPlace | None
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


def list_choices(connection: Connection, tenant: UUID) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
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


def list_addresses(connection: Connection, tenant: UUID) -> list[CallAddresses]:
    """Return the facts of every call that a scope compares."""
    rows = connection.execute(_ADDRESSES, [tenant])
    return [
        CallAddresses(row["id"], row["client"], row["started_at"], [row["target"], *row["urls"]], row["texts"])
        for row in rows
    ]


def sum_figures(connection: Connection, tenant: UUID, since: float) -> Figures:
    """Return the figures of the calls since a time."""
    hours = tuple(Hour(**row) for row in connection.execute(_HOURS, [tenant, since]))
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


def _count_by(connection: Connection, tenant: UUID, name: str, since: float) -> tuple[tuple[str, int], ...]:
    sql = (
        f"SELECT {name} AS value, count(*) AS calls FROM keyhole.calls WHERE tenant = %s AND started_at >= %s "
        "GROUP BY 1 ORDER BY 2 DESC, 1"
    )
    return tuple((row["value"], row["calls"]) for row in connection.execute(sql, [tenant, since]))
