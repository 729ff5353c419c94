"""Artifacts of one tenant in PostgreSQL, shared by any number of servers. The store's methods; its SQL is in the rooms
beside it (postgres_*.py), by subject.

Every method is one short transaction. A reader sees one state of the database, so nothing is taken away under it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any, Final, Literal
from uuid import UUID

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, ArtifactSummary, Part, StoreStats, Verification
from keyhole.store import postgres_keys
from keyhole.store.base import MAX_KNOWN_URLS, MAX_VECTORS, REFRESH_AFTER, Clock, Word
from keyhole.store.filters import NONE, Filters
from keyhole.store.postgres_database import PATIENCE, Connection, Database, unreadable
from keyhole.store.postgres_rows import (
    ROW_BYTES,
    STEM_BYTES,
    artifact_of,
    damaged,
    plain,
    record_of,
    refusal,
    request_number,
    summary_of,
    url_of,
    within,
)
from keyhole.store.postgres_search import PLAN, Asked, held_by_any, narrowed, stems_of
from keyhole.store.postgres_sweep import Limits, bury, due, sweep
from keyhole.store.postgres_texts import (
    damaged_texts,
    free,
    keep_text,
    kept_texts,
    read_part,
    read_text,
    ready,
    set_aside,
)
from keyhole.store.postgres_totals import Totals, add, totals

log = logging.getLogger(__name__)

VERIFY_BATCH: Final = 16
"""Texts checked in one transaction: of the longest ones some hundred megabytes."""
VERIFY_SECONDS: Final = 60.0
BYTES_A_SECOND: Final = 2_000_000
"""A slow disk and network; a long text gets as much more time to be kept."""

_HEAD: Final = "a.key, a.id, a.content, a.chars, a.damaged, a.fetched_at, a.last_access, a.record"
_WHOLE: Final = (
    f"{_HEAD}, c.digest, ARRAY(SELECT data FROM keyhole.chunks p WHERE p.content = c.key AND p.tenant = c.tenant "
    "ORDER BY first) AS pieces"
)
_FROM: Final = "FROM keyhole.artifacts a JOIN keyhole.contents c ON c.key = a.content AND c.tenant = a.tenant"
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


Reading = Callable[[Connection, dict[str, Any]], str | None]
"""What is wanted of the text of an artifact's row; None when it is not what was kept."""


