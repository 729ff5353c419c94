"""Filters by site and age, shared by web search and the store."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Protocol
from urllib.parse import urlsplit

import idna

DAY: Final = 86_400.0
AGES: Final = MappingProxyType({"day": DAY, "week": 7 * DAY, "month": 31 * DAY, "year": 366 * DAY})
"""Seconds of each age filter. Month and year have their longest lengths, so that no page of the period is missed."""


class SiteFilter(Protocol):
    """A request with site filters. A site includes its subdomains."""

    @property
    def sites(self) -> tuple[str, ...]:
        """Sites to include; empty for all sites."""
        ...

    @property
    def exclude_sites(self) -> tuple[str, ...]:
        """Sites to exclude."""
        ...


def to_ascii(host: str) -> str:
    """Return a host in lower case, without a final dot and with non-ASCII labels as in the DNS (UTS 46).

    A host that has no such form is returned in lower case.
    """
    host = host.lower().removesuffix(".")
    if host.isascii():
        return host
    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        return host


def is_allowed_by_sites(url: str, filters: SiteFilter) -> bool:
    """Return True if a URL's host passes the site filters, False for an invalid URL.

    Search results are checked too, since engines do not apply `site:` strictly.
    """
    try:
        host = to_ascii(urlsplit(url).hostname or "")
    except ValueError:
        return False

    def is_under(site: str) -> bool:
        domain = to_ascii(site).removeprefix("www.")
        return host == domain or host.endswith("." + domain)

    is_included = not filters.sites or any(map(is_under, filters.sites))
    return is_included and not any(map(is_under, filters.exclude_sites))
