"""Filter stored artifacts by kind, site, age and language, and choose what is forgotten."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Literal
from urllib.parse import urlsplit, urlunsplit

from keyhole.text.output_facts import is_output
from keyhole.text.sites import AGES, is_allowed_by_sites

ArtifactKind = Literal["pages", "outputs"]


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on an artifact. An empty field matches every artifact."""

    sites: tuple[str, ...] = ()
    """Hosts to include, with their subdomains."""
    exclude_sites: tuple[str, ...] = ()
    age: str = ""
    """A key of `AGES`: the maximum age of the publication date, or of the fetch if the page states no date."""
    language: str = ""
    """BCP 47 tag, compared by its primary language. Pages of unknown language match."""
    kind: ArtifactKind | None = None
    """Only pages, or only outputs of commands, files and other tools."""

    def __bool__(self) -> bool:
        return bool(self.sites or self.exclude_sites or self.age or self.language or self.kind)


NO_FILTERS: Final = Filters()


@dataclass(frozen=True, slots=True)
class Facets:
    """The properties of an artifact that filters compare."""

    url: str
    published: str
    """ISO 8601 date or a prefix of it; "" if the page states none."""
    fetched_at: float
    language: str


def passes(facets: Facets, filters: Filters, now: float) -> bool:
    """Return whether an artifact meets all conditions."""
    if not has_kind(facets.url, filters.kind):
        return False
    if filters.language and facets.language and primary_language(facets.language) != primary_language(filters.language):
        return False
    is_recent = not filters.age or _is_recent(facets, now - AGES[filters.age])
    return is_recent and is_allowed_by_sites(facets.url, filters)


def has_kind(url: str, kind: ArtifactKind | None) -> bool:
    """Return whether the artifact with this URL is of a kind. None matches both kinds."""
    return kind is None or is_output(url) == (kind == "outputs")


def matches_address(url: str, filters: Filters) -> bool:
    """Return whether an artifact with this URL meets the conditions on its kind and its site."""
    return has_kind(url, filters.kind) and (not filters.sites or is_allowed_by_sites(url, filters))


def primary_language(language: str) -> str:
    """Return the primary language of a BCP 47 tag: `pt` for `pt-BR`."""
    return language.lower().replace("_", "-").partition("-")[0]


def _is_recent(facets: Facets, since: float) -> bool:
    if not facets.published:
        return facets.fetched_at >= since
    # Dates are compared as text. A page that states only its year counts as published just before the year begins.
    return facets.published[:10] >= _to_date(since)


@lru_cache(maxsize=8)
def _to_date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


# Scopes: conditions for the texts and calls that are forgotten. Every store and log applies them.


@dataclass(frozen=True, slots=True)
class Scope:
    """Conditions that must all be met. An empty field is met by everything."""

    urls: tuple[str, ...] = ()
    """Addresses. A text or a call must have at least one of them. The fragment and the case of the host do not
    count."""
    sites: tuple[str, ...] = ()
    """Hosts. An address must be on one of them or on a subdomain."""
    before: float | None = None
    """The time before which a text was fetched, or a call started."""
    clients: tuple[str, ...] = ()
    """Names of clients. One of them must have made the call. A name without a version matches all its versions."""

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
