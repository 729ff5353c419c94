"""Artifacts and their texts as rows of PostgreSQL: encode, store, read and verify them."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal
from uuid import UUID

import psycopg

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.postgresql.database import PostgresConnection, PostgresDatabase, is_unreadable
from keyhole.records import UNDIGESTED, Artifact, ArtifactSummary
from keyhole.store.base import Clock
from keyhole.store.chunks import Chunk, PackedText, unpack, unpack_range

# Rows of artifacts. PostgreSQL's text cannot hold NUL characters or lone surrogates, which pages contain. So all
# fields that must be preserved are in one JSON record, escaped to ASCII, and the columns that SQL compares are
# simplified copies.

ROW_BYTES: Final = 900
"""Bytes of an artifact beside its text, stems and record: rows and index entries, measured."""
STEM_BYTES: Final = 15
"""Bytes of an artifact's search term: 9 in the row and 6 in the index, measured."""

_RECORD_FIELDS: Final = (
    "url", "requested_url", "title", "media_type", "language", "cut", "etag", "last_modified_header", "author",
    "published", "modified", "site", "replaces", "notes",
)  # fmt: skip
"""Fields of an artifact in the order of the record."""

UNDIGESTED_NOTE: Final = json.dumps(["notice", UNDIGESTED], separators=(",", ":"))
"""The note of an undigested text as part of a record. Quotes in other fields are escaped, so that none contains it."""


def hash_tenant(tenant: str) -> UUID:
    """Return the number of a tenant: a hash of its name, so that the database does not contain the name."""
    return UUID(bytes=hashlib.sha256(b"tenant:" + tenant.encode("utf-8", "surrogatepass")).digest()[:16])


def hash_url(url: str) -> UUID:
    """Return the index key of a requested URL: a hash, because an index cannot contain long texts."""
    return UUID(bytes=hashlib.sha256(url.encode("utf-8", "surrogatepass")).digest()[:16])


def to_storable(text: str) -> str:
    """Replace characters that PostgreSQL cannot store with question marks."""
    return text.replace("\x00", "?").encode("utf-8", "replace").decode("utf-8")


def encode_record(artifact: Artifact) -> str:
    """Return an artifact's fields except its id, text and times as JSON."""
    return json.dumps([getattr(artifact, name) for name in _RECORD_FIELDS], separators=(",", ":"))


def decode_artifact(row: Mapping[str, Any], text: str) -> Artifact:
    """Return the artifact of a row with the columns `id`, `fetched_at`, `main_end` and `record`."""
    fields = dict(zip(_RECORD_FIELDS, json.loads(row["record"]), strict=True))
    fields["notes"] = tuple((name, value) for name, value in fields["notes"])
    return Artifact(id=row["id"], text=text, fetched_at=row["fetched_at"], main_end=row["main_end"], **fields)


def decode_summary(row: Mapping[str, Any]) -> ArtifactSummary:
    """Return the summary of a row."""
    fields = dict(zip(_RECORD_FIELDS, json.loads(row["record"]), strict=True))
    numbers = (row[name] for name in ("chars", "fetched_at", "last_access", "text_size"))
    notes = tuple((name, value) for name, value in fields["notes"])
    return ArtifactSummary(row["id"], fields["url"], fields["title"], *(*numbers, notes, row["pinned"]))


def decode_url(record: str) -> str:
    """Return the URL of a record."""
    url: str = json.loads(record)[0]
    return url


def decode_addresses(record: str) -> tuple[str, str]:
    """Return the final and the requested URL of a record."""
    url, requested, *_ = json.loads(record)
    return url, requested


def access_error(id: str, row: Mapping[str, Any] | None, url: str, expired_before: float) -> KeyholeError | None:
    """Return the error for an artifact that is unknown, expired or damaged, else None. `url`: its URL if known."""
    if row is None and not url:
        return KeyholeError(Code.UNKNOWN_ARTIFACT, "no artifact has this id")
    if row is None or (row["last_access"] < expired_before and not row["pinned"]):
        return KeyholeError(Code.EXPIRED_ARTIFACT, f"artifact {id} was dropped", url=url)
    return damaged_error(id, url) if row["damaged"] else None


def damaged_error(id: str, url: str) -> KeyholeError:
    """Return the error for reading a damaged artifact."""
    return KeyholeError(Code.DAMAGED_ARTIFACT, f"the stored text of artifact {id} is damaged", url=url)


