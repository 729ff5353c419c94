"""SQL that drops artifacts and calls: those that have expired or exceed the limits, and those that are forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from keyhole.extensions.postgresql.artifacts import decode_addresses, decode_url, delete_unused_texts, to_storable
from keyhole.extensions.postgresql.call_tables import DROPPED_AT_ONCE, LOG_BOUNDS, QUICK_COMMIT, LogBounds, drop_oldest
from keyhole.extensions.postgresql.database import NO_TENANT, PostgresConnection, PostgresDatabase
from keyhole.extensions.postgresql.tenant_tables import Totals, add_totals, choose_shard, read_totals
from keyhole.store.base import Limits, Traces
from keyhole.store.filters import Scope

# Sweeps.

BATCH_SIZE: Final = 200
"""Artifacts dropped in one transaction: some 20 ms, during which only these rows are locked."""
MAX_BATCHES: Final = 10
"""Batches of one call; the next call drops the rest."""
MAX_TOMBSTONES: Final = 10_000
"""Dropped ids of a tenant stored with their URL, so that an agent learns which page to fetch again."""
SWEEP_EVERY: Final = 3_600.0
"""Seconds after which the calls of other tenants sweep an inactive tenant, so that its artifacts expire on time."""

_OLDEST: Final = """
SELECT a.key, a.size + c.size AS size, last_access FROM keyhole.artifacts a
JOIN keyhole.contents c ON c.key = a.content AND c.tenant = a.tenant
WHERE a.tenant = %s AND NOT pinned ORDER BY last_access, a.key LIMIT %s FOR UPDATE OF a, c SKIP LOCKED
"""
_DROP: Final = """
WITH deleted AS (
    DELETE FROM keyhole.artifacts WHERE tenant = %s AND key = ANY(%s) RETURNING id, record, size, content
)
SELECT deleted.*, c.text_size FROM deleted JOIN keyhole.contents c ON c.key = deleted.content AND c.tenant = %s
"""
_IS_DUE: Final = """
SELECT coalesce((SELECT min(last_access) FROM keyhole.artifacts WHERE tenant = %s AND NOT pinned) < %s, false)
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


def is_sweep_due(connection: PostgresConnection, tenant: UUID, now: float, limits: Limits) -> bool:
    """Return whether a sweep of this or another tenant is due."""
    values = [tenant, now - limits.ttl, tenant, limits.max_bytes, tenant, now - SWEEP_EVERY]
    row = connection.execute(_IS_DUE, values).fetchone()
    return bool(row and row["due"])


def sweep(database: PostgresDatabase, tenant: UUID, now: float, limits: Limits) -> int:
    """Drop a tenant's expired and excess artifacts; return the number dropped.

    Also sweeps the artifacts and calls of one other tenant that has not been swept for SWEEP_EVERY seconds.
    """
    dropped = _sweep_tenant(database, tenant, now, limits)
    with database.transaction(NO_TENANT) as connection:
        connection.execute(
            "INSERT INTO keyhole.tenants VALUES (%s, %s) "
            "ON CONFLICT (tenant) DO UPDATE SET swept_at = excluded.swept_at",
            [tenant, now],
        )
        other = connection.execute(_LONGEST_UNSWEPT, [now, now - SWEEP_EVERY, tenant]).fetchone()
    if other:
        _sweep_tenant(database, other["tenant"], now, limits)
        sweep_calls(database, other["tenant"], now, limits.ttl, LOG_BOUNDS)
    return dropped


def _sweep_tenant(database: PostgresDatabase, tenant: UUID, now: float, limits: Limits) -> int:
    dropped = 0
    for _ in range(MAX_BATCHES):
        with database.transaction(tenant) as connection:
            excess = read_totals(connection, tenant).stored_bytes - limits.max_bytes
            rows = connection.execute(_OLDEST, [tenant, BATCH_SIZE], binary=True).fetchall()
            keys = choose_evictions(rows, excess, now - limits.ttl)
            if keys:
                drop_artifacts(connection, tenant, keys, now)
        dropped += len(keys)
        if len(keys) < BATCH_SIZE:
            break
    return dropped


def sweep_calls(database: PostgresDatabase, tenant: UUID, now: float, ttl: float, bounds: LogBounds) -> int:
    """Drop a tenant's calls that have expired or exceed the bounds of its log; return the number dropped."""
    dropped = 0
    for _ in range(MAX_BATCHES):
        with database.transaction(tenant, settings=QUICK_COMMIT) as connection:
            count = drop_oldest(connection, tenant, now, ttl, bounds)
        dropped += count
        if count < DROPPED_AT_ONCE:
            break
    return dropped


