"""How much may be under way at once: places of a kind, so many for each tenant and so many in all. Counting only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType


@dataclass(slots=True)
class Places:
    """Places of one kind; a tenant that holds none is not remembered."""

    each: int
    """How many one tenant may hold."""
    all: int
    """How many there are."""
    taken: int = 0
    _held: Counter[str] = field(default_factory=Counter)

    def full(self) -> bool:
        """Whether none is left for anybody."""
        return self.taken >= self.all

    def full_for(self, tenant: str) -> bool:
        """Whether a tenant holds as many as it may."""
        return self._held[tenant] >= self.each if tenant in self._held else False

    def hold(self, tenant: str) -> Hold:
        """A place, to be taken by entering it. Whether there is room must have been asked."""
        return Hold(self, tenant)

    def take(self, tenant: str) -> None:
        """One more."""
        self._held[tenant] += 1
        self.taken += 1

    def free(self, tenant: str) -> None:
        """One less."""
        self._held[tenant] -= 1
        self.taken -= 1
        if not self._held[tenant]:
            del self._held[tenant]

    def tenants(self) -> int:
        """How many tenants hold any."""
        return len(self._held)


class Hold:
    """One place, held while anybody is inside: the HTTP request, and the work that it began. Within a session the work
    goes on when the request's connection is lost, as the protocol wants; then it holds the place to its own end."""

    def __init__(self, places: Places, tenant: str) -> None:
        self._places = places
        self._tenant = tenant
        self._inside = 0
        self._then: Callable[[], None] | None = None

    def on_free(self, then: Callable[[], None]) -> None:
        """Do something when the place is free again, once."""
        self._then = then

    @property
    def left(self) -> bool:
        """Whether the work goes on alone: the request has ended before it."""
        return self._inside == 1

    def __enter__(self) -> None:
        if not self._inside:
            # Also for work that begins only after its request has gone: it counts, even beyond the bound.
            self._places.take(self._tenant)
        self._inside += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inside -= 1
        if not self._inside:
            self._places.free(self._tenant)
            then, self._then = self._then, None
            if then is not None:
                then()
