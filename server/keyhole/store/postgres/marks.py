"""SQL for the mark that tells the servers of a tenant what is forgotten, and the locks that order it and their writes.

A transaction that stores something shares a lock and then reads the mark. Who forgets writes the mark, and then waits
for the lock: a transaction that did not see the mark has ended then, and what it stored is removed.
"""

from __future__ import annotations

from typing import Final, LiteralString
from uuid import UUID

from keyhole.store.forget_mark import NO_MARK, Mark
from keyhole.store.postgres.database import Connection

CREATE_FORGETS: Final[LiteralString] = """
CREATE TABLE keyhole.forgets (
    tenant uuid PRIMARY KEY, before double precision NOT NULL, at double precision NOT NULL
)
"""
_ADD_MARK: Final = """
INSERT INTO keyhole.forgets AS f (tenant, before, at) VALUES (%s, %s, %s) ON CONFLICT (tenant) DO UPDATE
SET before = greatest(f.before, excluded.before), at = greatest(f.at, excluded.at)
"""


def share_lock(tenant: UUID) -> str:
    """Return the SQL that a transaction which stores something begins with."""
    return f"SELECT pg_advisory_xact_lock_shared({_lock_number(tenant)}); "


def own_lock(tenant: UUID) -> str:
    """Return the SQL that waits until the transactions have ended that began before the mark, and may not see it."""
    return f"SELECT pg_advisory_xact_lock({_lock_number(tenant)}); "


def _lock_number(tenant: UUID) -> int:
    return int.from_bytes(tenant.bytes[:8], "big", signed=True)


def add_mark(connection: Connection, tenant: UUID, mark: Mark) -> None:
    """Add a mark to that of a tenant."""
    connection.execute(_ADD_MARK, [tenant, mark.before, mark.at])


def read_mark(connection: Connection, tenant: UUID) -> Mark:
    """Return the mark of a tenant."""
    row = connection.execute("SELECT before, at FROM keyhole.forgets WHERE tenant = %s", [tenant]).fetchone()
    return Mark(row["before"], row["at"]) if row else NO_MARK
