"""How much a tenant has kept, as running totals that stay right under concurrency. Knows only the tables of totals.

A total is the sum of a few rows, and whoever adds to it takes the row of what it adds: replicas that keep pages of one
tenant at once seldom wait for each other's commits, which take as long as a disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Final
from uuid import UUID

from keyhole.store.postgres.database import Connection

SHARDS: Final = 16
"""Rows of a tenant's totals."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over what a tenant has, or what is added to them."""

    artifacts: int = 0
    contents: int = 0
    text_bytes: int = 0
    """Of the artifacts' texts in UTF-8, each counted as often as it is an artifact."""
    stored_bytes: int = 0
    """Of chunks, search words and rows."""
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


def add(connection: Connection, tenant: UUID, shard: int, amounts: Totals) -> None:
    """Add to a tenant's totals: the last of a transaction, as others wait for the row until it ends."""
    connection.execute(_ADD, [tenant, shard % SHARDS, *astuple(amounts)])


def totals(connection: Connection, tenant: UUID) -> Totals:
    """A tenant's totals."""
    row = connection.execute(_SUM, [tenant]).fetchone()
    return Totals(**row) if row else Totals()


def shard_of(keys: Sequence[int]) -> int:
    """The shard that a change of these rows is added to."""
    return min(keys, default=0) % SHARDS
