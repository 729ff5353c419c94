"""Forget a tenant's artifacts and their traces in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from keyhole.extensions.postgresql.database import Connection
from keyhole.extensions.postgresql.rows import decode_addresses, to_storable
from keyhole.extensions.postgresql.sweep import drop_artifacts
from keyhole.extensions.postgresql.totals import Totals, add_totals
from keyhole.store.base import Traces
from keyhole.store.filters import Scope

SECONDS: Final = 60.0
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


def match(connection: Connection, tenant: UUID, scope: Scope) -> frozenset[str]:
    """Return the ids of the artifacts in a scope, also of expired and damaged ones."""
    rows = connection.execute("SELECT id, record, fetched_at FROM keyhole.artifacts WHERE tenant = %s", [tenant])
    return frozenset(
        row["id"] for row in rows if scope.includes_text(decode_addresses(row["record"]), row["fetched_at"])
    )


def remove(connection: Connection, tenant: UUID, ids: Sequence[str]) -> frozenset[str]:
    """Delete artifacts without tombstones; return the ids of those that were stored."""
    wanted = {to_storable(id): id for id in ids}
    texts = [row["key"] for row in connection.execute(_LOCK_TEXTS, [tenant, tenant, list(wanted)])]
    rows = connection.execute(_LOCK_ROWS, [tenant, list(wanted), texts]).fetchall()
    drop_artifacts(connection, tenant, [row["key"] for row in rows], None)
    return frozenset(wanted[row["id"]] for row in rows)


def remove_traces(connection: Connection, tenant: UUID, scope: Scope) -> Traces:
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
