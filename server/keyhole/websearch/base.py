"""The port that every search engine implements, and what all of them need. No engine here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from keyhole.records import Hit, SearchRequest
from keyhole.websearch.dates import iso
from keyhole.websearch.rows import MAX_SNIPPET, MAX_TITLE, address, line, rows_of


class Hits(tuple[Hit, ...]):
    """Hits with a remark on how they were found, such as which parts of a metasearch failed."""

    note: str = ""

    @classmethod
    def noted(cls, hits: Iterable[Hit], note: str) -> Hits:
        """Hits with a remark of ours in a few words."""
        found = cls(hits)
        found.note = note
        return found


class Engine(Protocol):
    """One source of hits."""

    @property
    def name(self) -> str:
        """The engine's name in settings and in results."""
        ...

    @property
    def applies(self) -> frozenset[str]:
        """The filters that it applies itself, of: sites, exclude_sites, freshness, language, country, news; `locale`
        where it applies a country only together with a language."""
        ...

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """Hits, best first, as `Hits` where there is a remark; empty only when the engine is well and found nothing.

        Raises KeyholeError: engine_unavailable, rate_limited, timeout and what fetching raises.
        """
        ...


def with_sites(request: SearchRequest) -> str:
    """The query with the `site:` operators that most engines understand."""
    sites = " OR ".join(f"site:{site}" for site in request.sites)
    excluded = " ".join(f"-site:{site}" for site in request.exclude_sites)
    grouped = f"({sites})" if len(request.sites) > 1 else sites
    return " ".join(part for part in (request.query, grouped, excluded) if part)


def hits_from(
    rows: Sequence[Mapping[str, Any]],
    names: tuple[str, str, str],
    engine: str,
    date: str = "",
    *,
    marked_up: bool = False,
) -> tuple[Hit, ...]:
    """The hits of an engine's rows, which have the URL, title and snippet under `names` and when it was published
    under `date`, as HTML where `marked_up`; rows without a URL are left out. Every field is one bounded line.

    Raises TypeError or AttributeError for what is not rows.
    """
    return tuple(
        Hit(
            url,
            line(row.get(names[1]), MAX_TITLE, marked_up=marked_up),
            line(row.get(names[2]), MAX_SNIPPET, marked_up=marked_up),
            engine,
            iso(row.get(date)) if date else "",
        )
        for row in rows_of(rows)
        if (url := address(row.get(names[0])))
    )
