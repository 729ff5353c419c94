"""The port to the network, so that what is above it can be tested without one. Implementations are elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One request to an API that the operator's settings name. No redirect is followed: keys travel in it."""

    url: str = field(repr=False)
    """Some APIs take their key in the query, so that it is shown nowhere."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes | None = None
    """JSON; the request is a POST where it is given."""


@dataclass(frozen=True, slots=True)
class ApiReply:
    """What an API answered, of whatever status: its errors have bodies that say more than the status."""

    status: int
    body: bytes
    content_type: str = ""
    retry_after: int | None = None
    """Seconds that the API asks to wait."""


class Api(Protocol):
    """The port to APIs that the operator configured, which may stand on private addresses."""

    async def ask(self, call: ApiCall) -> ApiReply:
        """One answer. Raises KeyholeError for what the connection raises, timeout, protocol_error, too_large."""
        ...


class Fetcher(Protocol):
    """The port to the network: the real one is HttpFetcher, tests bring their own."""

    async def fetch(self, url: str, terms: Terms = ANY) -> Page:
        """The page at a URL, redirects followed. Raises KeyholeError for every failure.

        Where `terms` have validators, a page of status 304 and without a body says that what they belong to is still
        the same. Without, there is no such page.
        """
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...