def choose_evictions(rows: Sequence[dict[str, Any]], excess: int, expired_before: float) -> list[int]:
    """Return the keys of `rows`, least recently read first, that are expired or needed to free `excess` bytes."""
    keys = []
    for row in rows:
        if row["last_access"] >= expired_before and excess <= 0:
            break
        keys.append(row["key"])
        excess -= row["size"]
    return keys


def drop_artifacts(connection: PostgresConnection, tenant: UUID, keys: Sequence[int], now: float | None) -> int:
    """Delete artifacts with their unshared texts; return the number deleted. `now`: None to create no tombstones."""
    deleted = connection.execute(_DROP, [tenant, list(keys), tenant]).fetchall()
    if now is not None and deleted:
        ids, urls = zip(*((row["id"], decode_url(row["record"])) for row in deleted), strict=True)
        connection.execute(
            "INSERT INTO keyhole.dropped (tenant, id, url, dropped_at) SELECT %s, *, %s "
            "FROM unnest(%s::text[], %b::bytea[]) ON CONFLICT (tenant, id) DO UPDATE SET url = excluded.url, "
            "dropped_at = excluded.dropped_at",
            [tenant, now, list(ids), [url.encode("utf-8", "surrogatepass") for url in urls]],
        )
        connection.execute(
            "DELETE FROM keyhole.dropped WHERE tenant = %s AND dropped_at < (SELECT dropped_at FROM keyhole.dropped "
            "WHERE tenant = %s ORDER BY dropped_at DESC OFFSET %s LIMIT 1)",
            [tenant, tenant, MAX_TOMBSTONES - 1],
        )
    contents, chunk_bytes = delete_unused_texts(connection, tenant, [row["content"] for row in deleted])
    amounts = Totals(
        artifacts=-len(deleted),
        contents=-contents,
        text_bytes=-sum(row["text_size"] for row in deleted),
        stored_bytes=-chunk_bytes - sum(row["size"] for row in deleted),
    )
    if deleted:
        add_totals(connection, tenant, choose_shard(keys), amounts)
    return len(deleted)


# Forgetting: a tenant's artifacts and their traces.

FORGET_SECONDS: Final = 60.0
"""Seconds for a statement that reads or deletes all rows of a tenant, and for the transactions before it to end."""
# Texts are locked first, as `put` does, to avoid a deadlock; an artifact that is put between both statements stays.
_LOCK_TEXTS: Final = """
SELECT key FROM keyhole.contents WHERE tenant = %s AND key IN (
    SELECT content FROM keyhole.artifacts WHERE tenant = %s AND id = ANY(%s)
) ORDER BY key FOR UPDATE
"""
_LOCK_ROWS: Final = """
SELECT key, id FROM keyhole.artifacts WHERE tenant = %s AND id = ANY(%s) AND content = ANY(%s)
ORDER BY key FOR UPDATE
"""


def match_artifacts(connection: PostgresConnection, tenant: UUID, scope: Scope) -> frozenset[str]:
    """Return the ids of the artifacts in a scope, also of expired and damaged ones."""
    rows = connection.execute("SELECT id, record, fetched_at FROM keyhole.artifacts WHERE tenant = %s", [tenant])
    return frozenset(
        row["id"] for row in rows if scope.includes_text(decode_addresses(row["record"]), row["fetched_at"])
    )


def remove_artifacts(connection: PostgresConnection, tenant: UUID, ids: Sequence[str]) -> frozenset[str]:
    """Delete artifacts without tombstones; return the ids of those that were stored."""
    wanted = {to_storable(id): id for id in ids}
    texts = [row["key"] for row in connection.execute(_LOCK_TEXTS, [tenant, tenant, list(wanted)])]
    rows = connection.execute(_LOCK_ROWS, [tenant, list(wanted), texts]).fetchall()
    drop_artifacts(connection, tenant, [row["key"] for row in rows], None)
    return frozenset(wanted[row["id"]] for row in rows)


def remove_traces(connection: PostgresConnection, tenant: UUID, scope: Scope) -> Traces:
    """Delete the tombstones in a scope, and all URL keys and vectors; return their numbers."""
    rows = connection.execute("SELECT id, url FROM keyhole.dropped WHERE tenant = %s", [tenant]).fetchall()
    dropped = [row["id"] for row in rows if scope.includes_trace(bytes(row["url"]).decode("utf-8", "surrogatepass"))]
    connection.execute("DELETE FROM keyhole.dropped WHERE tenant = %s AND id = ANY(%s)", [tenant, dropped])
    known_urls, vectors = (
        connection.execute(f"DELETE FROM keyhole.{table} WHERE tenant = %s", [tenant]).rowcount
        for table in ("known_urls", "vectors")
    )
    add_totals(connection, tenant, 0, Totals(known_urls=-known_urls, vectors=-vectors))
    return Traces(len(dropped), known_urls, vectors)
