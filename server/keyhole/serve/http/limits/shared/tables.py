"""SQL of the shared limits: the tables and their statements.

Statements use the database's clock, since the clocks of servers differ. The tables are UNLOGGED, so that no statement
waits for a disk. A crash of the database may empty them, but their rows matter only for a minute.
"""

from __future__ import annotations

from typing import Final

LOCK_ID: Final = 0x6B65_7968_6F6C_6531
"""Id of the advisory lock (`keyhole1`) for creating tables, so that servers that start together do not collide."""

CREATE: Final = (
    # A server that is suspended while it creates the tables must not hold the lock for ever.
    "SET LOCAL idle_in_transaction_session_timeout = 10000",
    "SELECT pg_advisory_xact_lock(%(lock)s)",
    # fillfactor leaves free space in every page, so that a row's next version fits and no index is updated.
    """CREATE UNLOGGED TABLE IF NOT EXISTS keyhole_leases (
        name text PRIMARY KEY, holders text[] NOT NULL, untils timestamptz[] NOT NULL) WITH (fillfactor = 50)""",
    """CREATE UNLOGGED TABLE IF NOT EXISTS keyhole_rates (
        name text PRIMARY KEY, full_at timestamptz NOT NULL) WITH (fillfactor = 50)""",
    """CREATE UNLOGGED TABLE IF NOT EXISTS keyhole_waits (
        host text PRIMARY KEY, until timestamptz NOT NULL) WITH (fillfactor = 50)""",
)

TAKE_LEASE: Final = """
    INSERT INTO keyhole_leases AS l (name, holders, untils)
    VALUES (%(name)s, ARRAY[%(holder)s], ARRAY[now() + make_interval(secs => %(seconds)s)])
    ON CONFLICT (name) DO UPDATE SET (holders, untils) = (
        SELECT array_agg(holder), array_agg(until) FROM (
            SELECT holder, until FROM unnest(l.holders, l.untils) AS held (holder, until) WHERE until > now()
            UNION ALL SELECT excluded.holders[1], excluded.untils[1]) AS live (holder, until))
    WHERE (SELECT count(*) FROM unnest(l.untils) AS until WHERE until > now()) < %(most)s
    RETURNING true"""
"""Take a lease if fewer than `most` are held; return a row if it was taken. A name has one row, whose lock puts
concurrent statements in order. Expired leases, of servers that died, are removed at the same time."""

FREE_LEASE: Final = """
    UPDATE keyhole_leases SET (holders, untils) = (
        SELECT coalesce(array_agg(holder), '{}'), coalesce(array_agg(until), '{}')
        FROM unnest(holders, untils) AS held (holder, until) WHERE holder <> %(holder)s AND until > now())
    WHERE name = %(name)s"""

RENEW_LEASES: Final = """
    UPDATE keyhole_leases SET untils = (
        SELECT array_agg(
            CASE WHEN holder = ANY(%(holders)s) THEN now() + make_interval(secs => %(seconds)s) ELSE until END
            ORDER BY place)
        FROM unnest(holders, untils) WITH ORDINALITY AS held (holder, until, place))
    WHERE name IN (
        SELECT name FROM keyhole_leases
        WHERE name = ANY(%(names)s) AND holders && %(holders)s ORDER BY name FOR UPDATE)"""
"""Renew all leases of a server. Rows are locked in the order of their names, so that two servers do not deadlock."""

ADMIT: Final = f"""
    WITH lease AS ({TAKE_LEASE}),
    rate AS (
        INSERT INTO keyhole_rates AS r (name, full_at)
        SELECT %(name)s, now() + make_interval(secs => %(each)s) WHERE EXISTS (SELECT FROM lease)
        ON CONFLICT (name) DO UPDATE
            SET full_at = greatest(r.full_at, now()) + make_interval(secs => %(each)s)
            WHERE greatest(r.full_at, now()) + make_interval(secs => %(each)s)
                <= now() + make_interval(secs => %(burst)s)
        RETURNING true)
    SELECT EXISTS (SELECT FROM lease), EXISTS (SELECT FROM rate), coalesce(
        (SELECT extract(epoch FROM full_at - now()) FROM keyhole_rates WHERE name = %(name)s), 0)::float8"""  # noqa: S608
"""Take a lease and, if there is one, a token of the rate's bucket (limits/token_bucket.py computes the same). Return
whether each was taken, and in how many seconds the bucket, before this statement, would have been full."""

READ_WAIT: Final = "SELECT extract(epoch FROM until - now())::float8 FROM keyhole_waits WHERE host = %(host)s"

SET_WAIT: Final = """
    INSERT INTO keyhole_waits AS w (host, until) VALUES (%(host)s, now() + make_interval(secs => %(seconds)s))
    ON CONFLICT (host) DO UPDATE SET until = greatest(w.until, excluded.until)"""

SWEEP: Final = """
    WITH leases AS (
        DELETE FROM keyhole_leases WHERE name = ANY(ARRAY(
            SELECT name FROM keyhole_leases
            WHERE NOT EXISTS (SELECT FROM unnest(untils) AS until WHERE until > now())
            LIMIT %(batch)s FOR UPDATE SKIP LOCKED))),
    rates AS (
        DELETE FROM keyhole_rates WHERE name = ANY(ARRAY(
            SELECT name FROM keyhole_rates WHERE full_at < now() LIMIT %(batch)s FOR UPDATE SKIP LOCKED)))
    DELETE FROM keyhole_waits WHERE host = ANY(ARRAY(
        SELECT host FROM keyhole_waits WHERE until < now() LIMIT %(batch)s FOR UPDATE SKIP LOCKED))"""
"""Delete up to `batch` expired rows of each table; a missing row means the same as an expired one."""
