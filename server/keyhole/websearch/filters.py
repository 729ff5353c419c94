"""What an engine is asked for, and what is left of its hits: filters that it cannot apply are applied here where a hit
says enough, and named where not. Pure: the time is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from keyhole.records import Hit, SearchRequest
from keyhole.text.sites import AGES, allowed_by_sites
from keyhole.websearch.dates import span

HITS_PER_RESULT: Final = 2
"""Hits kept of one engine's answer for each result wanted: enough to replace pages that fail or double, and few
enough that one engine's long tail, or its news, does not flood what the engines agree on."""


def in_force(request: SearchRequest) -> tuple[str, ...]:
    """The filters that a request has, in the order in which they are told."""
    values = {
        "sites": request.sites,
        "exclude_sites": request.exclude_sites,
        "freshness": request.freshness,
        "language": request.language,
        "country": request.country,
        "news": request.kind == "news",
    }
    return tuple(name for name, value in values.items() if value)


def for_engine(request: SearchRequest, applies: frozenset[str]) -> SearchRequest:
    """The request as this engine can serve it: one without news is asked for web pages."""
    return request if request.kind == "web" or "news" in applies else replace(request, kind="web")


def kept(hits: Sequence[Hit], request: SearchRequest, applies: frozenset[str], now: float) -> tuple[Hit, ...]:
    """The hits that pass the filters, as far as they can be judged, and not too many of them.

    Sites are always judged, since engines treat them as hints. An engine that applies freshness itself knows more of
    its pages' ages than one date, so that its word stands.
    """
    passed = [hit for hit in hits if allowed_by_sites(hit.url, request)]
    if request.freshness and "freshness" not in applies:
        passed = [hit for hit in passed if not _too_old(hit, request.freshness, now)]
    return tuple(passed[: request.max_results * HITS_PER_RESULT])


def unapplied(hits: Sequence[Hit], request: SearchRequest, applies: frozenset[str]) -> tuple[str, ...]:
    """The filters that neither the engine nor `kept` applied to these hits, which `kept` let through.

    A hit without a date passes every freshness, so that freshness counts as applied only where every hit has one.
    """
    applied = {"sites", "exclude_sites", *applies}
    if "locale" in applies and request.language:
        applied.add("country")
    if all(span(hit.date) for hit in hits):
        applied.add("freshness")
    return tuple(name for name in in_force(request) if name not in applied) if hits else ()


def _too_old(hit: Hit, freshness: str, now: float) -> bool:
    """Whether even the end of the hit's date lies before what was asked for."""
    when = span(hit.date)
    return when is not None and when[1] < now - AGES[freshness]
