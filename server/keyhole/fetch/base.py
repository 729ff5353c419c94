"""The port to the network, so that what is above it can be tested without one. Implementations are elsewhere."""

from __future__ import annotations

from typing import Protocol

from keyhole.fetch.validators import Validators
from keyhole.records import Page


class Fetcher(Protocol):
    """The port to the network: the real one is HttpFetcher, tests bring their own."""

    async def fetch(self, url: str, known: Validators | None = None) -> Page:
        """The page at a URL, redirects followed. Raises KeyholeError for every failure.

        With `known` the request is conditional: a page of status 304 and without a body says that what the
        validators belong to is still the same. Without, there is no such page.
        """
        ...

    async def get_json(self, url: str) -> bytes:
        """The body of an API that the operator configured, which may stand on a private address."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...
