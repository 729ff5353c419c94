"""What a search may be narrowed to, in the web and in the store alike: sites and ages. Pure."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Protocol
from urllib.parse import urlsplit

DAY: Final = 86_400.0
AGES: Final = MappingProxyType({"day": DAY, "week": 7 * DAY, "month": 31 * DAY, "year": 366 * DAY})
"""Seconds of each word for an age: the longest month and the longest year, so that none of their pages is missed."""


class Sites(Protocol):
    """What says which hosts are wanted, with those below them; none named is all."""

    @property
    def sites(self) -> tuple[str, ...]:
        """Only these."""
        ...

    @property
    def exclude_sites(self) -> tuple[str, ...]:
        """None of these."""
        ...


def allowed_by_sites(url: str, wanted: Sites) -> bool:
    """Whether a URL's host passes the site filters: engines treat `site:` as a hint. What is no URL passes none."""
    try:
        host = (urlsplit(url).hostname or "").lower()
    except ValueError:
        return False

    def under(site: str) -> bool:
        bare = site.lower().removeprefix("www.")
        return host == bare or host.endswith("." + bare)

    return (not wanted.sites or any(map(under, wanted.sites))) and not any(map(under, wanted.exclude_sites))
