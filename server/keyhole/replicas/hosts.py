"""How hard all servers together press a host, through PostgreSQL: the port of fetch/manners.py. Waits for nothing."""

from __future__ import annotations

import secrets

from keyhole.replicas import tables
from keyhole.replicas.link import Link


class SharedHosts:
    """Counts the connections to every host in the database, and keeps the waits that hosts asked for."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def take(self, host: str, most: int, seconds: float) -> str | None:
        """See `fetch.manners.Others`."""
        lease = {"name": f"host:{host}", "holder": secrets.token_hex(8)}
        values = {**lease, "most": most, "seconds": seconds}
        rows = await self._link.ask(tables.TAKE_LEASE, values, undo=(tables.FREE_LEASE, lease))
        if rows is None:
            return ""
        return lease["holder"] if rows else None

    def give_back(self, host: str, lease: str) -> None:
        """See `fetch.manners.Others`."""
        self._link.tell(tables.FREE_LEASE, {"name": f"host:{host}", "holder": lease})

    async def left(self, host: str) -> float:
        """See `fetch.manners.Others`."""
        rows = await self._link.ask(tables.LEFT, {"host": host})
        return float(rows[0][0]) if rows else 0.0

    async def leave_alone(self, host: str, seconds: float) -> None:
        """See `fetch.manners.Others`."""
        await self._link.ask(tables.LEAVE_ALONE, {"host": host, "seconds": seconds})

    async def aclose(self) -> None:
        """Close the link."""
        await self._link.aclose()
