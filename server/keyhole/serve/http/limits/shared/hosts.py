"""Share the limits on connections to each host among servers, through PostgreSQL."""

from __future__ import annotations

from keyhole.config.config import Config
from keyhole.serve.http.limits.shared import tables
from keyhole.serve.http.limits.shared.leases import Leases
from keyhole.serve.http.limits.shared.link import Link


def open_shared_hosts(config: Config) -> SharedHosts | None:
    """Return the shared limits on hosts if the store is PostgreSQL, else None."""
    return SharedHosts(Leases(Link(config.store))) if config.store.startswith("postgres") else None


class SharedHosts:
    """Counts of connections to each host, and the pauses that hosts requested, in the database.

    Implements `fetch.host_limits.SharedHostLimits`.
    """

    def __init__(self, leases: Leases) -> None:
        self._leases = leases

    async def acquire(self, host: str, limit: int) -> str | None:
        """See `fetch.host_limits.SharedHostLimits`."""
        holder, rows = await self._leases.acquire(tables.TAKE_LEASE, _row_name(host), {"most": limit})
        if rows is None:
            return ""
        if not rows:
            return None
        self._leases.start_renewing(_row_name(host), holder)
        return holder

    def release(self, host: str, lease: str) -> None:
        """See `fetch.host_limits.SharedHostLimits`."""
        self._leases.release(_row_name(host), lease)

    async def wait_left(self, host: str) -> float:
        """See `fetch.host_limits.SharedHostLimits`."""
        rows = await self._leases.link.query(tables.READ_WAIT, {"host": host})
        return float(rows[0][0]) if rows else 0.0

    async def record_wait(self, host: str, seconds: float) -> None:
        """See `fetch.host_limits.SharedHostLimits`."""
        await self._leases.link.query(tables.SET_WAIT, {"host": host, "seconds": seconds})

    async def aclose(self) -> None:
        """Close the link."""
        await self._leases.aclose()


def _row_name(host: str) -> str:
    return f"host:{host}"
