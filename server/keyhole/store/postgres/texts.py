"""The SQL of texts: chunks of each different text of a tenant, kept once, read whole or in part, freed with the last
artifact that has them. Decides nothing, and knows no pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import psycopg

from keyhole.store.chunks import Chunk, Packed, stretch, whole
from keyhole.store.postgres.database import Connection

CHUNK_CHARS: Final = 65_536
"""Characters of a chunk. A range of 8,000 reads one or two, in well under a millisecond; a chunk of half the size would
take a tenth more space, one of twice the size would make ranges slower (`python -m benchmarks.store.postgres`)."""
_KEEP: Final = """
WITH kept AS (
    INSERT INTO keyhole.contents (tenant, digest, chars, text_size, size) VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (tenant, digest) DO UPDATE SET chars = excluded.chars RETURNING key, damaged, xmax = 0 AS made
), pieces AS (
    INSERT INTO keyhole.chunks (content, tenant, first, data)
    SELECT kept.key, %s, piece.first, piece.data FROM kept, unnest(%s::integer[], %b::bytea[]) AS piece (first, data)
    WHERE kept.made
)
SELECT key, damaged, made FROM kept
"""
_MEND: Final = (
    "DELETE FROM keyhole.chunks WHERE tenant = %s AND content = %s",
    "UPDATE keyhole.contents SET damaged = false WHERE tenant = %s AND key = %s",
    "UPDATE keyhole.artifacts SET damaged = false WHERE tenant = %s AND content = %s",
)
_PART: Final = """
SELECT first, data FROM keyhole.chunks WHERE tenant = %(tenant)s AND content = %(content)s AND first < %(end)s
AND first >= (
    SELECT coalesce(max(first), 0) FROM keyhole.chunks
    WHERE tenant = %(tenant)s AND content = %(content)s AND first <= %(start)s
) ORDER BY first
"""


def keep_text(connection: Connection, tenant: UUID, text: Packed) -> tuple[int, bool]:
    """Keep a text, or find it kept; one that was damaged is whole again. Its key, and whether it was not there."""
    firsts, pieces = [chunk.first for chunk in text.chunks], [chunk.data for chunk in text.chunks]
    values = [tenant, text.digest, text.chars, text.size, text.stored, tenant, firsts, pieces]
    kept = connection.execute(_KEEP, values).fetchone()
    if kept is None:
        raise psycopg.DataError("nothing was kept")
    if kept["damaged"]:
        for statement in _MEND:
            connection.execute(statement, [tenant, kept["key"]])
        connection.execute(
            "INSERT INTO keyhole.chunks (content, tenant, first, data) "
            "SELECT %s, %s, * FROM unnest(%s::integer[], %b::bytea[])",
            [kept["key"], tenant, firsts, pieces],
        )
    return kept["key"], kept["made"]


def read_text(pieces: Sequence[bytes], digest: bytes) -> str | None:
    """The text of a row's chunks, None when it is not what was kept."""
    return whole(map(bytes, pieces), bytes(digest), CHUNK_CHARS)


def read_part(connection: Connection, tenant: UUID, content: int, start: int, end: int) -> str | None:
    """The characters `[start, end)` of a text, None when they are not what was kept."""
    named = {"tenant": tenant, "content": content, "start": start, "end": end}
    rows = connection.execute(_PART, named, binary=True).fetchall()
    chunks = [Chunk(row["first"], bytes(row["data"])) for row in rows]
    return stretch(chunks, start, end, CHUNK_CHARS)


def set_aside(connection: Connection, tenant: UUID, content: int) -> list[str]:
    """Mark a text that is not what was kept: no search and no list has its artifacts until it is put again. Their
    ids."""
    connection.execute("UPDATE keyhole.contents SET damaged = true WHERE tenant = %s AND key = %s", [tenant, content])
    sql = "UPDATE keyhole.artifacts SET damaged = true WHERE tenant = %s AND content = %s RETURNING id"
    return sorted(row["id"] for row in connection.execute(sql, [tenant, content]))


def free(connection: Connection, tenant: UUID, contents: Sequence[int]) -> tuple[int, int]:
    """Forget those texts that no artifact has any more; how many, and the bytes of their chunks."""
    # Locked in one order, so that no two servers wait for each other. Whoever has just put an artifact of one of them
    # held its lock: the next statement sees that artifact.
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


def kept_texts(connection: Connection, tenant: UUID) -> list[int]:
    """The keys of all texts that are not set aside."""
    sql = "SELECT key FROM keyhole.contents WHERE tenant = %s AND NOT damaged ORDER BY key"
    return [row["key"] for row in connection.execute(sql, [tenant], binary=True)]


def damaged_texts(connection: Connection, tenant: UUID, keys: Sequence[int]) -> tuple[int, list[int]]:
    """How many artifacts these texts are, and which of the texts are not what was kept."""
    rows = connection.execute(
        "SELECT key, digest, "
        "(SELECT count(*) FROM keyhole.artifacts a WHERE a.content = c.key AND a.tenant = c.tenant) AS artifacts, "
        "ARRAY(SELECT data FROM keyhole.chunks p WHERE p.content = c.key AND p.tenant = c.tenant "
        "ORDER BY first) AS pieces FROM keyhole.contents c WHERE tenant = %s AND key = ANY(%s)",
        [tenant, list(keys)],
        binary=True,
    ).fetchall()
    bad = [row["key"] for row in rows if read_text(row["pieces"], row["digest"]) is None]
    return sum(row["artifacts"] for row in rows), bad
