"""The protocol of the stores and logs of all tenants of a server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from keyhole.store.base import Store
from keyhole.store.calls.base import CallLog


class Stores(Protocol):
    """The stores of all tenants of a server. Authentication determines the tenant of a call."""

    def for_tenant(self, tenant: str) -> tuple[Store, bytes]:
        """Return a tenant's store and the secret of its ids. The store is opened by its first use."""
        ...

    def calls_for(self, tenant: str) -> CallLog:
        """Return a tenant's log of calls, which is opened by its first use."""
        ...

    def all_tenants(self, names: Iterable[str]) -> Iterator[tuple[str, Store, CallLog]]:
        """Yield the name, the store and the log of each tenant that has stored something, open until the next tenant is
        yielded.

        Stores do not contain tenants' names: a tenant that is not among `names` is called by the beginning of its hash.
        Raises KeyholeError(store_unavailable) if the tenants cannot be listed.
        """
        ...

    def remove_files(self, tenant: str, *, everything: bool) -> int:
        """Delete the copies of a tenant's damaged store and log beside them, and return the number of deleted files.

        `everything`: True to delete also the outputs that other processes have left for the store or are still writing.
        """
        ...

    def warning(self) -> str:
        """Return the code of the current problem of any store, or ""."""
        ...

    def close(self) -> None:
        """Close all open stores."""
        ...
