"""What a tenant asks of all servers together: its rate, its calls at once; through PostgreSQL. Refuses nothing."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal

from keyhole.replicas import tables
from keyhole.replicas.link import Link

MARGIN: Final = 15.0
"""Seconds that a lease outlasts the deadline of the longest call: for the answer on its way. After a server died, its
tenants' places come back that much after its calls would have ended."""


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

    def __init__(self, link: Link, per_minute: int, at_once: int, longest: float) -> None:
        """`longest`: seconds that a call takes at most."""
        self._link = link
        self._most = at_once
        self._each = 60.0 / per_minute
        self._seconds = longest + MARGIN

    async def begin(self, tenant: str) -> Verdict:
        """Ask for one call. Where the database is away, it is let through: a server's own limits still hold."""
        name, holder = _name(tenant), secrets.token_hex(8)
        lease = {"name": name, "holder": holder}
        values = {**lease, "seconds": self._seconds, "most": self._most, "each": self._each, "burst": 60.0}
        rows = await self._link.ask(tables.ADMIT, values, undo=(tables.FREE_LEASE, lease))
        if rows is None:
            return Verdict()
        leased, rated, full_in = rows[0]
        if not leased:
            return Verdict("calls_at_once")
        if rated:
            return Verdict(lease=holder)
        self.end(tenant, holder)
        return Verdict("calls_per_minute", max(full_in + self._each - 60.0, 0.0))

    def end(self, tenant: str, lease: str) -> None:
        """Give a lease back, in the background."""
        self._link.tell(tables.FREE_LEASE, {"name": _name(tenant), "holder": lease})

    async def aclose(self) -> None:
        """Close the link."""
        await self._link.aclose()


def _name(tenant: str) -> str:
    """A tenant's row: no name, whatever is in it, upsets the database, and none is a host's."""
    return "tenant:" + sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()