class PostgresStore:
    """One tenant's view of a database. All of a server's tenants share its connections."""

    def __init__(self, database: Database, tenant: UUID, clock: Clock, limits: Limits) -> None:
        self._database = database
        self._tenant = tenant
        self._clock = clock
        self._limits = limits

    def put(self, artifact: Artifact, words: str) -> None:
        now, text = self._clock(), ready(artifact.text)
        stems, record = stems_of(self._tenant, words), record_of(artifact)
        size = ROW_BYTES + len(record) + STEM_BYTES * (stems.count(",") + 1)
        if text.size + size > self._limits.max_bytes:
            raise KeyholeError(Code.STORE_UNAVAILABLE, "the text is larger than the whole store may be")
        values = {
            "tenant": self._tenant, "id": plain(artifact.id), "chars": text.chars, "size": size, "now": now,
            "request": request_number(artifact.requested_url), "fetched_at": artifact.fetched_at,
            "published": plain(artifact.published), "language": plain(artifact.language), "url": plain(artifact.url),
            "record": record, "stems": stems,
        }  # fmt: skip
        with self._transaction(seconds=PATIENCE + text.encoded / BYTES_A_SECOND) as connection:
            content, added = keep_text(connection, self._tenant, text)
            row = connection.execute(_KEEP, values | {"content": content}).fetchone() or {}
            if row["content"] != content:  # another text under an id that has one already: the first stays
                free(connection, self._tenant, [content])
                added = False
            if added or row["made"]:
                one, own = int(row["made"]), size * row["made"]
                amounts = Totals(one, int(added), text.encoded * one, text.size * added + own)
                add(connection, self._tenant, row["key"], amounts)
            sweeping = due(connection, self._tenant, now, self._limits)
        if sweeping:
            with suppress(KeyholeError):  # what was put is kept, whatever becomes of this
                self.collect()

    def get(self, id: str) -> Artifact:
        row, text = self._read(id, _WHOLE, lambda _, row: read_text(row["pieces"], row["digest"]))
        return artifact_of(row, text)

    def part(self, id: str, start: int, end: int) -> Part:
        def stretch(connection: Connection, row: dict[str, Any]) -> str | None:
            return read_part(connection, self._tenant, row["content"], *within(start, end, row["chars"]))

        row, text = self._read(id, _HEAD, stretch)
        return Part(artifact_of(row, text), within(start, end, row["chars"])[0], row["chars"])

    def recent(self, url: str, since: float) -> Artifact | None:
        sql = (
            "SELECT key FROM keyhole.artifacts WHERE tenant = %s AND request = %s AND fetched_at >= %s "
            "AND last_access >= %s AND NOT damaged ORDER BY fetched_at DESC LIMIT 1"
        )
        values = [self._tenant, request_number(url), since, self._clock() - self._limits.ttl]
        with self._transaction() as connection:
            row = connection.execute(sql, values).fetchone()
        return self._of_keys([row["key"]]).get(row["key"]) if row else None

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
        found = self._of_keys(keys) if keys else {}
        return tuple(found[key] for key in keys if key in found)

    def held(self, words: Sequence[Word]) -> tuple[bool, ...]:
        with self._transaction(plan=PLAN) as connection:
            return held_by_any(connection, self._tenant, words)

    def list(self, limit: int) -> tuple[ArtifactSummary, ...]:
        sql = (
            f"SELECT {_HEAD} FROM keyhole.artifacts a WHERE tenant = %s AND last_access >= %s AND NOT damaged "
            "ORDER BY fetched_at DESC, id LIMIT %s"
        )
        with self._transaction() as connection:
            rows = connection.execute(sql, [self._tenant, self._clock() - self._limits.ttl, limit], binary=True)
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
        batches = [self._verified(keys[at : at + VERIFY_BATCH]) for at in range(0, len(keys), VERIFY_BATCH)]
        return Verification(sum(count for count, _ in batches), tuple(sorted(id for _, ids in batches for id in ids)))

    def warning(self) -> str:
        return ""

    def close(self) -> None:
        self._database.close()

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

    def _read(self, id: str, columns: str, reading: Reading) -> tuple[dict[str, Any], str]:
        """The row of an artifact and what is read of its text, its last access renewed. Raises as `get` does."""
        try:
            return self._read_now(id, columns, reading)
        except KeyholeError as error:
            if not unreadable(error):
                raise
            _, url = self._set_aside_unread("id", plain(id))
            raise damaged(id, url) from error

    def _read_now(self, id: str, columns: str, reading: Reading) -> tuple[dict[str, Any], str]:
        now, text = self._clock(), None
        with self._transaction() as connection:
            sql = f"SELECT {columns} {_FROM} WHERE a.tenant = %s AND a.id = %s"
            row = connection.execute(sql, [self._tenant, plain(id)], binary=True).fetchone()
            url = self._dropped_url(connection, id) if row is None else url_of(row["record"])
            failure = refusal(id, row, url, now - self._limits.ttl)
            if row is not None and failure is None:
                text = self._checked(connection, row, reading)
                if row["last_access"] + REFRESH_AFTER < now:
                    sql = "UPDATE keyhole.artifacts SET last_access = %s WHERE tenant = %s AND key = %s"
                    connection.execute(sql, [now, self._tenant, row["key"]])
        if failure is not None:
            raise failure
        if row is None or text is None:
            raise damaged(id, url)
        return row, text

    def _dropped_url(self, connection: Connection, id: str) -> str:
        sql = "SELECT url FROM keyhole.dropped WHERE tenant = %s AND id = %s"
        row = connection.execute(sql, [self._tenant, plain(id)], binary=True).fetchone()
        return bytes(row["url"]).decode("utf-8", "surrogatepass") if row else ""

    def _of_keys(self, keys: Sequence[int]) -> dict[int, Artifact]:
        """The artifacts of these keys that are whole; those that are not are set aside."""
        try:
            return self._whole_of(keys)
        except KeyholeError as error:
            if not unreadable(error):
                raise
            if len(keys) > 1:  # one of them spoils the statement: each by itself
                return {key: found for key in keys for found in self._of_keys([key]).values()}
            self._set_aside_unread("key", keys[0])
            return {}

    def _whole_of(self, keys: Sequence[int]) -> dict[int, Artifact]:
        sql = f"SELECT {_WHOLE} {_FROM} WHERE a.tenant = %s AND a.key = ANY(%s)"
        found = {}
        with self._transaction() as connection:
            for row in connection.execute(sql, [self._tenant, list(keys)], binary=True).fetchall():
                text = self._checked(connection, row, lambda _, row: read_text(row["pieces"], row["digest"]))
                if text is not None:
                    found[row["key"]] = artifact_of(row, text)
        return found

    def _set_aside_unread(self, column: Literal["id", "key"], value: str | int) -> tuple[str, str]:
        """Set aside an artifact whose text the database itself cannot read; its id and URL."""
        sql = f"SELECT id, content, record FROM keyhole.artifacts WHERE tenant = %s AND {column} = %s"
        with self._transaction() as connection:
            row = connection.execute(sql, [self._tenant, value]).fetchone()
            if row is None:
                return "", ""
            log.warning("the database cannot read the text of artifact %s: it is set aside", row["id"])
            set_aside(connection, self._tenant, row["content"])
            return row["id"], url_of(row["record"])

    def _verified(self, keys: Sequence[int]) -> tuple[int, Sequence[str]]:
        """How many artifacts have these texts, and the ids of those that are set aside now."""
        ids: list[str] = []
        try:
            with self._transaction(seconds=VERIFY_SECONDS) as connection:
                count, bad = damaged_texts(connection, self._tenant, keys)
                for content in bad:
                    ids += set_aside(connection, self._tenant, content)
            return count, ids
        except KeyholeError as error:
            if not unreadable(error):
                raise
        if len(keys) > 1:
            each = [self._verified([key]) for key in keys]
            return sum(count for count, _ in each), [id for _, some in each for id in some]
        with self._transaction() as connection:
            ids = set_aside(connection, self._tenant, keys[0])
        return len(ids), ids

    def _checked(self, connection: Connection, row: dict[str, Any], reading: Reading) -> str | None:
        text = reading(connection, row)
        if text is None:
            log.warning("the text of artifact %s is not what was kept: it is set aside", row["id"])
            set_aside(connection, self._tenant, row["content"])
        return text
