"""SQL for known URL keys and passage vectors in PostgreSQL, each with a limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal
from uuid import UUID

from keyhole.extensions.postgresql.database import Connection
from keyhole.extensions.postgresql.totals import Totals, add_totals

Table = Literal["known_urls", "vectors"]

MAX_PRUNED: Final = 20_000
"""Maximum rows deleted by one call, in a fraction of a second. The next call deletes the rest."""

# An update gives a row the highest number, so the lowest numbers are the least recently seen rows. Rows are written in
# key order, so that servers do not deadlock.
_REMEMBER: Final = """
WITH added AS (
    INSERT INTO keyhole.known_urls (tenant, key, number)
    SELECT %s, key, nextval('keyhole.latest') FROM unnest(%b::bytea[]) AS key
    ON CONFLICT (tenant, key) DO UPDATE SET number = excluded.number RETURNING xmax = 0 AS is_new
) SELECT count(*) FILTER (WHERE is_new) AS added FROM added
"""
_KEEP_VECTORS: Final = """
WITH added AS (
    INSERT INTO keyhole.vectors (tenant, key, number, vector)
    SELECT %s, key, nextval('keyhole.latest'), vector FROM unnest(%b::bytea[], %b::bytea[]) AS item (key, vector)
    ON CONFLICT (tenant, key) DO UPDATE SET number = excluded.number, vector = excluded.vector
    RETURNING xmax = 0 AS is_new
) SELECT count(*) FILTER (WHERE is_new) AS added FROM added
"""
# ARRAY() instead of IN (SELECT …), which PostgreSQL may run again for each row, skipping the rows locked before.
_PRUNE: Final[Mapping[Table, str]] = {
    table: f"""
DELETE FROM keyhole.{table} WHERE tenant = %s AND key = ANY(ARRAY(
    SELECT key FROM keyhole.{table} WHERE tenant = %s ORDER BY number LIMIT %s FOR UPDATE SKIP LOCKED
))"""
    for table in ("known_urls", "vectors")
}


def remember(connection: Connection, tenant: UUID, keys: Sequence[bytes], max_count: int) -> None:
    """Store URL keys, and delete the least recently seen beyond `max_count`. `keys`: sorted, without duplicates."""
    if keys:
        added = _count_added(connection, _REMEMBER, [tenant, list(keys)])
        _update_total(connection, tenant, "known_urls", keys[0], added, max_count)


def keep_vectors(connection: Connection, tenant: UUID, vectors: Mapping[bytes, bytes], max_count: int) -> None:
    """Store vectors, and delete the oldest beyond `max_count`."""
    if vectors:
        keys = sorted(vectors)
        added = _count_added(connection, _KEEP_VECTORS, [tenant, keys, [vectors[key] for key in keys]])
        _update_total(connection, tenant, "vectors", keys[0], added, max_count)


def _count_added(connection: Connection, sql: str, values: Sequence[object]) -> int:
    row = connection.execute(sql, values).fetchone()
    return int(row["added"]) if row else 0


def _update_total(connection: Connection, tenant: UUID, table: Table, key: bytes, added: int, max_count: int) -> None:
    """Add to the total of a table, and delete its oldest rows beyond `max_count`. `key` chooses the shard."""
    if not added:
        return
    sql = f"SELECT sum({table})::bigint AS total FROM keyhole.totals WHERE tenant = %s"
    row = connection.execute(sql, [tenant]).fetchone()
    excess = min(MAX_PRUNED, (row["total"] or 0) + added - max_count) if row else 0
    deleted = connection.execute(_PRUNE[table], [tenant, tenant, excess]).rowcount if excess > 0 else 0
    change = added - deleted
    amounts = Totals(known_urls=change) if table == "known_urls" else Totals(vectors=change)
    add_totals(connection, tenant, sum(key), amounts)
