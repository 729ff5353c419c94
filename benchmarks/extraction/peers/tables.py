"""The tables of the extraction benchmark as Markdown. Pure: from scores and times to lines."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from benchmarks.extraction.peers.conversation import Answer
from benchmarks.extraction.peers.peers import OURS, Peer
from benchmarks.extraction.peers.scores import Score

SPEED_GOALS: Final = {"mcp-server-fetch": 0.25, "trafilatura": 0.5}
"""Most that our median may be as a share of the peer's on the same pages."""
SLOW: Final = 5.0
"""Times the real pages' milliseconds a megabyte: from here on a page made to hurt is flagged."""
NOT_LINEAR: Final = 8.0
"""Times the cost of a quarter of the page: 4 is linear, 16 quadratic, this the geometric mean of the two."""
NOTICEABLE_MS: Final = 100.0
"""Below this, how a cost grows is noise."""


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
    """All pages read by one system. `kept`: the figures are those of an earlier run."""

    peer: Peer
    rows: list[Row]
    kept: bool

    def mean(self, field: str, kind: str | None = None) -> float:
        """The mean of a score over the pages, of one type if one is named."""
        return statistics.fmean(getattr(row.score, field) for row in self.rows if kind in {None, row.kind})

    def share(self, field: str) -> float:
        """The share of all snippets that are as they should be."""
        marks = [mark for row in self.rows for mark in getattr(row.score, field)]
        return statistics.fmean(marks) if marks else 1.0

    def median(self) -> float:
        """Median milliseconds a page."""
        return statistics.median(row.ms for row in self.rows)

    def percentile_90(self) -> float:
        """Milliseconds within which nine pages of ten are read."""
        times = sorted(row.ms for row in self.rows)
        return times[min(len(times) - 1, len(times) * 9 // 10)]


@dataclass(frozen=True, slots=True)
class Growth:
    """One page of a size, read by Keyhole in a process of its own."""

    name: str
    megabytes: float
    answer: Answer
    peak_mb: float | None
    quarter_ms: float | None = None

    @property
    def ms_a_megabyte(self) -> float:
        """What linear cost keeps the same."""
        return self.answer.ms / self.megabytes


def overall(results: list[Result]) -> str:
    """Quality and speed of every system; the floors have a speed alone."""
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
        "\n\n\\* Kept from an earlier run: its times are not of this one (`--fresh` measures all)."
        if any(r.kept for r in results)
        else ""
    )
    return markdown(heads, lines) + note


def _label(result: Result) -> str:
    return result.peer.label + (" \\*" if result.kept else "")


def by_type(results: list[Result], field: str) -> str:
    """A score by type of page and system, the best peer of each type, and how far Keyhole is from it."""
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
    return markdown(["system", *kinds, "all"], lines)


def ratios(results: list[Result]) -> str:
    """Our median beside those that there is a goal for, and beside the floors."""
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
    return markdown(["beside", "keyhole, median ms", "its median ms", "ratio", "goal"], lines)


def errors(results: list[Result]) -> str:
    """What was raised, by system, with how often. Empty text without an error is not an error."""
    lines = []
    for result in results:
        names = [row.error.partition(":")[0] for row in result.rows if row.error]
        lines += [[result.peer.name, name, str(names.count(name))] for name in sorted(set(names))]
    return markdown(["system", "error", "pages"], lines) if lines else "None."


def growth(real: dict[str, list[Growth]], hostile: list[Growth]) -> str:
    """Milliseconds a megabyte of real pages by size, and of pages made to hurt."""
    sizes = []
    for size, pages in real.items():
        costs = [page.ms_a_megabyte for page in pages]
        cells = [f"{statistics.median(costs):.0f}", f"{max(costs):.0f}", _most(page.peak_mb for page in pages)]
        sizes.append([size, str(len(pages)), *cells, _failures(pages)])
    heads = ["real pages grown to", "pages", "ms per MB, median", "worst", "peak memory, MB", "failures"]
    usual = reference(real)
    lines = [_hostile_line(page, usual) for page in hostile]
    hostile_heads = [
        "page made to hurt",
        "MB",
        "ms",
        "ms per MB",
        "to real pages",
        "to its quarter",
        "peak memory, MB",
        "outcome",
    ]
    return f"{markdown(heads, sizes)}\n\n{markdown(hostile_heads, lines)}"


def reference(real: dict[str, list[Growth]]) -> float:
    """Milliseconds a megabyte that is usual: the median of real pages grown to 1 MB and more, which are mostly body."""
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
    return f"{max(known):.0f}" if known else "not known"


def markdown(heads: list[str], lines: list[list[str]]) -> str:
    """A table: the first column to the left, the others to the right."""
    rule = "|---|" + "---:|" * (len(heads) - 1)
    return "\n".join([f"| {' | '.join(heads)} |", rule, *(f"| {' | '.join(line)} |" for line in lines)])
