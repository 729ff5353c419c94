"""Conditions for the texts and calls that are forgotten. Every store and log applies these functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from keyhole.store.filters import Filters
from keyhole.text.sites import is_allowed_by_sites


@dataclass(frozen=True, slots=True)
class Scope:
    """Conditions that must all be met. An empty field is met by everything."""

    urls: tuple[str, ...] = ()
    """Addresses, one of which a text or a call must have. The fragment and the case of the host do not count."""
    sites: tuple[str, ...] = ()
    """Hosts, under one of which an address must be."""
    before: float | None = None
    """The time before which a text was fetched, or a call started."""
    clients: tuple[str, ...] = ()
    """Names of clients, one of which must have made a call. A name without a version stands for all its versions."""

    @property
    def is_all(self) -> bool:
        """Return whether everything is in the scope."""
        return self == ALL

    def includes_text(self, addresses: Iterable[str], fetched_at: float) -> bool:
        """Return whether a text is in the scope. The scope's clients are ignored."""
        return (self.before is None or fetched_at < self.before) and self._includes_address(addresses)

    def includes_call(self, client: str, addresses: Iterable[str], started_at: float) -> bool:
        """Return whether a call is in the scope. `client`: the client's name and version."""
        is_client = not self.clients or client in self.clients or client.rpartition(" ")[0] in self.clients
        return is_client and self.includes_text(addresses, started_at)

    def includes_trace(self, address: str) -> bool:
        """Return whether a record that has only an address is in the scope. The date and the clients are ignored."""
        return self._includes_address((address,))

    def _includes_address(self, addresses: Iterable[str]) -> bool:
        if not self.urls and not self.sites:
            return True
        wanted = {normalize_address(url) for url in self.urls}
        return any(
            (not wanted or normalize_address(address) in wanted)
            and (not self.sites or is_allowed_by_sites(address, Filters(sites=self.sites)))
            for address in addresses
        )


ALL: Final = Scope()


def normalize_address(url: str) -> str:
    """Return a URL without its fragment, with the scheme and the host in lower case, and a path."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return urlunsplit((parts.scheme, parts.netloc.lower(), parts.path or "/", parts.query, "")) if parts.netloc else url
