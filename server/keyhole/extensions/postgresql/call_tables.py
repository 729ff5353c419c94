"""The tables of the logs of calls in PostgreSQL."""

from __future__ import annotations

from typing import Final, LiteralString

CALL_TABLES: Final = ("call_logs", "calls", "call_texts", "call_stages", "call_sessions")
"""The tables of a log, each with a column for the tenant."""

# Texts are compared and sorted by code points, as SQLite and Python do. `words` and `body` are stored outside of their
# row, so that lists read small rows.
CREATE_CALL_TABLES: Final[LiteralString] = """
CREATE TABLE keyhole.call_logs (
    tenant uuid PRIMARY KEY, changes bigint NOT NULL, calls bigint NOT NULL DEFAULT 0, bytes bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE keyhole.calls (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant uuid NOT NULL, id text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL, client text COLLATE "C" NOT NULL, origin text COLLATE "C" NOT NULL,
    tool text COLLATE "C" NOT NULL, query text COLLATE "C" NOT NULL, target text COLLATE "C" NOT NULL,
    started_at double precision NOT NULL, seconds double precision NOT NULL, outcome text COLLATE "C" NOT NULL,
    budget bigint NOT NULL, result_bytes bigint NOT NULL, tokens bigint NOT NULL, read_chars bigint NOT NULL,
    shown_chars bigint NOT NULL, follows text COLLATE "C" NOT NULL, relation text COLLATE "C" NOT NULL,
    miss text COLLATE "C" NOT NULL, folder text COLLATE "C" NOT NULL,
    run text COLLATE "C" NOT NULL, request text COLLATE "C" NOT NULL, size bigint NOT NULL,
    sites text COLLATE "C" NOT NULL, words text COLLATE "C" NOT NULL, body bytea NOT NULL, UNIQUE (tenant, id)
) WITH (toast_tuple_target = 512);
ALTER TABLE keyhole.calls ALTER body SET STORAGE EXTERNAL;
CREATE INDEX calls_by_time ON keyhole.calls (tenant, started_at, id);
CREATE INDEX calls_by_session ON keyhole.calls (tenant, session, started_at, id);
CREATE INDEX calls_by_run ON keyhole.calls (tenant, run) WHERE run <> '';
CREATE INDEX calls_by_client ON keyhole.calls (tenant, client, started_at, id);
CREATE INDEX calls_by_tool ON keyhole.calls (tenant, tool, started_at, id);
CREATE INDEX calls_by_outcome ON keyhole.calls (tenant, outcome, started_at, id);
CREATE INDEX calls_by_miss ON keyhole.calls (tenant, started_at, id) WHERE miss <> '';
CREATE INDEX calls_by_follows ON keyhole.calls (tenant, follows, started_at, id) WHERE follows <> '';
CREATE TABLE keyhole.call_texts (
    call bigint NOT NULL REFERENCES keyhole.calls ON DELETE CASCADE, number integer NOT NULL, tenant uuid NOT NULL,
    text_id text COLLATE "C" NOT NULL, url text NOT NULL, title text NOT NULL, chars bigint NOT NULL,
    spans text NOT NULL, state text NOT NULL, is_stored integer NOT NULL, site text COLLATE "C" NOT NULL,
    PRIMARY KEY (call, number)
);
CREATE INDEX call_texts_by_id ON keyhole.call_texts (tenant, text_id, call) WHERE text_id <> '';
CREATE TABLE keyhole.call_stages (
    call bigint NOT NULL REFERENCES keyhole.calls ON DELETE CASCADE, name text COLLATE "C" NOT NULL,
    tenant uuid NOT NULL, seconds double precision NOT NULL, PRIMARY KEY (call, name)
);
CREATE TABLE keyhole.call_sessions (
    tenant uuid NOT NULL, id text COLLATE "C" NOT NULL, client text COLLATE "C" NOT NULL,
    first_at double precision NOT NULL, last_at double precision NOT NULL, calls bigint NOT NULL,
    errors bigint NOT NULL, misses bigint NOT NULL, tokens bigint NOT NULL, result_bytes bigint NOT NULL,
    read_chars bigint NOT NULL, shown_chars bigint NOT NULL, PRIMARY KEY (tenant, id)
);
CREATE INDEX call_sessions_by_time ON keyhole.call_sessions (tenant, last_at, id)
"""
