"""Format the scores and times of the extraction benchmark as Markdown tables. No I/O."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from benchmarks.extraction.peers.conversation import Answer
from benchmarks.extraction.peers.peers import OURS, Peer
from benchmarks.extraction.peers.scores import Score

SPEED_GOALS: Final = {"mcp-server-fetch": 0.25, "trafilatura": 0.5}
"""Maximum ratio of Keyhole's median time to the peer's on the same pages."""
SLOW: Final = 5.0
"""Factor over the milliseconds per MB of real pages above which a hostile page is flagged as slow."""
NOT_LINEAR: Final = 8.0
"""Factor over the time of a quarter of the page above which a cost is flagged as not linear. A linear cost has 4, a
quadratic cost 16; this is their geometric mean."""
NOTICEABLE_MS: Final = 100.0
"""Milliseconds below which the growth of a cost is noise, so that it is not flagged."""


@dataclass(frozen=True, slots=True)
class Row:
    """One page read by one system."""

    kind: str
    ms: float
    error: str | None
    empty: bool
    score: Score


@dataclass(frozen=True, slots=True)
class Result:
    """All pages read by one system. `is_cached`: True if the answers and times are from an earlier run."""

    peer: Peer
    rows: list[Row]
    is_cached: bool

    def mean(self, field: str, kind: str | None = None) -> float:
        """Return the mean of a score over all pages, or over the pages of one type."""
        return statistics.fmean(getattr(row.score, field) for row in self.rows if kind in {None, row.kind})

    def share(self, field: str) -> float:
        """Return the share of snippets whose flag in `must` or `clean` is True."""
        marks = [mark for row in self.rows for mark in getattr(row.score, field)]
        return statistics.fmean(marks) if marks else 1.0

    def median(self) -> float:
        """Return the median milliseconds per page."""
        return statistics.median(row.ms for row in self.rows)

    def percentile_90(self) -> float:
        """Return the 90th percentile of the milliseconds per page."""
        times = sorted(row.ms for row in self.rows)
        return times[min(len(times) - 1, len(times) * 9 // 10)]


@dataclass(frozen=True, slots=True)
class Growth:
    """The cost of one grown or hostile page, which Keyhole read in a separate process."""

    name: str
    megabytes: float
    answer: Answer
    peak_mb: float | None
    quarter_ms: float | None = None

    @property
    def ms_a_megabyte(self) -> float:
        """Milliseconds per MB, which a linear cost keeps constant."""
        return self.answer.ms / self.megabytes


def format_overall(results: list[Result]) -> str:
    """Return quality and speed of every system; systems that only parse have no quality."""
    lines = []
    for result in results:
        if result.peer.floor:
            quality = [""] * 6
        else:
            means = [f"{result.mean(field):.3f}" for field in ("f1", "recall", "precision")]
            shares = [f"{result.share(field):.3f}" for field in ("must", "clean")]
            quality = [*means, *shares, str(sum(row.empty for row in result.rows))]
        lines.append([_label(result), *quality, f"{result.median():.1f}", f"{result.percentile_90():.1f}"])
    heads = ["system", "F1", "recall", "precision", "must", "clean", "no text", "median ms", "90 % ms"]
    note = (
        "\n\n\\* From the cache of an earlier run, times included (`--fresh` measures all systems)."
        if any(r.is_cached for r in results)
        else ""
    )
    return format_table(heads, lines) + note


def _label(result: Result) -> str:
    return result.peer.label + (" \\*" if result.is_cached else "")


def format_by_type(results: list[Result], field: str) -> str:
    """Return a score by system and type of page, the best peer of each type, and its distance from Keyhole."""
    readers = [result for result in results if not result.peer.floor]
    kinds = sorted({row.kind for row in readers[0].rows})
    columns: list[Callable[[Result], float]] = [lambda r, k=kind: r.mean(field, k) for kind in kinds]  # type: ignore[misc]
    columns.append(lambda r: r.mean(field))
    lines = [[r.peer.name, *(f"{column(r):.3f}" for column in columns)] for r in readers]
    peers = [result for result in readers if result.peer is not OURS]
    ours = next((result for result in readers if result.peer is OURS), None)
    if peers:
        best = [max(peers, key=column) for column in columns]
        lines.append(["**best peer**", *(f"{c(b):.3f} {b.peer.name}" for c, b in zip(columns, best, strict=True))])
        if ours:
            lines.append(
                ["**keyhole minus best peer**", *(f"{c(ours) - c(b):+.3f}" for c, b in zip(columns, best, strict=True))]
            )
    return format_table(["system", *kinds, "all"], lines)


def format_ratios(results: list[Result]) -> str:
    """Return Keyhole's median time relative to the peers with a speed goal and to systems that only parse."""
    by_name = {result.peer.name: result for result in results}
    ours = by_name[OURS.name].median()
    lines = []
    for name, result in by_name.items():
        goal = SPEED_GOALS.get(name)
        if goal is None and not result.peer.floor:
            continue
        ratio = ours / result.median()
        met = "" if goal is None else f"at most {goal}: {'met' if ratio <= goal else 'not met'}"
        lines.append([_label(result), f"{ours:.1f}", f"{result.median():.1f}", f"{ratio:.2f}", met])
    return format_table(["compared with", "keyhole, median ms", "its median ms", "ratio", "goal"], lines)


