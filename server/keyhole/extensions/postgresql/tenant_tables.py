"""SQL for a tenant's rows beside its artifacts and calls: totals, the mark of forgetting, known URLs and vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Final, Literal, LiteralString
from uuid import UUID

from keyhole.extensions.postgresql.database import PostgresConnection
from keyhole.store.forget_mark import NO_MARK, ForgetMark

# Running totals of a tenant's stored data, which concurrent writers keep correct. A total is the sum of several rows
# (shards), and a writer locks one of them. So servers that write for the same tenant seldom wait for each other's
# commits, which take as long as a disk write.

SHARDS: Final = 16
"""Rows of a tenant's totals."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of a tenant's stored data, or amounts to add to them."""

    artifacts: int = 0
    contents: int = 0
    text_bytes: int = 0
    """Bytes of all artifacts' texts in UTF-8. A text shared by several artifacts counts once for each."""
    stored_bytes: int = 0
    """Bytes of chunks, search words and rows."""
    known_urls: int = 0
    vectors: int = 0


_COLUMNS: Final = "artifacts, contents, text_bytes, stored_bytes, known_urls, vectors"
_ADD: Final = f"""
INSERT INTO keyhole.totals AS t (tenant, shard, {_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (tenant, shard) DO UPDATE SET artifacts = t.artifacts + excluded.artifacts,
    contents = t.contents + excluded.contents, text_bytes = t.text_bytes + excluded.text_bytes,
    stored_bytes = t.stored_bytes + excluded.stored_bytes, known_urls = t.known_urls + excluded.known_urls,
    vectors = t.vectors + excluded.vectors
"""
_SUM: Final = f"""
SELECT {", ".join(f"coalesce(sum({name}), 0)::bigint AS {name}" for name in _COLUMNS.split(", "))}
FROM keyhole.totals WHERE tenant = %s
"""


def add_totals(connection: PostgresConnection, tenant: UUID, shard: int, amounts: Totals) -> None:
    """Add to a tenant's totals. Call it last in a transaction, because the row stays locked until the commit."""
    connection.execute(_ADD, [tenant, shard % SHARDS, *astuple(amounts)])


def read_totals(connection: PostgresConnection, tenant: UUID) -> Totals:
    """Return a tenant's totals."""
    row = connection.execute(_SUM, [tenant]).fetchone()
    return Totals(**row) if row else Totals()


def choose_shard(keys: Sequence[int]) -> int:
    """Return the shard for a change of the rows with these keys."""
    return min(keys, default=0) % SHARDS


# The mark that tells a tenant's servers what is forgotten, and the lock that orders it with their writes. A
# transaction that stores something takes a shared lock and then reads the mark. A command that forgets writes the
# mark and then takes the lock exclusively. By then, all transactions that did not see the mark have ended, and the
# command removes what they stored.

CREATE_FORGETS: Final[LiteralString] = """
CREATE TABLE keyhole.forgets (
    tenant uuid PRIMARY KEY, before double precision NOT NULL, at double precision NOT NULL
)
"""
_ADD_MARK: Final = """
INSERT INTO keyhole.forgets AS f (tenant, before, at) VALUES (%s, %s, %s) ON CONFLICT (tenant) DO UPDATE
SET before = greatest(f.before, excluded.before), at = greatest(f.at, excluded.at)
"""


def share_lock(tenant: UUID) -> str:
    """Return the SQL that takes the shared lock. A transaction that stores something begins with it."""
    return f"SELECT pg_advisory_xact_lock_shared({_lock_number(tenant)}); "


def own_lock(tenant: UUID) -> str:
    """Return the SQL that takes the exclusive lock: it waits for transactions that may not have seen the mark."""
    return f"SELECT pg_advisory_xact_lock({_lock_number(tenant)}); "


def _lock_number(tenant: UUID) -> int:
    return int.from_bytes(tenant.bytes[:8], "big", signed=True)


def add_mark(connection: PostgresConnection, tenant: UUID, mark: ForgetMark) -> None:
    """Merge a mark with the tenant's mark."""
    connection.execute(_ADD_MARK, [tenant, mark.before, mark.at])


def read_mark(connection: PostgresConnection, tenant: UUID) -> ForgetMark:
    """Return the mark of a tenant."""
    row = connection.execute("SELECT before, at FROM keyhole.forgets WHERE tenant = %s", [tenant]).fetchone()
    return ForgetMark(row["before"], row["at"]) if row else NO_MARK


# Known URL keys and passage vectors, each with a limit.

LimitedTable = Literal["known_urls", "vectors"]

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
_PRUNE: Final[Mapping[LimitedTable, str]] = {
    table: f"""
DELETE FROM keyhole.{table} WHERE tenant = %s AND key = ANY(ARRAY(
    SELECT key FROM keyhole.{table} WHERE tenant = %s ORDER BY number LIMIT %s FOR UPDATE SKIP LOCKED
))"""
    for table in ("known_urls", "vectors")
}


def remember(connection: PostgresConnection, tenant: UUID, keys: Sequence[bytes], max_count: int) -> None:
    """Store URL keys, and delete the least recently seen beyond `max_count`. `keys`: sorted, without duplicates."""
    if keys:
        added = _count_added(connection, _REMEMBER, [tenant, list(keys)])
        _update_total(connection, tenant, "known_urls", keys[0], added, max_count)


def keep_vectors(connection: PostgresConnection, tenant: UUID, vectors: Mapping[bytes, bytes], max_count: int) -> None:
    """Store vectors, and delete the oldest beyond `max_count`."""
    if vectors:
        keys = sorted(vectors)
        added = _count_added(connection, _KEEP_VECTORS, [tenant, keys, [vectors[key] for key in keys]])
        _update_total(connection, tenant, "vectors", keys[0], added, max_count)


def _count_added(connection: PostgresConnection, sql: str, values: Sequence[object]) -> int:
    row = connection.execute(sql, values).fetchone()
    return int(row["added"]) if row else 0


def _update_total(
    connection: PostgresConnection, tenant: UUID, table: LimitedTable, key: bytes, added: int, max_count: int
) -> None:
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
