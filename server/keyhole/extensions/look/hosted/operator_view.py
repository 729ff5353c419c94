"""Reduce the figures of a tenant to what the operator may see: numbers, times, error codes and names of stages.

A log also has names of sites, tools and clients, which callers choose and which may be parts of texts. Nothing of them
gets into the view: a name that Keyhole did not give itself is counted as `other`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from keyhole.errors import Code
from keyhole.retrieval.instrumentation import CANCELLED, Stage
from keyhole.store.base import StoreStats
from keyhole.store.calls.base import OK, Figures

OTHER: Final = "other"
OUTCOMES: Final = frozenset({OK, CANCELLED, *Code})
STAGES: Final = frozenset(get_args(Stage))


@dataclass(frozen=True, slots=True)
class TenantRow:
    """The figures of one tenant. All figures are counted, except the tokens, which are estimated."""

    name: str
    """The name in the token file, or the beginning of the hash that names the tenant's folder or rows."""
    artifacts: int
    stored_bytes: int
    log_bytes: int
    calls: int
    errors: int
    misses: int
    read_chars: int
    shown_chars: int
    tokens: int
    seconds: float
    """The time of all stages of its calls."""
    latest: float | None
    """The beginning of the last hour with a call."""
    outcomes: tuple[tuple[str, int], ...]
    stages: tuple[tuple[str, float, int], ...]


@dataclass(frozen=True, slots=True)
class OperatorView:
    """The figures of all tenants."""

    since: float
    rows: tuple[TenantRow, ...]
    """The tenants, those with the most calls first."""
    failed: int
    """Tenants whose store or log could not be read."""
    total: TenantRow


def make_row(name: str, stats: StoreStats, log_bytes: int, figures: Figures) -> TenantRow:
    """Return the row of a tenant."""
    hours = figures.hours
    outcomes = [(outcome if outcome in OUTCOMES else OTHER, count) for outcome, count in figures.outcomes]
    stages = [(stage if stage in STAGES else OTHER, seconds, calls) for stage, seconds, calls in figures.stages]
    return TenantRow(
        name=name,
        artifacts=stats.artifacts,
        stored_bytes=stats.stored_bytes,
        log_bytes=log_bytes,
        calls=figures.calls,
        errors=sum(count for outcome, count in outcomes if outcome != OK),
        misses=sum(hour.misses for hour in hours),
        read_chars=sum(hour.read_chars for hour in hours),
        shown_chars=sum(hour.shown_chars for hour in hours),
        tokens=sum(hour.tokens for hour in hours),
        seconds=sum(seconds for _, seconds, _ in stages),
        latest=max((hour.start for hour in hours), default=None),
        outcomes=_add_outcomes(outcomes),
        stages=_add_stages(stages),
    )


def make_view(since: float, rows: Sequence[TenantRow], failed: int) -> OperatorView:
    """Return the view of all tenants and their totals."""
    total = TenantRow(
        name="",
        artifacts=sum(row.artifacts for row in rows),
        stored_bytes=sum(row.stored_bytes for row in rows),
        log_bytes=sum(row.log_bytes for row in rows),
        calls=sum(row.calls for row in rows),
        errors=sum(row.errors for row in rows),
        misses=sum(row.misses for row in rows),
        read_chars=sum(row.read_chars for row in rows),
        shown_chars=sum(row.shown_chars for row in rows),
        tokens=sum(row.tokens for row in rows),
        seconds=sum(row.seconds for row in rows),
        latest=max((row.latest for row in rows if row.latest is not None), default=None),
        outcomes=_add_outcomes(pair for row in rows for pair in row.outcomes),
        stages=_add_stages(stage for row in rows for stage in row.stages),
    )
    return OperatorView(since, tuple(sorted(rows, key=lambda row: (-row.calls, row.name))), failed, total)


def _add_outcomes(outcomes: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Return calls by outcome, most first."""
    counts: Counter[str] = Counter()
    for outcome, count in outcomes:
        counts[outcome] += count
    return tuple(counts.most_common())


def _add_stages(stages: Iterable[tuple[str, float, int]]) -> tuple[tuple[str, float, int], ...]:
    """Return the seconds and calls of each stage, the longest first."""
    sums: dict[str, tuple[float, int]] = {}
    for name, seconds, calls in stages:
        before = sums.get(name, (0.0, 0))
        sums[name] = before[0] + seconds, before[1] + calls
    return tuple((name, *sums[name]) for name in sorted(sums, key=lambda name: -sums[name][0]))
