"""What a tenant asks of all servers together: its rate, its calls at once; through PostgreSQL. Refuses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal

from keyhole.serve.http.limits.shared import tables
from keyhole.serve.http.limits.shared.leases import Leases

GRACE: Final = 0.05
"""Seconds after which a place is asked for once more: places are given back behind answers, and a client with as many
calls under way as it may have begins the next one at once, perhaps with another server."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a call may begin, for all that the other servers know."""

    refused: Literal["", "calls_at_once", "calls_per_minute"] = ""
    wait: float = 0.0
    """Seconds until it may, where the rate is used up."""
    lease: str = ""
    """What to give back when the call has ended; "" where the database is away."""


class SharedCalls:
    """Counts the calls of every tenant in the database."""

    def __init__(
        self,
        leases: Leases,
        per_minute: int,
        at_once: int,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._leases = leases
        self.pause = pause
        self._most = at_once
        self._each = 60.0 / per_minute

    async def begin(self, tenant: str) -> Verdict:
        """Ask for one call. Where the database is away, it is let through: a server's own limits still hold."""
        verdict = await self._asked(tenant)
        if verdict.refused == "calls_at_once":
            await self.pause(GRACE)
            verdict = await self._asked(tenant)
        return verdict

    async def _asked(self, tenant: str) -> Verdict:
        values = {"most": self._most, "each": self._each, "burst": 60.0}
        holder, rows = await self._leases.take(tables.ADMIT, _name(tenant), values)
        if rows is None:
            return Verdict()
        leased, rated, full_in = rows[0]
        if not leased:
            return Verdict("calls_at_once")
        if not rated:
            self.end(tenant, holder)
            return Verdict("calls_per_minute", max(full_in + self._each - 60.0, 0.0))
        self._leases.keep(_name(tenant), holder)
        return Verdict(lease=holder)

    def end(self, tenant: str, lease: str) -> None:
        """Give a lease back, in the background."""
        self._leases.free(_name(tenant), lease)

    async def aclose(self) -> None:
        """Close the link."""
        await self._leases.aclose()


def _name(tenant: str) -> str:
    """A tenant's row: no name, whatever is in it, upsets the database, and none is a host's."""
    return "tenant:" + sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()