def clamp_range(start: int, end: int, chars: int) -> tuple[int, int]:
    """Clamp a range to a text of `chars` characters."""
    start = min(max(0, start), chars)
    return start, min(max(start, end), chars)


# Texts in chunks. Each distinct text of a tenant is stored once and deleted with its last artifact.

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


def store_text(connection: PostgresConnection, tenant: UUID, text: PackedText) -> tuple[int, bool]:
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
    """Return the text of these chunks, or None if it is damaged."""
    return unpack(map(bytes, pieces), bytes(digest), CHUNK_CHARS)


def read_range(connection: PostgresConnection, tenant: UUID, content: int, start: int, end: int) -> str | None:
    """Return the characters `[start, end)` of a text, or None if they are damaged."""
    values = {"tenant": tenant, "content": content, "start": start, "end": end}
    rows = connection.execute(_READ_RANGE, values, binary=True).fetchall()
    chunks = [Chunk(row["first"], bytes(row["data"])) for row in rows]
    return unpack_range(chunks, start, end, CHUNK_CHARS)


def mark_damaged(connection: PostgresConnection, tenant: UUID, content: int) -> list[str]:
    """ForgetMark a text and its artifacts as damaged; return the ids of the artifacts.

    Searches and lists exclude damaged artifacts until the text is put again.
    """
    connection.execute("UPDATE keyhole.contents SET damaged = true WHERE tenant = %s AND key = %s", [tenant, content])
    sql = "UPDATE keyhole.artifacts SET damaged = true WHERE tenant = %s AND content = %s RETURNING id"
    return sorted(row["id"] for row in connection.execute(sql, [tenant, content]))


def delete_unused_texts(connection: PostgresConnection, tenant: UUID, contents: Sequence[int]) -> tuple[int, int]:
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


def list_texts(connection: PostgresConnection, tenant: UUID) -> list[int]:
    """Return the keys of all texts that are not marked as damaged."""
    sql = "SELECT key FROM keyhole.contents WHERE tenant = %s AND NOT damaged ORDER BY key"
    return [row["key"] for row in connection.execute(sql, [tenant], binary=True)]


def find_damaged_texts(connection: PostgresConnection, tenant: UUID, keys: Sequence[int]) -> tuple[int, list[int]]:
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


# Reads of one tenant, which mark damaged texts.

log = logging.getLogger(__name__)

VERIFY_SECONDS: Final = 60.0
TOUCH_AFTER: Final = 3_600.0
"""Seconds between two recorded reads of an artifact, so that not every read is a write."""

ROW_COLUMNS: Final = (
    "a.key, a.id, a.content, a.chars, a.damaged, a.fetched_at, a.last_access, a.main_end, a.pinned, a.record"
)
TEXT_COLUMNS: Final = (
    f"{ROW_COLUMNS}, c.digest, ARRAY(SELECT data FROM keyhole.chunks p WHERE p.content = c.key AND p.tenant = c.tenant "
    "ORDER BY first) AS pieces"
)
_FROM: Final = "FROM keyhole.artifacts a JOIN keyhole.contents c ON c.key = a.content AND c.tenant = a.tenant"
TextReader = Callable[[PostgresConnection, dict[str, Any]], str | None]
"""Reads the text of an artifact's row, or a part of it; returns None if the text is damaged."""


