"""Which stored artifacts a search may give, by site, age and language. Pure; no query and no rank here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from keyhole.text.sites import AGES, allowed_by_sites


@dataclass(frozen=True, slots=True)
class Filters:
    """What an artifact must be; an empty field lets all through."""

    sites: tuple[str, ...] = ()
    """Only these hosts and those below them."""
    exclude_sites: tuple[str, ...] = ()
    age: str = ""
    """One of `AGES`: published within it, or fetched within it where the page states no date."""
    language: str = ""
    """BCP 47, compared by its first part. A page whose language is not known passes: it may be in this one."""

    def __bool__(self) -> bool:
        return bool(self.sites or self.exclude_sites or self.age or self.language)


NONE: Final = Filters()


@dataclass(frozen=True, slots=True)
class Facets:
    """What the filters look at."""

    url: str
    published: str
    """ISO 8601, possibly only its beginning; "" where the page states none."""
    fetched_at: float
    language: str


def passes(facets: Facets, filters: Filters, now: float) -> bool:
    """Whether an artifact is what the filters ask for."""
    return (
        (not filters.language or not facets.language or primary(facets.language) == primary(filters.language))
        and (not filters.age or _is_recent(facets, now - AGES[filters.age]))
        and allowed_by_sites(facets.url, filters)
    )


def primary(language: str) -> str:
    """The first part of a BCP 47 tag: `pt` of `pt-BR`."""
    return language.lower().replace("_", "-").partition("-")[0]


def _is_recent(facets: Facets, since: float) -> bool:
    if not facets.published:
        return facets.fetched_at >= since
    # Compared by day and as text: a page that states only its year is as old as that year's first day can be.
    return facets.published[:10] >= _day(since)


@lru_cache(maxsize=8)
def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
