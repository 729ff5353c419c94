"""What leaves the store in PostgreSQL: the expired and what exceeds the size, in small batches. Reads no text.

A batch takes only rows that no other server has in hand, so that replicas that sweep at once share the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from keyhole.store.postgres.database import NO_TENANT, Connection, Database
from keyhole.store.postgres.rows import url_of
from keyhole.store.postgres.texts import free
from keyhole.store.postgres.totals import Totals, add, shard_of, totals

BATCH: Final = 200
"""Artifacts dropped in one transaction: some 20 ms, in which nobody waits for more than these."""
MAX_BATCHES: Final = 10
"""Of one call; what is left is dropped by the next."""
MAX_TOMBSTONES: Final = 10_000
"""Dropped ids of a tenant remembered with their URL, so that an agent learns what to fetch again."""
SWEEP_EVERY: Final = 3_600.0
"""Seconds after which a tenant that does not call is swept by others' calls: what it kept must not outlive its time."""

_OLDEST: Final = """
SELECT a.key, a.size + c.size AS size, last_access FROM keyhole.artifacts a
JOIN keyhole.contents c ON c.key = a.content AND c.tenant = a.tenant
WHERE a.tenant = %s ORDER BY last_access, a.key LIMIT %s FOR UPDATE OF a, c SKIP LOCKED
"""
_BURY: Final = """
WITH gone AS (DELETE FROM keyhole.artifacts WHERE tenant = %s AND key = ANY(%s) RETURNING id, record, size, content)
SELECT gone.*, c.text_size FROM gone JOIN keyhole.contents c ON c.key = gone.content AND c.tenant = %s
"""
_DUE: Final = """
SELECT coalesce((SELECT min(last_access) FROM keyhole.artifacts WHERE tenant = %s) < %s, false)
    OR (SELECT coalesce(sum(stored_bytes), 0) FROM keyhole.totals WHERE tenant = %s) > %s
    OR NOT EXISTS (SELECT FROM keyhole.tenants WHERE tenant = %s)
    OR EXISTS (SELECT FROM keyhole.tenants WHERE swept_at < %s) AS due
"""
_LONGEST_UNSWEPT: Final = """
UPDATE keyhole.tenants SET swept_at = %s WHERE tenant = (
    SELECT tenant FROM keyhole.tenants WHERE swept_at < %s AND tenant <> %s ORDER BY swept_at LIMIT 1
    FOR UPDATE SKIP LOCKED
) RETURNING tenant
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much a tenant may keep."""

    ttl: float
    max_bytes: int


def due(connection: Connection, tenant: UUID, now: float, limits: Limits) -> bool:
    """Whether a sweep has anything to do."""
    values = [tenant, now - limits.ttl, tenant, limits.max_bytes, tenant, now - SWEEP_EVERY]
    row = connection.execute(_DUE, values).fetchone()
    return bool(row and row["due"])


def sweep(database: Database, tenant: UUID, now: float, limits: Limits) -> int:
    """Drop what has expired and what exceeds the size; how many of this tenant's were dropped. One other tenant, that
    nobody has swept for long, is swept too."""
    dropped = _sweep(database, tenant, now, limits)
    with database.transaction(NO_TENANT) as connection:
        connection.execute(
            "INSERT INTO keyhole.tenants VALUES (%s, %s) "
            "ON CONFLICT (tenant) DO UPDATE SET swept_at = excluded.swept_at",
            [tenant, now],
        )
        other = connection.execute(_LONGEST_UNSWEPT, [now, now - SWEEP_EVERY, tenant]).fetchone()
    if other:
        _sweep(database, other["tenant"], now, limits)
    return dropped


def _sweep(database: Database, tenant: UUID, now: float, limits: Limits) -> int:
    dropped = 0
    for _ in range(MAX_BATCHES):
        with database.transaction(tenant) as connection:
            excess = totals(connection, tenant).stored_bytes - limits.max_bytes
            rows = connection.execute(_OLDEST, [tenant, BATCH], binary=True).fetchall()
            going = doomed(rows, excess, now - limits.ttl)
            if going:
                bury(connection, tenant, going, now)
        dropped += len(going)
        if len(going) < BATCH:
            break
    return dropped


def doomed(rows: Sequence[dict[str, Any]], excess: int, expired_before: float) -> list[int]:
    """The keys of those rows (least recently read first) that go: the expired, then the oldest until the excess is
    gone."""
    keys = []
    for row in rows:
        if row["last_access"] >= expired_before and excess <= 0:
            break
        keys.append(row["key"])
        excess -= row["size"]
    return keys


def bury(connection: Connection, tenant: UUID, keys: Sequence[int], now: float | None) -> int:
    """Take artifacts out, with their texts where those are no other's; how many there were. Their ids and URLs are
    remembered as of `now`, where it is given."""
    gone = connection.execute(_BURY, [tenant, list(keys), tenant]).fetchall()
    if now is not None and gone:
        connection.execute(
            "INSERT INTO keyhole.dropped (tenant, id, url, dropped_at) SELECT %s, *, %s "
            "FROM unnest(%s::text[], %b::bytea[]) ON CONFLICT (tenant, id) DO UPDATE SET url = excluded.url, "
            "dropped_at = excluded.dropped_at",
            [
                tenant,
                now,
                [row["id"] for row in gone],
                [url_of(row["record"]).encode("utf-8", "surrogatepass") for row in gone],
            ],
        )
        connection.execute(
            "DELETE FROM keyhole.dropped WHERE tenant = %s AND dropped_at < (SELECT dropped_at FROM keyhole.dropped "
            "WHERE tenant = %s ORDER BY dropped_at DESC OFFSET %s LIMIT 1)",
            [tenant, tenant, MAX_TOMBSTONES - 1],
        )
    contents, chunk_bytes = free(connection, tenant, [row["content"] for row in gone])
    amounts = Totals(
        artifacts=-len(gone),
        contents=-contents,
        text_bytes=-sum(row["text_size"] for row in gone),
        stored_bytes=-chunk_bytes - sum(row["size"] for row in gone),
    )
    if gone:
        add(connection, tenant, shard_of(keys), amounts)
    return len(gone)
