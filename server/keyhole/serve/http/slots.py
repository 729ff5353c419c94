"""Limit concurrent work: slots of one kind, limited per tenant and in total."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final

from keyhole.runtime.fair_slots import FairSlots

WAITING_PER_SLOT: Final = 8
"""Calls that may wait for each slot of a tenant or of the server: as many as get one in time if each takes a second."""


@dataclass(slots=True)
class Slots:
    """Slots of one kind. Tenants without a slot take no memory."""

    per_tenant: int
    """Maximum slots of one tenant."""
    total: int
    """Maximum slots of all tenants."""
    in_use: int = 0
    _held: Counter[str] = field(default_factory=Counter)

    def is_full(self) -> bool:
        """Return whether all slots are in use."""
        return self.in_use >= self.total

    def is_full_for(self, tenant: str) -> bool:
        """Return whether a tenant holds as many slots as allowed."""
        return self._held[tenant] >= self.per_tenant if tenant in self._held else False

    def slot(self, tenant: str) -> Slot:
        """Return a slot that is acquired when its `with` block begins. The caller must check the limits before."""
        return Slot(tenant, self.acquire, self.release)

    def acquire(self, tenant: str) -> None:
        """Count one more slot of a tenant."""
        self._held[tenant] += 1
        self.in_use += 1

    def release(self, tenant: str) -> None:
        """Count one slot of a tenant less."""
        self._held[tenant] -= 1
        self.in_use -= 1
        if not self._held[tenant]:
            del self._held[tenant]


@dataclass(slots=True)
class CallSlots:
    """The slots of calls, for which calls wait in fair turn: see runtime/fair_slots.py."""

    per_tenant: int
    """Maximum slots of one tenant."""
    total: int
    """Maximum slots of all tenants."""
    _slots: FairSlots = field(init=False)

    def __post_init__(self) -> None:
        self._slots = FairSlots(self.total, most=self.per_tenant)

    async def slot(self, tenant: str, seconds: float) -> Slot | None:
        """Return a slot for one `with` block, None if none was free for `seconds` or too many calls wait."""
        waiting, all_waiting = self._slots.waiting(tenant), self._slots.all_waiting()
        if waiting >= self.per_tenant * WAITING_PER_SLOT or all_waiting >= self.total * WAITING_PER_SLOT:
            return None
        try:
            async with asyncio.timeout(seconds):
                await self._slots.acquire(tenant)
        except TimeoutError:
            return None
        return Slot(tenant, self._slots.count, self._slots.release, is_acquired=True)

    @property
    def in_use(self) -> int:
        """The number of slots that calls hold."""
        return self._slots.in_use

    def is_full_for(self, tenant: str) -> bool:
        """Return whether a tenant holds as many slots as allowed."""
        return self._slots.held(tenant) >= self.per_tenant


class Slot:
    """One slot, acquired by the first `with` block on it and released by the last.

    Both the request and the work that it started have such a block: in a session the work goes on after the request's
    connection is lost, as the protocol requires.
    """

    def __init__(
        self, tenant: str, acquire: Callable[[str], None], release: Callable[[str], None], *, is_acquired: bool = False
    ) -> None:
        self._tenant = tenant
        self._acquire = acquire
        self._release = release
        self._is_acquired = is_acquired
        self._holders = 0

    @property
    def is_detached(self) -> bool:
        """True if one `with` block remains: the work's, after its request has ended."""
        return self._holders == 1

    def __enter__(self) -> None:
        if not self._holders and not self._is_acquired:
            # Work that starts after its request has ended counts too, even beyond the limit.
            self._acquire(self._tenant)
        self._is_acquired = False
        self._holders += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._holders -= 1
        if not self._holders:
            self._release(self._tenant)
