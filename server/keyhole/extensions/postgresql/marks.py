"""SQL for the mark that tells a tenant's servers what is forgotten, and for the lock that orders it with their writes.

A transaction that stores something takes a shared lock and then reads the mark. A command that forgets writes the mark
and then takes the lock exclusively. By then, all transactions that did not see the mark have ended, and the command
removes what they stored.
"""

from __future__ import annotations

from typing import Final, LiteralString
from uuid import UUID

from keyhole.extensions.postgresql.database import Connection
from keyhole.store.forget_mark import NO_MARK, ForgetMark

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
    """Return the SQL that takes the shared lock. A transaction that stores something begins with it."""
    return f"SELECT pg_advisory_xact_lock_shared({_lock_number(tenant)}); "


def own_lock(tenant: UUID) -> str:
    """Return the SQL that takes the exclusive lock: it waits for transactions that may not have seen the mark."""
    return f"SELECT pg_advisory_xact_lock({_lock_number(tenant)}); "


def _lock_number(tenant: UUID) -> int:
    return int.from_bytes(tenant.bytes[:8], "big", signed=True)


def add_mark(connection: Connection, tenant: UUID, mark: ForgetMark) -> None:
    """Merge a mark with the one of a tenant."""
    connection.execute(_ADD_MARK, [tenant, mark.before, mark.at])


def read_mark(connection: Connection, tenant: UUID) -> ForgetMark:
    """Return the mark of a tenant."""
    row = connection.execute("SELECT before, at FROM keyhole.forgets WHERE tenant = %s", [tenant]).fetchone()
    return ForgetMark(row["before"], row["at"]) if row else NO_MARK
