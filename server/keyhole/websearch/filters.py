"""Filter an engine's hits by sites and freshness, and list the filters that were not applied. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from keyhole.records import Hit, SearchRequest
from keyhole.text.sites import AGES, is_allowed_by_sites
from keyhole.websearch.dates import date_range

HITS_PER_RESULT: Final = 4
"""Hits used of one answer, per requested result: half of them may be copies, and twice the requested results are read.
With more, one engine's less relevant hits could outweigh those on which the engines agree."""


def active_filters(request: SearchRequest) -> tuple[str, ...]:
    """Return the names of the filters that a request sets, in the order in which reports list them."""
    values = {
        "sites": request.sites,
        "exclude_sites": request.exclude_sites,
        "freshness": request.freshness,
        "language": request.language,
        "country": request.country,
        "news": request.kind == "news",
    }
    return tuple(name for name, value in values.items() if value)


def adapt_request(request: SearchRequest, supported: frozenset[str]) -> SearchRequest:
    """Return the request for an engine. A request for news becomes one for web pages if the engine has no news."""
    return request if request.kind == "web" or "news" in supported else replace(request, kind="web")


def filter_hits(hits: Sequence[Hit], request: SearchRequest, supported: frozenset[str], now: float) -> tuple[Hit, ...]:
    """Return the hits that pass the filters, at most `HITS_PER_RESULT` per requested result.

    Sites are always checked, since engines treat them as hints. Freshness is checked only if the engine does not apply
    it, because an engine knows more about a page's age than one date. `now`: seconds since the epoch.
    """
    passed = [hit for hit in hits if is_allowed_by_sites(hit.url, request)]
    if request.freshness and "freshness" not in supported:
        passed = [hit for hit in passed if not _is_too_old(hit, request.freshness, now)]
    return tuple(passed[: request.max_results * HITS_PER_RESULT])


def unapplied_filters(hits: Sequence[Hit], request: SearchRequest, supported: frozenset[str]) -> tuple[str, ...]:
    """Return the active filters that neither the engine nor `filter_hits` applied to these hits.

    Hits without a date pass every freshness, so freshness counts as applied here only if every hit has a date.
    """
    applied = {"sites", "exclude_sites", *supported}
    if "locale" in supported and request.language:
        applied.add("country")
    if all(date_range(hit.date) for hit in hits):
        applied.add("freshness")
    return tuple(name for name in active_filters(request) if name not in applied) if hits else ()


def _is_too_old(hit: Hit, freshness: str, now: float) -> bool:
    """Return True if the hit's date ended before the period that `freshness` allows."""
    dates = date_range(hit.date)
    return dates is not None and dates[1] < now - AGES[freshness]
