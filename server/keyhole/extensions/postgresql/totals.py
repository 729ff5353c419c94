"""SQL for running totals of a tenant's stored data, which concurrent writers keep correct.

A total is the sum of several rows (shards), and a writer locks one of them. So servers that write for the same tenant
seldom wait for each other's commits, which take as long as a disk write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Final
from uuid import UUID

from keyhole.extensions.postgresql.database import Connection

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


def add_totals(connection: Connection, tenant: UUID, shard: int, amounts: Totals) -> None:
    """Add to a tenant's totals. Call it last in a transaction, because the row stays locked until the commit."""
    connection.execute(_ADD, [tenant, shard % SHARDS, *astuple(amounts)])


def read_totals(connection: Connection, tenant: UUID) -> Totals:
    """Return a tenant's totals."""
    row = connection.execute(_SUM, [tenant]).fetchone()
    return Totals(**row) if row else Totals()


def choose_shard(keys: Sequence[int]) -> int:
    """Return the shard for a change of the rows with these keys."""
    return min(keys, default=0) % SHARDS