class ArtifactReader:
    """Reads the artifacts of one tenant, and marks those that turn out to be damaged."""

    def __init__(self, database: PostgresDatabase, tenant: UUID, clock: Clock, ttl: float) -> None:
        self._database = database
        self._tenant = tenant
        self._clock = clock
        self._ttl = ttl

    def read(self, id: str, columns: str, read: TextReader) -> tuple[dict[str, Any], str]:
        """Return the row of an artifact and its text, and update its last access. Raises as `Store.get` does."""
        try:
            return self._read(id, columns, read)
        except KeyholeError as error:
            if not is_unreadable(error):
                raise
            _, url = self._mark_unreadable("id", to_storable(id))
            raise damaged_error(id, url) from error

    def _read(self, id: str, columns: str, read: TextReader) -> tuple[dict[str, Any], str]:
        now, text = self._clock(), None
        with self._database.transaction(self._tenant) as connection:
            sql = f"SELECT {columns} {_FROM} WHERE a.tenant = %s AND a.id = %s"
            row = connection.execute(sql, [self._tenant, to_storable(id)], binary=True).fetchone()
            url = self._find_tombstone(connection, id) if row is None else decode_url(row["record"])
            failure = access_error(id, row, url, now - self._ttl)
            if row is not None and failure is None:
                text = self._read_checked(connection, row, read)
                if row["last_access"] + TOUCH_AFTER < now:
                    sql = "UPDATE keyhole.artifacts SET last_access = %s WHERE tenant = %s AND key = %s"
                    connection.execute(sql, [now, self._tenant, row["key"]])
        if failure is not None:
            raise failure
        if row is None or text is None:
            raise damaged_error(id, url)
        return row, text

    def _find_tombstone(self, connection: PostgresConnection, id: str) -> str:
        """Return the URL of a dropped artifact, or ""."""
        sql = "SELECT url FROM keyhole.dropped WHERE tenant = %s AND id = %s"
        row = connection.execute(sql, [self._tenant, to_storable(id)], binary=True).fetchone()
        return bytes(row["url"]).decode("utf-8", "surrogatepass") if row else ""

    def read_many(self, keys: Sequence[int]) -> dict[int, Artifact]:
        """Return the undamaged artifacts with these keys, and mark the others as damaged."""
        try:
            return self._read_many(keys)
        except KeyholeError as error:
            if not is_unreadable(error):
                raise
            if len(keys) > 1:  # one unreadable artifact fails the whole statement, so read each separately
                return {key: artifact for key in keys for artifact in self.read_many([key]).values()}
            self._mark_unreadable("key", keys[0])
            return {}

    def _read_many(self, keys: Sequence[int]) -> dict[int, Artifact]:
        sql = f"SELECT {TEXT_COLUMNS} {_FROM} WHERE a.tenant = %s AND a.key = ANY(%s)"
        artifacts = {}
        with self._database.transaction(self._tenant) as connection:
            for row in connection.execute(sql, [self._tenant, list(keys)], binary=True).fetchall():
                text = self._read_checked(connection, row, lambda _, row: read_text(row["pieces"], row["digest"]))
                if text is not None:
                    artifacts[row["key"]] = decode_artifact(row, text)
        return artifacts

    def _mark_unreadable(self, column: Literal["id", "key"], value: str | int) -> tuple[str, str]:
        """ForgetMark an artifact whose text PostgreSQL itself cannot read as damaged; return its id and URL."""
        sql = f"SELECT id, content, record FROM keyhole.artifacts WHERE tenant = %s AND {column} = %s"
        with self._database.transaction(self._tenant) as connection:
            row = connection.execute(sql, [self._tenant, value]).fetchone()
            if row is None:
                return "", ""
            log.warning("PostgreSQL cannot read the text of artifact %s, which was set aside", row["id"])
            mark_damaged(connection, self._tenant, row["content"])
            return row["id"], decode_url(row["record"])

    def verify_texts(self, keys: Sequence[int]) -> tuple[int, Sequence[str]]:
        """Verify texts; return the number of their artifacts and the ids of artifacts now marked as damaged."""
        ids: list[str] = []
        try:
            with self._database.transaction(self._tenant, seconds=VERIFY_SECONDS) as connection:
                count, damaged_keys = find_damaged_texts(connection, self._tenant, keys)
                for content in damaged_keys:
                    ids += mark_damaged(connection, self._tenant, content)
            return count, ids
        except KeyholeError as error:
            if not is_unreadable(error):
                raise
        if len(keys) > 1:
            results = [self.verify_texts([key]) for key in keys]
            return sum(count for count, _ in results), [id for _, damaged_ids in results for id in damaged_ids]
        with self._database.transaction(self._tenant) as connection:
            ids = mark_damaged(connection, self._tenant, keys[0])
        return len(ids), ids

    def _read_checked(self, connection: PostgresConnection, row: dict[str, Any], read: TextReader) -> str | None:
        """Return the text of a row, or mark it as damaged and return None."""
        text = read(connection, row)
        if text is None:
            log.warning("stored artifact %s is damaged and was set aside", row["id"])
            mark_damaged(connection, self._tenant, row["content"])
        return text
