"""Sum up calls: the totals of a session, and the figures of all calls since a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from keyhole.store.calls.record import OK, CallFilters, CallRecord, CallSummary, Figures, Hour, SessionSummary
from keyhole.store.calls.search_terms import site_of, sites_of, wanted_site, wanted_words, words_of

HOUR: Final = 3_600.0
MAX_SOURCES: Final = 20
"""Sites in the figures: those with the most characters read."""
ASKING: Final = frozenset({"web_fetch", "search"})
"""Tools that ask for a page or search. The share of these calls that sufficed is a figure."""


def matches(record: CallRecord, filters: CallFilters) -> bool:
    """Return True if a call passes the filters."""
    call = record.summary
    return (
        filters.session in {"", call.session}
        and filters.client in {"", call.client}
        and filters.tool in {"", call.tool}
        and (filters.outcome in {"", call.outcome} or (filters.outcome == "error" and call.outcome != OK))
        and (not filters.misses_only or call.miss != "")
        and filters.miss in {"", call.miss}
        and wanted_site(filters) in sites_of(record)
        and all(word in words_of(record) for word in wanted_words(filters))
    )


def sum_session(calls: Sequence[CallSummary]) -> SessionSummary:
    """Return the session of one or more calls, the latest of which names its client."""
    in_order = sorted(calls, key=lambda call: (call.started_at, call.id))
    latest = in_order[-1]
    return SessionSummary(
        id=latest.session,
        client=latest.client,
        first_at=in_order[0].started_at,
        last_at=latest.started_at,
        calls=len(calls),
        errors=sum(call.outcome != OK for call in calls),
        misses=sum(call.miss != "" for call in calls),
        tokens=sum(call.tokens for call in calls),
        result_bytes=sum(call.result_bytes for call in calls),
        read_chars=sum(call.read_chars for call in calls),
        shown_chars=sum(call.shown_chars for call in calls),
        about=next((about for call in in_order[::-1] if (about := _about(call))), ""),
    )


def sum_figures(records: Iterable[CallRecord], since: float) -> Figures:
    """Return the figures of the calls since a time."""
    records = [record for record in records if record.summary.started_at >= since]
    calls = [record.summary for record in records]
    asked = [call for call in calls if call.tool in ASKING and call.outcome == OK]
    by_hour: defaultdict[float, list[CallSummary]] = defaultdict(list)
    for call in calls:
        by_hour[call.started_at // HOUR * HOUR].append(call)
    return Figures(
        since,
        len(calls),
        len(asked),
        sum(call.miss == "" for call in asked),
        tuple(_sum_hour(start, by_hour[start]) for start in sorted(by_hour)),
        _count(call.outcome for call in calls),
        _sum_stages(records),
        _sum_sources(records),
        _count(call.tool for call in calls),
        _count(call.client for call in calls),
        _count(call.miss for call in calls),
    )


def _sum_hour(start: float, calls: Sequence[CallSummary]) -> Hour:
    total = sum_session(calls)
    return Hour(start, total.calls, total.errors, total.misses, total.read_chars, total.shown_chars, total.tokens)


def _count(values: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Return how often each value occurs, the most frequent first."""
    return tuple(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def _sum_stages(records: Iterable[CallRecord]) -> tuple[tuple[str, float, int], ...]:
    """Return seconds and calls of each stage, the longest first."""
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    for record in records:
        for name, duration in record.stages:
            seconds[name].append(duration)
    rows = [(name, sum(each), len(each)) for name, each in seconds.items()]
    return tuple(sorted(rows, key=lambda row: (-row[1], row[0])))


def _sum_sources(records: Iterable[CallRecord]) -> tuple[tuple[str, int, int], ...]:
    """Return characters read and calls of the sites that most was read of."""
    chars: Counter[str] = Counter()
    calls: defaultdict[str, set[str]] = defaultdict(set)
    for record in records:
        for text in record.texts:
            if text.id and (site := site_of(text.url)):
                chars[site] += text.chars
                calls[site].add(record.summary.id)
    rows = sorted(((site, count, len(calls[site])) for site, count in chars.items()), key=lambda row: (-row[1], row[0]))
    return tuple(rows[:MAX_SOURCES])


def _about(call: CallSummary) -> str:
    """Return the query of a call, or else its target unless that is the id of a stored text."""
    return call.query or ("" if call.tool == "read_artifact" else call.target)
