"""Share the limits on each tenant's calls among servers, through PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal

from keyhole.config.config import Config
from keyhole.serve.http.limits.shared import tables
from keyhole.serve.http.limits.shared.leases import Leases
from keyhole.serve.http.limits.shared.link import Link

RETRY_DELAY: Final = 0.05
"""Seconds until the only retry of a refused lease: leases are released after the answer is sent, and a client at its
limit may start its next call at once on another server."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision of the shared limits on a call."""

    refused: Literal["", "calls_at_once", "calls_per_minute"] = ""
    wait: float = 0.0
    """Seconds until a call is allowed, if `refused` is `calls_per_minute`."""
    lease: str = ""
    """The lease to release when the call ends; "" if the database is unavailable."""


def open_shared_calls(config: Config) -> SharedCalls | None:
    """Return the shared limits on calls if the store is PostgreSQL, else None."""
    if not config.store.startswith("postgres"):
        return None
    return SharedCalls(Leases(Link(config.store)), config.calls_per_minute, config.calls_at_once)


class SharedCalls:
    """Counts of all tenants' calls in the database."""

    def __init__(
        self,
        leases: Leases,
        per_minute: int,
        at_once: int,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._leases = leases
        self.sleep = sleep
        self._at_once = at_once
        self._interval = 60.0 / per_minute

    async def begin(self, tenant: str) -> Verdict:
        """Return the decision on starting a call.

        If the database is unavailable, the call is allowed: the server's own limits still apply.
        """
        verdict = await self._try_begin(tenant)
        if verdict.refused == "calls_at_once":
            await self.sleep(RETRY_DELAY)
            verdict = await self._try_begin(tenant)
        return verdict

    async def _try_begin(self, tenant: str) -> Verdict:
        values = {"most": self._at_once, "each": self._interval, "burst": 60.0}
        holder, rows = await self._leases.acquire(tables.ADMIT, _row_name(tenant), values)
        if rows is None:
            return Verdict()
        has_lease, has_token, full_in = rows[0]
        if not has_lease:
            return Verdict("calls_at_once")
        if not has_token:
            self.end(tenant, holder)
            return Verdict("calls_per_minute", max(full_in + self._interval - 60.0, 0.0))
        self._leases.start_renewing(_row_name(tenant), holder)
        return Verdict(lease=holder)

    def end(self, tenant: str, lease: str) -> None:
        """Release a lease, in the background."""
        self._leases.release(_row_name(tenant), lease)

    async def aclose(self) -> None:
        """Close the link."""
        await self._leases.aclose()


def _row_name(tenant: str) -> str:
    """Return the name of a tenant's row: a prefix that no host has, and a hash, since the name may be invalid text."""
    return "tenant:" + sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()
