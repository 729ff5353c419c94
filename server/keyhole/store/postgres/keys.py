"""The SQL of what is kept under keys: URLs that were seen, and vectors of passages, each with a bound. No artifacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal
from uuid import UUID

from keyhole.store.postgres.database import Connection
from keyhole.store.postgres.totals import Totals, add

Table = Literal["known_urls", "vectors"]

PRUNED: Final = 20_000
"""Rows taken out at once, at most: a fraction of a second. What is left goes with the next."""

# Replaced, a row gets the highest number: the lowest ones are the longest unseen. In order of keys, so that no two
# servers wait for each other.
_REMEMBER: Final = """
WITH added AS (
    INSERT INTO keyhole.known_urls (tenant, key, number)
    SELECT %s, key, nextval('keyhole.latest') FROM unnest(%b::bytea[]) AS key
    ON CONFLICT (tenant, key) DO UPDATE SET number = excluded.number RETURNING xmax = 0 AS made
) SELECT count(*) FILTER (WHERE made) AS made FROM added
"""
_KEEP: Final = """
WITH added AS (
    INSERT INTO keyhole.vectors (tenant, key, number, vector)
    SELECT %s, key, nextval('keyhole.latest'), vector FROM unnest(%b::bytea[], %b::bytea[]) AS given (key, vector)
    ON CONFLICT (tenant, key) DO UPDATE SET number = excluded.number, vector = excluded.vector
    RETURNING xmax = 0 AS made
) SELECT count(*) FILTER (WHERE made) AS made FROM added
"""
# An array and not IN (SELECT …): that may be run again for each row, and each time pass over those locked before.
_PRUNE: Final[Mapping[Table, str]] = {
    table: f"""
DELETE FROM keyhole.{table} WHERE tenant = %s AND key = ANY(ARRAY(
    SELECT key FROM keyhole.{table} WHERE tenant = %s ORDER BY number LIMIT %s FOR UPDATE SKIP LOCKED
))"""
    for table in ("known_urls", "vectors")
}


def remember(connection: Connection, tenant: UUID, keys: Sequence[bytes], most: int) -> None:
    """Keep keys of URLs, sorted and each once, the `most` last seen of all."""
    if keys:
        _grow(connection, tenant, "known_urls", keys[0], _made(connection, _REMEMBER, [tenant, list(keys)]), most)


def keep_vectors(connection: Connection, tenant: UUID, vectors: Mapping[bytes, bytes], most: int) -> None:
    """Keep vectors, the `most` last kept of all."""
    if vectors:
        keys = sorted(vectors)
        values = [tenant, keys, [vectors[key] for key in keys]]
        _grow(connection, tenant, "vectors", keys[0], _made(connection, _KEEP, values), most)


def _made(connection: Connection, sql: str, values: Sequence[object]) -> int:
    row = connection.execute(sql, values).fetchone()
    return int(row["made"]) if row else 0


def _grow(connection: Connection, tenant: UUID, table: Table, key: bytes, made: int, most: int) -> None:
    """Add to the total, and take out the oldest where it is too much."""
    if not made:
        return
    row = connection.execute(
        f"SELECT sum({table})::bigint AS kept FROM keyhole.totals WHERE tenant = %s",
        [tenant],
    ).fetchone()
    excess = min(PRUNED, (row["kept"] or 0) + made - most) if row else 0
    gone = connection.execute(_PRUNE[table], [tenant, tenant, excess]).rowcount if excess > 0 else 0
    grown = made - gone
    amounts = Totals(known_urls=grown) if table == "known_urls" else Totals(vectors=grown)
    add(connection, tenant, sum(key), amounts)
