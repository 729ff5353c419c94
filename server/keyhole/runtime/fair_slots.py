"""Share a fixed number of slots fairly among the owners of calls.

A free slot goes to the waiting owner that holds the fewest. Among those with equally many, owners take turns; the calls
of one owner are served in the order in which they began to wait. One owner uses all slots but `spare` as long as no
other owner waits. The spare ones are for owners that hold none, so that a new call need not wait for the long work of a
busy owner. `most` limits the slots of one owner.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from keyhole.runtime.owner import current_owner


class FairSlots:
    """Slots that the owners of calls share. They belong to one event loop.

    `total` includes the `spare` slots.
    """

    def __init__(self, total: int, spare: int = 0, most: int | None = None) -> None:
        self._free = total
        self._spare = spare
        self._most = total if most is None else most
        self._held: Counter[str] = Counter()
        """The number of slots of each owner that holds any."""
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """The waiting calls of each owner. The owner whose turn is next is first."""
        self._is_unused = asyncio.Event()

    @property
    def is_unused(self) -> bool:
        """True if no call holds a slot or waits for one."""
        return not self._held and not self._waiting

    @property
    def in_use(self) -> int:
        """The number of slots that calls hold."""
        return sum(self._held.values())

    @property
    def is_exhausted(self) -> bool:
        """True if no slot is free or calls wait for one."""
        return not self._free or bool(self._waiting)

    def has_free(self) -> bool:
        """Return True if the running call would get a slot at once."""
        return self._may_take(current_owner())

    def held(self, owner: str) -> int:
        """Return the number of slots that an owner holds."""
        return self._held.get(owner, 0)

    def waiting(self, owner: str) -> int:
        """Return the number of calls of an owner that wait for a slot."""
        return len(self._waiting.get(owner, ()))

    def all_waiting(self) -> int:
        """Return the number of calls that wait for a slot."""
        return sum(map(len, self._waiting.values()))

    def demand(self) -> int:
        """Return the number of slots that the owner of the running call holds or waits for."""
        owner = current_owner()
        return self.held(owner) + self.waiting(owner)

    async def wait_unused(self) -> None:
        """Wait until no call holds a slot or waits for one."""
        while not self.is_unused:
            self._is_unused.clear()
            await self._is_unused.wait()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold a slot for the owner of the running call, and wait for it."""
        owner = current_owner()
        await self.acquire(owner)
        try:
            yield
        finally:
            self.release(owner)

    async def acquire(self, owner: str) -> None:
        """Take a slot for an owner, and wait for it."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(turn)
        self._grant()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._forget(owner, turn)
            else:  # granted just before the call was cancelled
                self.release(owner)
            raise

    def count(self, owner: str) -> None:
        """Take a slot for work of an owner that has begun already, even if none is free."""
        self._free -= 1
        self._held[owner] += 1

    def release(self, owner: str) -> None:
        """Free a slot of an owner."""
        self._free += 1
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]
        self._grant()
        if self.is_unused:
            self._is_unused.set()

    def _grant(self) -> None:
        """Give free slots to waiting calls until no waiting owner may take one."""
        while owners := [owner for owner in self._waiting if self._may_take(owner)]:
            owner = min(owners, key=self.held)
            queue = self._waiting.pop(owner)
            turn = queue.popleft()
            if queue:
                self._waiting[owner] = queue  # now the last in turn
            if not turn.done():  # a cancelled call may still be in the queue
                turn.set_result(None)
                self.count(owner)

    def _may_take(self, owner: str) -> bool:
        return self._free > (self._spare if owner in self._held else 0) and self.held(owner) < self._most

    def _forget(self, owner: str, turn: asyncio.Future[None]) -> None:
        """Remove a cancelled call from its owner's queue, if it is still there."""
        queue = self._waiting.get(owner, deque())
        if turn in queue:
            queue.remove(turn)
        if not queue:
            self._waiting.pop(owner, None)
