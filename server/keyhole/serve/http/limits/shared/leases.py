"""Places that one server takes from all for a few seconds at a time, and keeps for as long as it lives. Counts none."""

from __future__ import annotations

import asyncio
import secrets
from typing import Final

from keyhole.serve.http.limits.shared import tables
from keyhole.serve.http.limits.shared.link import Link, Rows, Values

SECONDS: Final = 8.0
"""After which a lease that nobody renews is free: so long are the places of a server that died taken."""
RENEWED: Final = 2.0
"""Seconds between renewals of all that a server holds: three may be late before anything is lost, and what is held for
less than that, as most pages are, costs none."""


class Leases:
    """The leases that this server holds over one link."""

    def __init__(self, link: Link, seconds: float = SECONDS, renewed: float = RENEWED) -> None:
        self.link = link
        self._seconds = seconds
        self._renewed = renewed
        self._held: dict[str, str] = {}
        self._renewing: asyncio.Task[None] | None = None

    async def take(self, statement: str, name: str, values: Values) -> tuple[str, Rows | None]:
        """Run a statement that may take a lease of this name, as tables.TAKE_LEASE does: the lease to keep or to free
        if it did, and what it said."""
        lease: dict[str, object] = {"name": name, "holder": (holder := secrets.token_hex(8))}
        values = {**values, **lease, "seconds": self._seconds}
        return holder, await self.link.ask(statement, values, undo=(tables.FREE_LEASE, lease))

    def keep(self, name: str, holder: str) -> None:
        """Renew a lease until it is freed."""
        self._held[holder] = name
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.get_running_loop().create_task(self._renew())

    def free(self, name: str, holder: str) -> None:
        """Give a lease back, in the background."""
        self._held.pop(holder, None)
        self.link.tell(tables.FREE_LEASE, {"name": name, "holder": holder})

    async def aclose(self) -> None:
        """Renew no more, and close the link."""
        self._held.clear()
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.wait({self._renewing})
        await self.link.aclose()

    async def _renew(self) -> None:
        while self._held:
            await asyncio.sleep(self._renewed)
            values = {"names": sorted(set(self._held.values())), "holders": list(self._held)}
            if self._held:
                await self.link.ask(tables.RENEW_LEASES, {**values, "seconds": self._seconds})