def format_errors(results: list[Result]) -> str:
    """Return the number of pages by system and error. Empty text alone is not an error."""
    lines = []
    for result in results:
        names = [row.error.partition(":")[0] for row in result.rows if row.error]
        lines += [[result.peer.name, name, str(names.count(name))] for name in sorted(set(names))]
    return format_table(["system", "error", "pages"], lines) if lines else "None."


def format_growth(real: dict[str, list[Growth]], hostile: list[Growth]) -> str:
    """Return the milliseconds per MB of real pages by size, and of hostile pages."""
    sizes = []
    for size, pages in real.items():
        costs = [page.ms_a_megabyte for page in pages]
        cells = [f"{statistics.median(costs):.0f}", f"{max(costs):.0f}", _most(page.peak_mb for page in pages)]
        sizes.append([size, str(len(pages)), *cells, _failures(pages)])
    heads = ["real pages grown to", "pages", "ms per MB, median", "worst", "peak memory, MB", "failures"]
    usual = usual_ms_per_megabyte(real)
    lines = [_hostile_line(page, usual) for page in hostile]
    hostile_heads = [
        "hostile page",
        "MB",
        "ms",
        "ms per MB",
        "relative to real pages",
        "time relative to a quarter of the page",
        "peak memory, MB",
        "outcome",
    ]
    return f"{format_table(heads, sizes)}\n\n{format_table(hostile_heads, lines)}"


def usual_ms_per_megabyte(real: dict[str, list[Growth]]) -> float:
    """Return the usual milliseconds per MB: the median of real pages grown to 1 MB and more, which are mostly body."""
    large = [page.ms_a_megabyte for pages in real.values() for page in pages if page.megabytes > 0.5]
    return statistics.median(large)


def _failures(pages: Iterable[Growth]) -> str:
    return "; ".join(sorted({page.answer.error for page in pages if page.answer.error})) or "none"


def _hostile_line(page: Growth, usual: float) -> list[str]:
    answer, times = page.answer, page.ms_a_megabyte / usual
    flag = " **slow**" if times > SLOW else ""
    times_four = answer.ms / page.quarter_ms if page.quarter_ms else 0.0
    bent = " **not linear**" if times_four > NOT_LINEAR and answer.ms > NOTICEABLE_MS else ""
    outcome = answer.error.partition(": ")[0] if answer.error else f"{len(answer.text):,} characters"
    cost = [f"{page.megabytes:.1f}", f"{answer.ms:.0f}", f"{page.ms_a_megabyte:.0f}", f"{times:.1f} ×{flag}"]
    cost.append(f"{times_four:.1f} ×{bent}")
    return [f"`` {page.name} ``", *cost, _most([page.peak_mb]), outcome]


def _most(megabytes: Iterable[float | None]) -> str:
    known = [peak for peak in megabytes if peak is not None]
    return f"{max(known):.0f}" if known else "unknown"


def format_table(heads: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table with the first column aligned left and the others right."""
    rule = "|---|" + "---:|" * (len(heads) - 1)
    return "\n".join([f"| {' | '.join(heads)} |", rule, *(f"| {' | '.join(line)} |" for line in lines)])
