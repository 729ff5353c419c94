"""The port to the network, so that what is above it can be tested without one. Implementations are elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from keyhole.fetch.validators import Validators
from keyhole.records import Page


@dataclass(frozen=True, slots=True)
class Terms:
    """What one call adds to the operator's settings."""

    until: float = 0.0
    """The call's deadline in seconds of the event loop's clock: a site's `Retry-After` is obeyed where it fits."""
    permits: Callable[[str], bool] = bool  # every URL is more than nothing
    """Whether the call wants this URL, asked at every hop; refused as domain_not_allowed."""
    known: Validators | None = None
    """What the server said of the text that is stored: the request is conditional."""


ANY = Terms()
"""No time to wait, any site."""


class Fetcher(Protocol):
    """The port to the network: the real one is HttpFetcher, tests bring their own."""

    async def fetch(self, url: str, terms: Terms = ANY) -> Page:
        """The page at a URL, redirects followed. Raises KeyholeError for every failure.

        Where `terms` have validators, a page of status 304 and without a body says that what they belong to is still
        the same. Without, there is no such page.
        """
        ...

    async def get_json(self, url: str) -> bytes:
        """The body of an API that the operator configured, which may stand on a private address."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...
