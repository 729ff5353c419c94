"""Connect to what a page in a browser asks for, under the rules of all other fetches.

One rule is stricter. A script may send POST requests to any endpoint, so a page of the public web reaches no private
endpoint, not even one that the operator allowed to be fetched: only a page of such an endpoint does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import httpcore

from keyhole.config.config import Config
from keyhole.fetch.addresses import check_domain
from keyhole.fetch.backend import CheckedBackend
from keyhole.fetch.dns import Nat64Prefixes
from keyhole.fetch.urls import Target

Connect = Callable[[str, int], Awaitable[httpcore.AsyncNetworkStream]]
"""Checks a host and a port and connects to them. Raises KeyholeError."""


class PageConnections:
    """Makes the connections of pages. It keeps nothing of a page."""

    def __init__(self, config: Config) -> None:
        """Create it from the settings: domain lists, ports, private endpoints and proxy."""
        self._config = config
        nat64 = Nat64Prefixes()
        self._public = self._backend(frozenset(), nat64)
        self._private = self._backend(config.allow_private, nat64)

    def of_page(self, page: Target) -> Connect:
        """Return the function that connects for one page and everything that it loads."""
        backend = self._private if page.endpoint in self._config.allow_private else self._public

        async def connect(host: str, port: int) -> httpcore.AsyncNetworkStream:
            check_domain(host, self._config.allow_domains, self._config.deny_domains)
            return await backend.connect_tcp(host, port)

        return connect

    def _backend(self, allowed: frozenset[str], nat64: Nat64Prefixes) -> CheckedBackend:
        config = self._config
        return CheckedBackend(
            lambda endpoint: endpoint in allowed,
            config.ports,
            config.proxy,
            config.allow_private,
            config.deny_domains,
            nat64,
        )
