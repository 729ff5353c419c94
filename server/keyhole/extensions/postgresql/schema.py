"""The schema in PostgreSQL, created or migrated by the first server, and the installation's secret.

Every table of tenant data has a column for the tenant, and every statement names it. Row-level security is a second
protection: a transaction sets `keyhole.tenant`, and the tables show no other rows, even to the role that owns them.
Only `words` has no such policy: array operators are not leakproof, so PostgreSQL would not use its index. Its terms are
hashes keyed by the tenant's number, which no other tenant's query contains.
"""

from __future__ import annotations

import secrets
from typing import Final, LiteralString

from keyhole.extensions.postgresql.call_tables import CALL_TABLES, CREATE_CALL_TABLES
from keyhole.extensions.postgresql.database import GRACE, TIMEOUT, PostgresConnection
from keyhole.extensions.postgresql.tenant_tables import CREATE_FORGETS
from keyhole.store.base import version_error
from keyhole.store.home import SECRET_BYTES

SETUP_SECONDS: Final = 60.0
"""Time limit of creating the tables. Servers that start meanwhile wait for its end."""
SETUP_LOCK: Final = 0x6B657968_6F6C6501
"""Number of the advisory lock for creating the tables: "keyhole" and a one."""
FIRST_VERSION: Final = 7
"""The version of `_TABLES`. Those before it were in no release."""
STEPS: Final[tuple[LiteralString, ...]] = ()
"""SQL statements that make each later version from the one before. A step that was released never changes."""

_GUARDED_TABLES: Final = (
    "totals",
    "contents",
    "chunks",
    "artifacts",
    "dropped",
    "known_urls",
    "vectors",
    "forgets",
    *CALL_TABLES,
)

_TABLES: Final[tuple[LiteralString, ...]] = (
    """
CREATE TABLE keyhole.installation (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), version integer NOT NULL, secret bytea NOT NULL
);
CREATE TABLE keyhole.tenants (tenant uuid PRIMARY KEY, swept_at double precision NOT NULL);
CREATE TABLE keyhole.totals (
    tenant uuid NOT NULL, shard smallint NOT NULL,
    artifacts bigint NOT NULL DEFAULT 0, contents bigint NOT NULL DEFAULT 0, text_bytes bigint NOT NULL DEFAULT 0,
    stored_bytes bigint NOT NULL DEFAULT 0, known_urls bigint NOT NULL DEFAULT 0, vectors bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, shard)
) WITH (fillfactor = 50);
CREATE TABLE keyhole.contents (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant uuid NOT NULL, digest bytea NOT NULL,
    chars integer NOT NULL, text_size bigint NOT NULL, size bigint NOT NULL, damaged boolean NOT NULL DEFAULT false,
    UNIQUE (tenant, digest)
);
CREATE TABLE keyhole.chunks (
    content bigint NOT NULL REFERENCES keyhole.contents ON DELETE CASCADE, first integer NOT NULL,
    tenant uuid NOT NULL, data bytea NOT NULL, PRIMARY KEY (content, first)
);
ALTER TABLE keyhole.chunks ALTER data SET STORAGE EXTERNAL;
CREATE TABLE keyhole.artifacts (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant uuid NOT NULL, id text NOT NULL,
    content bigint NOT NULL REFERENCES keyhole.contents, chars integer NOT NULL, size bigint NOT NULL,
    damaged boolean NOT NULL DEFAULT false, request uuid NOT NULL, fetched_at double precision NOT NULL,
    last_access double precision NOT NULL, published text NOT NULL, language text NOT NULL, url text NOT NULL,
    record text NOT NULL, main_end integer, pinned boolean NOT NULL DEFAULT false, UNIQUE (tenant, id)
);
CREATE INDEX artifacts_by_request ON keyhole.artifacts (tenant, request, fetched_at);
CREATE INDEX artifacts_by_fetch ON keyhole.artifacts (tenant, fetched_at DESC, id);
CREATE INDEX artifacts_by_access ON keyhole.artifacts (tenant, last_access, key);
CREATE INDEX artifacts_by_content ON keyhole.artifacts (content);
CREATE INDEX artifacts_damaged ON keyhole.artifacts (tenant) WHERE damaged;
CREATE INDEX artifacts_pinned ON keyhole.artifacts (tenant) WHERE pinned;
CREATE TABLE keyhole.words (
    key bigint PRIMARY KEY REFERENCES keyhole.artifacts ON DELETE CASCADE, tenant uuid NOT NULL,
    stems bigint[] NOT NULL
) WITH (toast_tuple_target = 128);
ALTER TABLE keyhole.words ALTER stems SET STORAGE EXTERNAL;
CREATE INDEX words_by_stem ON keyhole.words USING gin (stems) WITH (fastupdate = off);
CREATE TABLE keyhole.dropped (
    tenant uuid NOT NULL, id text NOT NULL, url bytea NOT NULL, dropped_at double precision NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX dropped_by_time ON keyhole.dropped (tenant, dropped_at);
CREATE SEQUENCE keyhole.latest;
CREATE TABLE keyhole.known_urls (
    tenant uuid NOT NULL, key bytea NOT NULL, number bigint NOT NULL, PRIMARY KEY (tenant, key)
);
CREATE INDEX known_urls_by_number ON keyhole.known_urls (tenant, number);
CREATE TABLE keyhole.vectors (
    tenant uuid NOT NULL, key bytea NOT NULL, number bigint NOT NULL, vector bytea NOT NULL, PRIMARY KEY (tenant, key)
);
ALTER TABLE keyhole.vectors ALTER vector SET STORAGE EXTERNAL;
CREATE INDEX vectors_by_number ON keyhole.vectors (tenant, number);
""",
    CREATE_CALL_TABLES,
    CREATE_FORGETS,
)


