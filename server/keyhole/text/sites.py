"""Site and age filters, shared by web search and the store."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Protocol
from urllib.parse import urlsplit

DAY: Final = 86_400.0
AGES: Final = MappingProxyType({"day": DAY, "week": 7 * DAY, "month": 31 * DAY, "year": 366 * DAY})
"""Seconds of each age filter: those of the longest month and year, so that no page of the period is missed."""


class SiteFilter(Protocol):
    """A request with site filters. A site includes its subdomains."""

    @property
    def sites(self) -> tuple[str, ...]:
        """The only sites wanted; empty for all."""
        ...

    @property
    def exclude_sites(self) -> tuple[str, ...]:
        """Sites not wanted."""
        ...


def is_allowed_by_sites(url: str, wanted: SiteFilter) -> bool:
    """Return True if a URL's host passes the site filters, False for an invalid URL.

    Search results need this check, since engines do not apply `site:` strictly.
    """
    try:
        host = (urlsplit(url).hostname or "").lower()
    except ValueError:
        return False

    def is_under(site: str) -> bool:
        domain = site.lower().removeprefix("www.")
        return host == domain or host.endswith("." + domain)

    return (not wanted.sites or any(map(is_under, wanted.sites))) and not any(map(is_under, wanted.exclude_sites))
