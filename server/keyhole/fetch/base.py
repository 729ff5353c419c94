"""The port to the network, so that what is above it can be tested without one. Implementations are elsewhere."""

from __future__ import annotations

from typing import Protocol

from keyhole.records import Page


class Fetcher(Protocol):
    """The port to the network: the real one is HttpFetcher, tests bring their own."""

    async def fetch(self, url: str) -> Page:
        """The page at a URL, redirects followed. Raises KeyholeError for every failure."""
        ...

    async def get_json(self, url: str) -> bytes:
        """The body of an API that the operator configured, which may stand on a private address."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...