def prepare(connection: PostgresConnection) -> None:
    """Create or migrate the tables. One server does it, and the others wait.

    Raises KeyholeError (store_unavailable) for tables of a newer version, which are not changed.
    """
    if _read_version(connection) == FIRST_VERSION + len(STEPS):
        return
    connection.answer_timeout = SETUP_SECONDS + GRACE
    try:
        with connection.transaction():
            connection.execute("SELECT set_config('statement_timeout', %s, true)", [str(int(SETUP_SECONDS * 1000))])
            # A server suspended meanwhile must not hold the lock forever.
            connection.execute("SET LOCAL idle_in_transaction_session_timeout = 10000")
            connection.execute("SELECT set_config('lock_timeout', '0', true), pg_advisory_xact_lock(%s)", [SETUP_LOCK])
            version = _read_version(connection)
            if version == 0:
                _create_tables(connection)
            for step in STEPS[max(version, FIRST_VERSION) - FIRST_VERSION :]:
                connection.execute(step)
            connection.execute("UPDATE keyhole.installation SET version = %s", [FIRST_VERSION + len(STEPS)])
    finally:
        connection.answer_timeout = TIMEOUT + GRACE


def read_secret(connection: PostgresConnection) -> bytes:
    """Return the secret shared by all servers on this database."""
    row = connection.execute("SELECT secret FROM keyhole.installation").fetchone()
    return bytes(row["secret"]) if row else b""


def _read_version(connection: PostgresConnection) -> int:
    """Return the version of the tables, 0 if there are none.

    Raises KeyholeError (store_unavailable) for those of a newer version, or of one before the first release.
    """
    # Not to_regclass(): in a transaction that has waited for a lock, it returns the state before the wait.
    sql = "SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'keyhole' AND tablename = 'installation'"
    if not connection.execute(sql).rowcount:
        return 0
    row = connection.execute("SELECT version FROM keyhole.installation").fetchone()
    version, known = int(row["version"]) if row else -1, FIRST_VERSION + len(STEPS)
    if not FIRST_VERSION <= version <= known:
        raise version_error("artifact store", version, known)
    return version


def _create_tables(connection: PostgresConnection) -> None:
    if not connection.execute("SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'keyhole'").rowcount:
        # Not IF NOT EXISTS: it needs the right to create schemas even if the operator has created this one.
        connection.execute("CREATE SCHEMA keyhole")
    for statements in _TABLES:
        connection.execute(statements)
    for table in _GUARDED_TABLES:
        connection.execute(_guard_sql(table))
    connection.execute(
        "INSERT INTO keyhole.installation (version, secret) VALUES (%s, %s)",
        [FIRST_VERSION, secrets.token_bytes(SECRET_BYTES)],
    )


def _guard_sql(table: str) -> str:
    return (
        f"ALTER TABLE keyhole.{table} ENABLE ROW LEVEL SECURITY; ALTER TABLE keyhole.{table} FORCE ROW LEVEL SECURITY; "
        f"CREATE POLICY own ON keyhole.{table} "
        "USING (tenant = nullif(current_setting('keyhole.tenant', true), '')::uuid)"
    )
