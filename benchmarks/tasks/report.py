"""Compute and print the figures of readings as Markdown tables."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from benchmarks.tasks.reading import Reading

Runs = Mapping[tuple[str, int], Sequence[Reading]]
"""The readings of all tasks by system and budget."""


def results_table(runs: Runs) -> str:
    """Return, for each system and budget, which tasks with an answer were answered, and at which cost.

    The cost of an answer: the calls, or characters, of all tasks with an answer, until it or until the reader stopped,
    by the number of tasks answered.
    """
    columns = (
        "system",
        "max_chars",
        "answered by the first call",
        "at all",
        "calls per answer",
        "characters per answer",
    )
    return _markdown(columns, [(name, f"{budget:,}", *_answers(readings)) for (name, budget), readings in runs.items()])


def spending_table(runs: Runs) -> str:
    """Return, for each system and budget, the calls and characters of a task, and what becomes of absent answers.

    `said absent`: the tasks without an answer whose first result says so; `said wrongly`: of the tasks that the first
    call answered.
    """
    columns = (
        "system", "max_chars", "calls, mean", "median", "characters, mean", "median",
        "absent: characters", "said absent", "said wrongly",
    )  # fmt: skip
    return _markdown(
        columns, [(name, f"{budget:,}", *_spending(readings)) for (name, budget), readings in runs.items()]
    )


def ratios_table(runs: Runs, ours: str, theirs: str) -> str:
    """Return how many times more calls and characters per answer `theirs` needed than `ours`, by budget."""
    rows = []
    for budget in dict.fromkeys(budget for _, budget in runs):
        mine, other = runs[ours, budget], runs[theirs, budget]
        calls, characters = (_per_answer(other, each) / _per_answer(mine, each) for each in (_calls_of, _characters_of))
        rows.append((f"{budget:,}", f"{calls:.1f}", f"{characters:.1f}"))
    return _markdown(("max_chars", "calls", "characters"), rows)


def sizes_table(runs: Runs, name: str) -> str:
    """Return the sizes of the first results of a system, and the share of page text in their bytes."""
    rows = []
    for (system, budget), readings in runs.items():
        if system != name:
            continue
        firsts = [reading.results[0] for reading in readings]
        once = [len(reading.results[0].text) for reading in readings if reading.by_first]
        absent = [len(reading.results[0].text) for reading in readings if reading.task.is_absent]
        share = sum(len(first.page_text.encode()) for first in firsts) / sum(
            len(first.text.encode()) for first in firsts
        )
        sizes = [len(first.text) for first in firsts]
        cells = (statistics.median(sizes), _percentile(sizes, 0.9), _median(once), _median(absent))
        rows.append((f"{budget:,}", *(f"{cell:,.0f}" for cell in cells), f"{100 * share:.1f} %"))
    return _markdown(("max_chars", "median", "p90", "median, answered", "median, absent", "page text"), rows)


def kinds_table(runs: Runs, name: str, group: Callable[[Reading], str]) -> str:
    """Return how many tasks of each group the first call of a system answers, by budget."""
    budgets = [budget for system, budget in runs if system == name]
    groups = sorted({group(reading) for reading in runs[name, budgets[0]] if not reading.task.is_absent})
    rows = []
    for each in groups:
        cells = [
            [r.by_first for r in runs[name, budget] if group(r) == each and not r.task.is_absent] for budget in budgets
        ]
        rows.append((each, str(len(cells[0])), *(str(sum(cell)) for cell in cells)))
    return _markdown(("", "tasks", *(f"{budget:,}" for budget in budgets)), rows)


def failure_lines(runs: Runs, name: str) -> list[str]:
    """Return one line for each reading of a system whose first call did not answer, or did not say that the answer is
    absent."""
    return [
        f"{budget:>5} {reading.task.id} ({reading.task.kind}, {reading.task.language}): {_describe(reading)} — "
        f"{reading.task.query}"
        for (system, budget), readings in runs.items()
        if system == name
        for reading in readings
        if not (reading.is_denied if reading.task.is_absent else reading.by_first)
    ]


def _describe(reading: Reading) -> str:
    if reading.task.is_absent:
        return f"absent, not said; {len(reading.results[0].text):,} characters"
    return f"answered by call {reading.calls}" if reading.answered else f"not answered in {reading.calls} calls"


def _answers(readings: Sequence[Reading]) -> tuple[str, ...]:
    present = [reading for reading in readings if not reading.task.is_absent]
    return (
        _percent(sum(reading.by_first for reading in present), len(present)),
        _percent(sum(reading.answered for reading in present), len(present)),
        f"{_per_answer(present, _calls_of):.2f}",
        f"{_per_answer(present, _characters_of):,.0f}",
    )


def _spending(readings: Sequence[Reading]) -> tuple[str, ...]:
    present = [reading for reading in readings if not reading.task.is_absent]
    absent = [reading for reading in readings if reading.task.is_absent]
    answered = [reading for reading in present if reading.by_first]
    return (
        f"{statistics.mean(map(_calls_of, present)):.2f}",
        f"{statistics.median(map(_calls_of, present)):g}",
        f"{statistics.mean(map(_characters_of, present)):,.0f}",
        f"{statistics.median(map(_characters_of, present)):,.0f}",
        f"{statistics.mean(map(_characters_of, absent)):,.0f}" if absent else "–",
        f"{sum(reading.is_denied for reading in absent)} of {len(absent)}",
        f"{sum(reading.is_denied for reading in answered)} of {len(answered)}",
    )


def _per_answer(readings: Sequence[Reading], measure: Callable[[Reading], int]) -> float:
    """Return the sum of a measure over the tasks with an answer, by the number of tasks answered; inf for none."""
    answered = sum(reading.answered for reading in readings)
    return sum(measure(r) for r in readings if not r.task.is_absent) / answered if answered else math.inf


def _calls_of(reading: Reading) -> int:
    return reading.calls


def _characters_of(reading: Reading) -> int:
    return reading.characters


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _median(values: Sequence[int]) -> float:
    return statistics.median(values) if values else 0.0


def _percentile(values: Sequence[int], share: float) -> int:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = f"|---|{'---:|' * (len(columns) - 1)}"
    return "\n".join([f"| {' | '.join(columns)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)])
