"""How hard all servers together press a host, through PostgreSQL: the port of fetch/manners.py. Waits for nothing."""

from __future__ import annotations

from keyhole.serve.http.limits.shared import tables
from keyhole.serve.http.limits.shared.leases import Leases


class SharedHosts:
    """Counts the connections to every host in the database, and keeps the waits that hosts asked for."""

    def __init__(self, leases: Leases) -> None:
        self._leases = leases

    async def take(self, host: str, most: int) -> str | None:
        """See `fetch.manners.Others`."""
        holder, rows = await self._leases.take(tables.TAKE_LEASE, _name(host), {"most": most})
        if rows is None:
            return ""
        if not rows:
            return None
        self._leases.keep(_name(host), holder)
        return holder

    def give_back(self, host: str, lease: str) -> None:
        """See `fetch.manners.Others`."""
        self._leases.free(_name(host), lease)

    async def left(self, host: str) -> float:
        """See `fetch.manners.Others`."""
        rows = await self._leases.link.ask(tables.LEFT, {"host": host})
        return float(rows[0][0]) if rows else 0.0

    async def leave_alone(self, host: str, seconds: float) -> None:
        """See `fetch.manners.Others`."""
        await self._leases.link.ask(tables.LEAVE_ALONE, {"host": host, "seconds": seconds})

    async def aclose(self) -> None:
        """Close the link."""
        await self._leases.aclose()


def _name(host: str) -> str:
    return f"host:{host}"
