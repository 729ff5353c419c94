"""Acquire leases in PostgreSQL. A server renews the leases that it holds; they expire soon after it dies."""

from __future__ import annotations

import asyncio
import secrets
from typing import Final

from keyhole.serve.http.limits.shared import tables
from keyhole.serve.http.limits.shared.link import Link, Rows, Values

LEASE_SECONDS: Final = 8.0
"""Seconds after which a lease expires unless it is renewed: the leases of a dead server are in use until then."""
RENEW_INTERVAL: Final = 2.0
"""Seconds between renewals of all leases of a server: three renewals may fail before a lease expires. Most leases are
released sooner and never renewed."""


class Leases:
    """The leases that this server holds over one link."""

    def __init__(self, link: Link, seconds: float = LEASE_SECONDS, renew_interval: float = RENEW_INTERVAL) -> None:
        self.link = link
        self._seconds = seconds
        self._renew_interval = renew_interval
        self._held: dict[str, str] = {}
        """Name of each lease by its holder's id."""
        self._renewal: asyncio.Task[None] | None = None

    async def acquire(self, statement: str, name: str, values: Values) -> tuple[str, Rows | None]:
        """Run a statement that may acquire a lease of this name, such as tables.TAKE_LEASE.

        Returns the holder's id, and the statement's rows or None. If the statement acquired the lease, the caller must
        call `start_renewing` or `release`.
        """
        lease: dict[str, object] = {"name": name, "holder": (holder := secrets.token_hex(8))}
        values = {**values, **lease, "seconds": self._seconds}
        return holder, await self.link.query(statement, values, undo=(tables.FREE_LEASE, lease))

    def start_renewing(self, name: str, holder: str) -> None:
        """Renew a lease at intervals until it is released."""
        self._held[holder] = name
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.get_running_loop().create_task(self._renew())

    def release(self, name: str, holder: str) -> None:
        """Release a lease, in the background."""
        self._held.pop(holder, None)
        self.link.execute_later(tables.FREE_LEASE, {"name": name, "holder": holder})

    async def aclose(self) -> None:
        """Stop renewing, and close the link."""
        self._held.clear()
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.wait({self._renewal})
        await self.link.aclose()

    async def _renew(self) -> None:
        while self._held:
            await asyncio.sleep(self._renew_interval)
            values = {"names": sorted(set(self._held.values())), "holders": list(self._held)}
            if self._held:
                await self.link.query(tables.RENEW_LEASES, {**values, "seconds": self._seconds})
