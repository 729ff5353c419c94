"""The artifact stores of all tenants in one PostgreSQL database, shared by any number of servers.

Most methods are one short transaction, which sees a consistent state of the database. The SQL is in the modules beside
this one, by subject.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any, Final, LiteralString
from uuid import UUID

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.postgresql import tenant_tables
from keyhole.extensions.postgresql.artifacts import (
    CHUNK_CHARS,
    ROW_BYTES,
    ROW_COLUMNS,
    STEM_BYTES,
    TEXT_COLUMNS,
    UNDIGESTED_NOTE,
    VERIFY_SECONDS,
    ArtifactReader,
    clamp_range,
    decode_artifact,
    decode_summary,
    delete_unused_texts,
    encode_record,
    hash_tenant,
    hash_url,
    list_texts,
    read_range,
    read_text,
    store_text,
    to_storable,
)
from keyhole.extensions.postgresql.calls import PostgresCallLog
from keyhole.extensions.postgresql.database import NO_TENANT, TIMEOUT, PostgresConnection, PostgresDatabase
from keyhole.extensions.postgresql.schema import prepare, read_secret
from keyhole.extensions.postgresql.search import (
    PLANNER_SETTINGS,
    TenantFilters,
    contains_words,
    hash_stems,
    search_keys,
)
from keyhole.extensions.postgresql.sweep import (
    FORGET_SECONDS,
    drop_artifacts,
    is_sweep_due,
    match_artifacts,
    remove_artifacts,
    remove_traces,
    sweep,
)
from keyhole.extensions.postgresql.tenant_tables import Totals, add_totals, read_totals
from keyhole.records import Artifact, ArtifactPart, ArtifactSummary, Place
from keyhole.store.base import (
    LOCAL,
    MAX_KNOWN_URLS,
    MAX_VECTORS,
    PINNED_SHARE,
    TOO_LARGE,
    TOO_MUCH_PINNED,
    Clock,
    Limits,
    SearchWord,
    Span,
    Store,
    StoreStats,
    Traces,
    Verification,
    expiry_times,
)
from keyhole.store.calls.base import CallLog
from keyhole.store.chunks import PackedText, pack
from keyhole.store.filters import NO_FILTERS, Filters, Scope
from keyhole.store.forget_mark import FORGOTTEN, ForgetMark
from keyhole.store.open import NAME_CHARS, derive_tenant_secret, store_limits
from keyhole.store.term_lookup import make_words

# The stores of all tenants.


class SharedStores:
    """Stores in one PostgreSQL database, shared by all tenants and all servers.

    They do not use memory while the database fails, because other servers could not read those artifacts. `for_tenant`
    fails until the secret was read from the database once, because ids must be equal on all servers.
    """

    def __init__(self, config: Config) -> None:
        self._limits = store_limits(config)
        self._database = PostgresDatabase(config.store, config.store_connections, prepare)
        self._secret = b""

    def for_tenant(self, tenant: str) -> tuple[Store, bytes]:
        self._secret = self._secret or self._read_secret()
        secret = self._secret if tenant == LOCAL else derive_tenant_secret(self._secret, tenant)
        return PostgresStore(self._database, hash_tenant(tenant), time.time, self._limits), secret

    def calls_for(self, tenant: str) -> CallLog:
        return PostgresCallLog(self._database, hash_tenant(tenant), time.time, self._limits)

    def all_tenants(self, names: Iterable[str]) -> Iterator[tuple[str, Store, CallLog]]:
        known = {hash_tenant(name): name for name in names}
        with self._database.transaction(NO_TENANT) as connection:
            rows = connection.execute("SELECT tenant FROM keyhole.tenants ORDER BY tenant").fetchall()
        for tenant in (row["tenant"] for row in rows):
            store = PostgresStore(self._database, tenant, time.time, self._limits)
            name = known.get(tenant, tenant.hex[:NAME_CHARS])
            yield name, store, PostgresCallLog(self._database, tenant, time.time, self._limits)

    def remove_files(self, tenant: str, *, everything: bool) -> int:  # noqa: ARG002 - there are no files
        return 0

    def warning(self) -> str:
        return ""

    def close(self) -> None:
        self._database.close()

    def _read_secret(self) -> bytes:
        with self._database.transaction(NO_TENANT) as connection:
            return read_secret(connection)


# The store of one tenant.

VERIFY_BATCH: Final = 16
"""Texts verified in one transaction: at most about a hundred megabytes."""
BYTES_PER_SECOND: Final = 2_000_000
"""Throughput of a slow disk and network. The time limit for storing a text depends on its length."""

_PUT: Final = """
WITH stored AS (
    INSERT INTO keyhole.artifacts (tenant, id, content, chars, size, request, fetched_at, last_access, published,
        language, url, main_end, record)
    VALUES (%(tenant)s, %(id)s, %(content)s, %(chars)s, %(size)s, %(request)s, %(fetched_at)s, %(now)s, %(published)s,
        %(language)s, %(url)s, %(main_end)s, %(record)s)
    ON CONFLICT (tenant, id) DO UPDATE SET request = excluded.request, fetched_at = excluded.fetched_at,
        last_access = excluded.last_access, published = excluded.published, language = excluded.language,
        main_end = excluded.main_end, record = excluded.record
    RETURNING key, content, xmax = 0 AS is_new
), indexed AS (
    INSERT INTO keyhole.words AS w (key, tenant, stems) SELECT key, %(tenant)s, %(stems)s::bigint[] FROM stored
    ON CONFLICT (key) DO UPDATE SET stems = excluded.stems WHERE w.stems <> excluded.stems
), restored AS (
    DELETE FROM keyhole.dropped WHERE tenant = %(tenant)s AND id = %(id)s
) SELECT key, content, is_new, EXISTS (
    SELECT FROM keyhole.artifacts WHERE tenant = %(tenant)s AND request = %(request)s AND id <> %(id)s AND NOT pinned
        AND record LIKE %(undigested)s
) AS replaces FROM stored
"""
_REPLACED: Final = """
SELECT a.key FROM keyhole.artifacts a JOIN keyhole.contents c ON c.key = a.content AND c.tenant = a.tenant
WHERE a.tenant = %(tenant)s AND request = %(request)s AND id <> %(id)s AND NOT pinned AND record LIKE %(undigested)s
FOR UPDATE OF a, c SKIP LOCKED
"""
"""The undigested texts that an artifact replaces."""

LIVE: Final = "(last_access >= %s OR pinned) AND NOT damaged"
"""The condition for artifacts that are neither expired nor damaged."""
_PIN: Final = """
WITH wanted AS (
    SELECT a.key, a.pinned OR NOT %(pinned)s OR a.size + c.size + (
        SELECT coalesce(sum(p.size + d.size), 0) FROM keyhole.artifacts p
        JOIN keyhole.contents d ON d.key = p.content AND d.tenant = p.tenant WHERE p.tenant = %(tenant)s AND p.pinned
    ) <= %(max)s AS fits
    FROM keyhole.artifacts a JOIN keyhole.contents c ON c.key = a.content AND c.tenant = a.tenant
    WHERE a.tenant = %(tenant)s AND id = %(id)s AND (last_access >= %(since)s OR pinned) FOR UPDATE OF a
), changed AS (
    UPDATE keyhole.artifacts SET pinned = %(pinned)s, last_access = %(now)s
    WHERE tenant = %(tenant)s AND key = (SELECT key FROM wanted WHERE fits)
) SELECT fits FROM wanted
"""


class PostgresStore:
    """The store of one tenant. All tenants of a server share the connections of its database."""

    def __init__(self, database: PostgresDatabase, tenant: UUID, clock: Clock, limits: Limits) -> None:
        self._database = database
        self._tenant = tenant
        self._clock = clock
        self._limits = limits
        self._reader = ArtifactReader(database, tenant, clock, limits.ttl)

    def put(
        self,
        artifact: Artifact,
        words: str,
        keys: Iterable[bytes] = (),
        packed: PackedText | None = None,
        *,
        indexed: Sequence[Span] | None = None,
    ) -> None:
        now, text = self._clock(), packed or pack(artifact.text, CHUNK_CHARS)
        if indexed and not words:
            words = make_words(artifact.title, (artifact.text[start:end] for start, end in indexed))
        stems, record = hash_stems(self._tenant, words), encode_record(artifact)
        size = ROW_BYTES + len(record) + STEM_BYTES * (stems.count(",") + 1)
        if text.stored_bytes + size > self._limits.max_bytes:
            raise KeyholeError(Code.STORE_UNAVAILABLE, TOO_LARGE)
        values = {
            "tenant": self._tenant, "id": to_storable(artifact.id), "chars": text.chars, "size": size, "now": now,
            "request": hash_url(artifact.requested_url), "fetched_at": artifact.fetched_at,
            "published": to_storable(artifact.published), "language": to_storable(artifact.language),
            "url": to_storable(artifact.url), "main_end": artifact.main_end, "record": record, "stems": stems,
            "undigested": f"%{UNDIGESTED_NOTE}%",
        }  # fmt: skip
        seconds = TIMEOUT + text.size / BYTES_PER_SECOND
        with self._transaction(seconds=seconds, settings=tenant_tables.share_lock(self._tenant)) as connection:
            if artifact.fetched_at < tenant_tables.read_mark(connection, self._tenant).before:
                raise KeyholeError(Code.STORE_UNAVAILABLE, FORGOTTEN)
            content, is_new_text = store_text(connection, self._tenant, text)
            row = connection.execute(_PUT, values | {"content": content}).fetchone() or {}
            if row["content"] != content:  # the id already has another text, which stays
                delete_unused_texts(connection, self._tenant, [content])
                is_new_text = False
            if is_new_text or row["is_new"]:
                added = int(row["is_new"])
                added_bytes = text.stored_bytes * is_new_text + size * added
                amounts = Totals(added, int(is_new_text), text.size * added, added_bytes)
                add_totals(connection, self._tenant, row["key"], amounts)
            must_sweep = is_sweep_due(connection, self._tenant, now, self._limits)
        with suppress(KeyholeError):  # the artifact is stored, even if the rest fails
            # Separate transactions, because they lock URL keys before totals: this one would lock in the reverse order.
            if url_keys := list(keys):
                self.remember(url_keys)
            if row["replaces"]:
                with self._transaction() as connection:
                    keys_found = [found["key"] for found in connection.execute(_REPLACED, values)]
                    drop_artifacts(connection, self._tenant, keys_found, now)
            if must_sweep:
                self.collect()

    def get(self, id: str) -> Artifact:
        row, text = self._reader.read(id, TEXT_COLUMNS, lambda _, row: read_text(row["pieces"], row["digest"]))
        return decode_artifact(row, text)

    def part(self, id: str, start: int, end: int) -> ArtifactPart:
        def read(connection: PostgresConnection, row: dict[str, Any]) -> str | None:
            return read_range(connection, self._tenant, row["content"], *clamp_range(start, end, row["chars"]))

        row, text = self._reader.read(id, ROW_COLUMNS, read)
        return ArtifactPart(decode_artifact(row, text), clamp_range(start, end, row["chars"])[0], row["chars"])

    def recent(self, url: str, since: float) -> Artifact | None:
        sql = (
            "SELECT key FROM keyhole.artifacts WHERE tenant = %s AND request = %s AND fetched_at >= %s "
            f"AND {LIVE} ORDER BY fetched_at DESC LIMIT 1"
        )
        values = [self._tenant, hash_url(url), since, self._clock() - self._limits.ttl]
        with self._transaction() as connection:
            row = connection.execute(sql, values).fetchone()
        return self._reader.read_many([row["key"]]).get(row["key"]) if row else None

    def renew(self, id: str, fetched_at: float) -> bool:
        now = self._clock()
        sql = f"UPDATE keyhole.artifacts SET fetched_at = %s, last_access = %s WHERE tenant = %s AND id = %s AND {LIVE}"
        with self._transaction() as connection:
            values = [fetched_at, now, self._tenant, to_storable(id), now - self._limits.ttl]
            return bool(connection.execute(sql, values).rowcount)

    def pin(self, id: str, pinned: bool) -> bool:
        now, max_pinned = self._clock(), int(self._limits.max_bytes * PINNED_SHARE)
        values = {"tenant": self._tenant, "id": to_storable(id), "pinned": pinned, "now": now, "max": max_pinned}
        with self._transaction() as connection:
            row = connection.execute(_PIN, values | {"since": now - self._limits.ttl}).fetchone()
            if row is not None and not row["fits"]:
                raise KeyholeError(Code.INVALID_ARGUMENT, TOO_MUCH_PINNED)
            return row is not None

    def search(self, words: Sequence[SearchWord], limit: int, filters: Filters = NO_FILTERS) -> tuple[Artifact, ...]:
        now = self._clock()
        scope = TenantFilters(self._tenant, filters, now, now - self._limits.ttl)
        with self._transaction(settings=PLANNER_SETTINGS) as connection:
            total = read_totals(connection, self._tenant).artifacts
            keys = search_keys(connection, words, limit, scope, total)
        artifacts = self._reader.read_many(keys) if keys else {}
        return tuple(artifacts[key] for key in keys if key in artifacts)

    def contains_words(self, words: Sequence[SearchWord]) -> tuple[bool, ...]:
        with self._transaction(settings=PLANNER_SETTINGS) as connection:
            return contains_words(connection, self._tenant, words)

    def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
        after_sql: LiteralString = "AND fetched_at <= %s AND (fetched_at < %s OR id > %s) " if after else ""
        sql = (
            f"SELECT {ROW_COLUMNS}, "
            "(SELECT text_size FROM keyhole.contents c WHERE c.key = a.content AND c.tenant = a.tenant) "
            f"FROM keyhole.artifacts a WHERE tenant = %s AND {LIVE} {after_sql}ORDER BY fetched_at DESC, id LIMIT %s"
        )
        after_values = [after[0], after[0], to_storable(after[1])] if after else []
        with self._transaction() as connection:
            values = [self._tenant, self._clock() - self._limits.ttl, *after_values, limit]
            rows = connection.execute(sql, values, binary=True)
            return tuple(decode_summary(row) for row in rows)

    def remove(self, *ids: str) -> frozenset[str]:
        with self._transaction() as connection:
            return remove_artifacts(connection, self._tenant, ids)

    def match(self, scope: Scope) -> frozenset[str]:
        seconds = FORGET_SECONDS
        with self._transaction(seconds=seconds, settings=tenant_tables.own_lock(self._tenant)) as connection:
            return match_artifacts(connection, self._tenant, scope)

    def add_mark(self, mark: ForgetMark) -> None:
        with self._transaction() as connection:
            tenant_tables.add_mark(connection, self._tenant, mark)

    def last_mark(self) -> ForgetMark:
        with self._transaction() as connection:
            return tenant_tables.read_mark(connection, self._tenant)

    def remove_traces(self, scope: Scope) -> Traces:
        with self._transaction(seconds=FORGET_SECONDS) as connection:
            return remove_traces(connection, self._tenant, scope)

    def erase(self) -> None:
        """Do nothing: PostgreSQL's vacuum reuses the room of deleted rows, and its administrator runs it."""

    def collect(self) -> int:
        return sweep(self._database, self._tenant, self._clock(), self._limits)

    def stats(self) -> StoreStats:
        sql = (
            "SELECT min(fetched_at) AS oldest, max(fetched_at) AS newest, count(*) FILTER (WHERE pinned) AS pinned, "
            "(SELECT array_agg((SELECT count(*) FROM keyhole.artifacts WHERE tenant = %(t)s AND NOT pinned "
            "AND NOT damaged AND last_access >= %(since)s AND last_access < before) ORDER BY before) "
            "FROM unnest(%(times)s::float8[]) AS before) AS expiring, "
            "(SELECT count(*) FROM keyhole.artifacts WHERE tenant = %(t)s AND damaged) AS damaged, "
            "(SELECT count(*) FROM keyhole.dropped WHERE tenant = %(t)s) AS tombstones "
            "FROM keyhole.artifacts WHERE tenant = %(t)s"
        )
        with self._transaction() as connection:
            totals = read_totals(connection, self._tenant)
            now, ttl = self._clock(), self._limits.ttl
            values = {"t": self._tenant, "since": now - ttl, "times": list(expiry_times(now, ttl))}
            row = connection.execute(sql, values).fetchone() or {}
        return StoreStats(
            "postgresql", totals.artifacts, totals.contents, totals.text_bytes, totals.stored_bytes,
            self._limits.max_bytes, row["tombstones"], row["damaged"], row["oldest"], row["newest"],
            row["pinned"], tuple(row["expiring"]),
        )  # fmt: skip

    def verify(self) -> Verification:
        with self._transaction(seconds=VERIFY_SECONDS) as connection:
            keys = list_texts(connection, self._tenant)
        starts = range(0, len(keys), VERIFY_BATCH)
        batches = [self._reader.verify_texts(keys[start : start + VERIFY_BATCH]) for start in starts]
        return Verification(sum(count for count, _ in batches), tuple(sorted(id for _, ids in batches for id in ids)))

    def warning(self) -> str:
        return ""

    def close(self) -> None:
        """Do nothing: SharedStores closes the connections, which all tenants share."""

    def remember(self, keys: Iterable[bytes]) -> None:
        sorted_keys = sorted(set(keys))
        with self._transaction() as connection:
            tenant_tables.remember(connection, self._tenant, sorted_keys, MAX_KNOWN_URLS)

    def remembers(self, key: bytes) -> bool:
        with self._transaction() as connection:
            sql = "SELECT FROM keyhole.known_urls WHERE tenant = %s AND key = %s"
            return connection.execute(sql, [self._tenant, key]).rowcount > 0

    def keep_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        with self._transaction() as connection:
            tenant_tables.keep_vectors(connection, self._tenant, vectors, MAX_VECTORS)

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        sql = "SELECT key, vector FROM keyhole.vectors WHERE tenant = %s AND key = ANY(%b::bytea[])"
        with self._transaction() as connection:
            rows = connection.execute(sql, [self._tenant, list(dict.fromkeys(keys))], binary=True)
            return {bytes(row["key"]): bytes(row["vector"]) for row in rows}

    def _transaction(
        self, *, seconds: float = TIMEOUT, settings: str = ""
    ) -> AbstractContextManager[PostgresConnection]:
        return self._database.transaction(self._tenant, seconds=seconds, settings=settings)
