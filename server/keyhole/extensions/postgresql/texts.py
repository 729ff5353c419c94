"""SQL for texts in PostgreSQL. Each distinct text of a tenant is stored once and deleted with its last artifact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import psycopg

from keyhole.extensions.postgresql.database import Connection
from keyhole.store.chunks import Chunk, PackedText, unpack, unpack_range

CHUNK_CHARS: Final = 65_536
"""Characters of a chunk. A range of 8,000 reads one or two chunks, in well under a millisecond. Chunks of half the size
take a tenth more space; chunks of twice the size make ranges slower (`python -m benchmarks.store.postgres`)."""
_STORE_TEXT: Final = """
WITH stored AS (
    INSERT INTO keyhole.contents (tenant, digest, chars, text_size, size) VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (tenant, digest) DO UPDATE SET chars = excluded.chars RETURNING key, damaged, xmax = 0 AS is_new
), pieces AS (
    INSERT INTO keyhole.chunks (content, tenant, first, data)
    SELECT stored.key, %s, piece.first, piece.data
    FROM stored, unnest(%s::integer[], %b::bytea[]) AS piece (first, data) WHERE stored.is_new
)
SELECT key, damaged, is_new FROM stored
"""
_REPAIR: Final = (
    "DELETE FROM keyhole.chunks WHERE tenant = %s AND content = %s",
    "UPDATE keyhole.contents SET damaged = false WHERE tenant = %s AND key = %s",
    "UPDATE keyhole.artifacts SET damaged = false WHERE tenant = %s AND content = %s",
)
_READ_RANGE: Final = """
SELECT first, data FROM keyhole.chunks WHERE tenant = %(tenant)s AND content = %(content)s AND first < %(end)s
AND first >= (
    SELECT coalesce(max(first), 0) FROM keyhole.chunks
    WHERE tenant = %(tenant)s AND content = %(content)s AND first <= %(start)s
) ORDER BY first
"""


def store_text(connection: Connection, tenant: UUID, text: PackedText) -> tuple[int, bool]:
    """Store a text unless an equal one is stored, and repair a damaged one; return its key and whether it is new."""
    firsts, pieces = [chunk.first for chunk in text.chunks], [chunk.data for chunk in text.chunks]
    values = [tenant, text.digest, text.chars, text.size, text.stored_bytes, tenant, firsts, pieces]
    row = connection.execute(_STORE_TEXT, values).fetchone()
    if row is None:
        raise psycopg.DataError("no row was returned for a stored text")
    if row["damaged"]:
        for statement in _REPAIR:
            connection.execute(statement, [tenant, row["key"]])
        connection.execute(
            "INSERT INTO keyhole.chunks (content, tenant, first, data) "
            "SELECT %s, %s, * FROM unnest(%s::integer[], %b::bytea[])",
            [row["key"], tenant, firsts, pieces],
        )
    return row["key"], row["is_new"]


def read_text(pieces: Sequence[bytes], digest: bytes) -> str | None:
    """Return the text of all its chunks, or None if it is damaged."""
    return unpack(map(bytes, pieces), bytes(digest), CHUNK_CHARS)


def read_range(connection: Connection, tenant: UUID, content: int, start: int, end: int) -> str | None:
    """Return the characters `[start, end)` of a text, or None if they are damaged."""
    values = {"tenant": tenant, "content": content, "start": start, "end": end}
    rows = connection.execute(_READ_RANGE, values, binary=True).fetchall()
    chunks = [Chunk(row["first"], bytes(row["data"])) for row in rows]
    return unpack_range(chunks, start, end, CHUNK_CHARS)


def mark_damaged(connection: Connection, tenant: UUID, content: int) -> list[str]:
    """Mark a text and its artifacts as damaged; return the ids of the artifacts.

    Searches and lists exclude damaged artifacts until the text is put again.
    """
    connection.execute("UPDATE keyhole.contents SET damaged = true WHERE tenant = %s AND key = %s", [tenant, content])
    sql = "UPDATE keyhole.artifacts SET damaged = true WHERE tenant = %s AND content = %s RETURNING id"
    return sorted(row["id"] for row in connection.execute(sql, [tenant, content]))


def delete_unused_texts(connection: Connection, tenant: UUID, contents: Sequence[int]) -> tuple[int, int]:
    """Delete the texts among `contents` that no artifact uses; return their number and the bytes of their chunks."""
    # Locked in key order, so that servers do not deadlock. A server that has just put an artifact of one of these texts
    # held its lock, so the next statement sees that artifact.
    connection.execute(
        "SELECT key FROM keyhole.contents WHERE tenant = %s AND key = ANY(%s) ORDER BY key FOR UPDATE",
        [tenant, sorted(set(contents))],
    )
    rows = connection.execute(
        "DELETE FROM keyhole.contents c WHERE tenant = %s AND key = ANY(%s) "
        "AND NOT EXISTS (SELECT FROM keyhole.artifacts a WHERE a.content = c.key) RETURNING size",
        [tenant, sorted(set(contents))],
    ).fetchall()
    return len(rows), sum(row["size"] for row in rows)


def list_texts(connection: Connection, tenant: UUID) -> list[int]:
    """Return the keys of all texts that are not marked as damaged."""
    sql = "SELECT key FROM keyhole.contents WHERE tenant = %s AND NOT damaged ORDER BY key"
    return [row["key"] for row in connection.execute(sql, [tenant], binary=True)]


def find_damaged_texts(connection: Connection, tenant: UUID, keys: Sequence[int]) -> tuple[int, list[int]]:
    """Verify texts; return the number of their artifacts and the keys of damaged texts."""
    rows = connection.execute(
        "SELECT key, digest, "
        "(SELECT count(*) FROM keyhole.artifacts a WHERE a.content = c.key AND a.tenant = c.tenant) AS artifacts, "
        "ARRAY(SELECT data FROM keyhole.chunks p WHERE p.content = c.key AND p.tenant = c.tenant "
        "ORDER BY first) AS pieces FROM keyhole.contents c WHERE tenant = %s AND key = ANY(%s)",
        [tenant, list(keys)],
        binary=True,
    ).fetchall()
    damaged_keys = [row["key"] for row in rows if read_text(row["pieces"], row["digest"]) is None]
    return sum(row["artifacts"] for row in rows), damaged_keys
