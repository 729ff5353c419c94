"""Artifacts of one tenant in PostgreSQL, shared by any number of servers. The store's methods; its SQL is in the rooms
beside it (postgres_*.py), by subject.

Every method is one short transaction. A reader sees one state of the database, so nothing is taken away under it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any, Final, LiteralString
from uuid import UUID

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, ArtifactSummary, Part, Place
from keyhole.store.base import MAX_KNOWN_URLS, MAX_VECTORS, TOO_LARGE, Clock, StoreStats, Verification, Word
from keyhole.store.chunks import pack
from keyhole.store.filters import NONE, Filters
from keyhole.store.postgres import keys as postgres_keys
from keyhole.store.postgres.database import PATIENCE, Connection, Database
from keyhole.store.postgres.reads import HEAD, VERIFY_SECONDS, WHOLE, Reads
from keyhole.store.postgres.rows import (
    ROW_BYTES,
    STEM_BYTES,
    artifact_of,
    plain,
    record_of,
    request_number,
    summary_of,
    within,
)
from keyhole.store.postgres.search import PLAN, Asked, held_by_any, narrowed, stems_of
from keyhole.store.postgres.sweep import Limits, bury, due, sweep
from keyhole.store.postgres.texts import CHUNK_CHARS, free, keep_text, kept_texts, read_part, read_text
from keyhole.store.postgres.totals import Totals, add, totals

VERIFY_BATCH: Final = 16
"""Texts checked in one transaction: of the longest ones some hundred megabytes."""
BYTES_A_SECOND: Final = 2_000_000
"""A slow disk and network; a long text gets as much more time to be kept."""

_KEEP: Final = """
WITH kept AS (
    INSERT INTO keyhole.artifacts (tenant, id, content, chars, size, request, fetched_at, last_access, published,
        language, url, record)
    VALUES (%(tenant)s, %(id)s, %(content)s, %(chars)s, %(size)s, %(request)s, %(fetched_at)s, %(now)s, %(published)s,
        %(language)s, %(url)s, %(record)s)
    ON CONFLICT (tenant, id) DO UPDATE SET request = excluded.request, fetched_at = excluded.fetched_at,
        last_access = excluded.last_access, published = excluded.published, language = excluded.language,
        record = excluded.record
    RETURNING key, content, xmax = 0 AS made
), worded AS (
    INSERT INTO keyhole.words AS w (key, tenant, stems) SELECT key, %(tenant)s, %(stems)s::bigint[] FROM kept
    ON CONFLICT (key) DO UPDATE SET stems = excluded.stems WHERE w.stems <> excluded.stems
), found AS (
    DELETE FROM keyhole.dropped WHERE tenant = %(tenant)s AND id = %(id)s
) SELECT key, content, made FROM kept
"""


class PostgresStore:
    """One tenant's view of a database. All of a server's tenants share its connections."""

    def __init__(self, database: Database, tenant: UUID, clock: Clock, limits: Limits) -> None:
        self._database = database
        self._tenant = tenant
        self._clock = clock
        self._limits = limits
        self._reads = Reads(database, tenant, clock, limits.ttl)

    def put(self, artifact: Artifact, words: str, keys: Iterable[bytes] = ()) -> None:
        now, text = self._clock(), pack(artifact.text, CHUNK_CHARS)
        stems, record = stems_of(self._tenant, words), record_of(artifact)
        size = ROW_BYTES + len(record) + STEM_BYTES * (stems.count(",") + 1)
        if text.stored + size > self._limits.max_bytes:
            raise KeyholeError(Code.STORE_UNAVAILABLE, TOO_LARGE)
        values = {
            "tenant": self._tenant, "id": plain(artifact.id), "chars": text.chars, "size": size, "now": now,
            "request": request_number(artifact.requested_url), "fetched_at": artifact.fetched_at,
            "published": plain(artifact.published), "language": plain(artifact.language), "url": plain(artifact.url),
            "record": record, "stems": stems,
        }  # fmt: skip
        with self._transaction(seconds=PATIENCE + text.size / BYTES_A_SECOND) as connection:
            content, added = keep_text(connection, self._tenant, text)
            row = connection.execute(_KEEP, values | {"content": content}).fetchone() or {}
            if row["content"] != content:  # another text under an id that has one already: the first stays
                free(connection, self._tenant, [content])
                added = False
            if added or row["made"]:
                one, own = int(row["made"]), size * row["made"]
                amounts = Totals(one, int(added), text.size * one, text.stored * added + own)
                add(connection, self._tenant, row["key"], amounts)
            sweeping = due(connection, self._tenant, now, self._limits)
        with suppress(KeyholeError):  # what was put is kept, whatever becomes of this
            # Apart: keys and then totals are locked in it, which within the above would be the other way round.
            if known := list(keys):
                self.remember(known)
            if sweeping:
                self.collect()

    def get(self, id: str) -> Artifact:
        row, text = self._reads.read(id, WHOLE, lambda _, row: read_text(row["pieces"], row["digest"]))
        return artifact_of(row, text)

    def part(self, id: str, start: int, end: int) -> Part:
        def stretch(connection: Connection, row: dict[str, Any]) -> str | None:
            return read_part(connection, self._tenant, row["content"], *within(start, end, row["chars"]))

        row, text = self._reads.read(id, HEAD, stretch)
        return Part(artifact_of(row, text), within(start, end, row["chars"])[0], row["chars"])

    def recent(self, url: str, since: float) -> Artifact | None:
        sql = (
            "SELECT key FROM keyhole.artifacts WHERE tenant = %s AND request = %s AND fetched_at >= %s "
            "AND last_access >= %s AND NOT damaged ORDER BY fetched_at DESC LIMIT 1"
        )
        values = [self._tenant, request_number(url), since, self._clock() - self._limits.ttl]
        with self._transaction() as connection:
            row = connection.execute(sql, values).fetchone()
        return self._reads.of_keys([row["key"]]).get(row["key"]) if row else None

    def renew(self, id: str, fetched_at: float) -> bool:
        now = self._clock()
        sql = (
            "UPDATE keyhole.artifacts SET fetched_at = %s, last_access = %s "
            "WHERE tenant = %s AND id = %s AND last_access >= %s AND NOT damaged"
        )
        with self._transaction() as connection:
            values = [fetched_at, now, self._tenant, plain(id), now - self._limits.ttl]
            return bool(connection.execute(sql, values).rowcount)

    def search(self, words: Sequence[Word], limit: int, filters: Filters = NONE) -> tuple[Artifact, ...]:
        now = self._clock()
        asked = Asked(self._tenant, filters, now, now - self._limits.ttl)
        with self._transaction(plan=PLAN) as connection:
            total = totals(connection, self._tenant).artifacts
            keys = narrowed(connection, words, limit, asked, total)
        found = self._reads.of_keys(keys) if keys else {}
        return tuple(found[key] for key in keys if key in found)

    def held(self, words: Sequence[Word]) -> tuple[bool, ...]:
        with self._transaction(plan=PLAN) as connection:
            return held_by_any(connection, self._tenant, words)

    def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
        behind: LiteralString = "AND fetched_at <= %s AND (fetched_at < %s OR id > %s) " if after else ""
        sql = (
            f"SELECT {HEAD}, (SELECT text_size FROM keyhole.contents c WHERE c.key = a.content AND c.tenant = a.tenant)"
            " FROM keyhole.artifacts a WHERE tenant = %s AND last_access >= %s AND NOT damaged "
            f"{behind}ORDER BY fetched_at DESC, id LIMIT %s"
        )
        at = [after[0], after[0], plain(after[1])] if after else []
        with self._transaction() as connection:
            rows = connection.execute(sql, [self._tenant, self._clock() - self._limits.ttl, *at, limit], binary=True)
            return tuple(summary_of(row) for row in rows)

    def remove(self, id: str) -> bool:
        # The text's lock first, as in `put`, so that the two never wait for each other.
        sql = (
            "SELECT key FROM keyhole.contents WHERE tenant = %(tenant)s AND key = (SELECT content FROM "
            "keyhole.artifacts WHERE tenant = %(tenant)s AND id = %(id)s) FOR UPDATE"
        )
        named = {"tenant": self._tenant, "id": plain(id)}
        with self._transaction() as connection:
            connection.execute(sql, named)
            row = connection.execute(
                "SELECT key FROM keyhole.artifacts WHERE tenant = %(tenant)s AND id = %(id)s FOR UPDATE", named
            ).fetchone()
            return row is not None and bury(connection, self._tenant, [row["key"]], None) > 0

    def collect(self) -> int:
        return sweep(self._database, self._tenant, self._clock(), self._limits)

    def stats(self) -> StoreStats:
        sql = (
            "SELECT min(fetched_at) AS oldest, max(fetched_at) AS newest, "
            "(SELECT count(*) FROM keyhole.artifacts WHERE tenant = %(t)s AND damaged) AS damaged, "
            "(SELECT count(*) FROM keyhole.dropped WHERE tenant = %(t)s) AS tombstones "
            "FROM keyhole.artifacts WHERE tenant = %(t)s"
        )
        with self._transaction() as connection:
            kept = totals(connection, self._tenant)
            row = connection.execute(sql, {"t": self._tenant}).fetchone() or {}
        return StoreStats(
            "postgresql", kept.artifacts, kept.contents, kept.text_bytes, kept.stored_bytes, self._limits.max_bytes,
            row["tombstones"], row["damaged"], row["oldest"], row["newest"],
        )  # fmt: skip

    def verify(self) -> Verification:
        with self._transaction(seconds=VERIFY_SECONDS) as connection:
            keys = kept_texts(connection, self._tenant)
        batches = [self._reads.verified(keys[at : at + VERIFY_BATCH]) for at in range(0, len(keys), VERIFY_BATCH)]
        return Verification(sum(count for count, _ in batches), tuple(sorted(id for _, ids in batches for id in ids)))

    def warning(self) -> str:
        return ""

    def close(self) -> None:
        """Nothing of its own is open: its connections are those of all tenants, which SharedStores closes."""

    def remember(self, keys: Iterable[bytes]) -> None:
        ordered = sorted(set(keys))
        with self._transaction() as connection:
            postgres_keys.remember(connection, self._tenant, ordered, MAX_KNOWN_URLS)

    def remembers(self, key: bytes) -> bool:
        with self._transaction() as connection:
            sql = "SELECT FROM keyhole.known_urls WHERE tenant = %s AND key = %s"
            return connection.execute(sql, [self._tenant, key]).rowcount > 0

    def keep_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        with self._transaction() as connection:
            postgres_keys.keep_vectors(connection, self._tenant, vectors, MAX_VECTORS)

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        sql = "SELECT key, vector FROM keyhole.vectors WHERE tenant = %s AND key = ANY(%b::bytea[])"
        with self._transaction() as connection:
            rows = connection.execute(sql, [self._tenant, list(dict.fromkeys(keys))], binary=True)
            return {bytes(row["key"]): bytes(row["vector"]) for row in rows}

    def _transaction(self, *, seconds: float = PATIENCE, plan: str = "") -> AbstractContextManager[Connection]:
        return self._database.transaction(self._tenant, seconds=seconds, plan=plan)
