"""Count what the readers answer, and print it as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.outputs.corpus import Output, Question
from benchmarks.outputs.readers import UNBOUNDED, Reader

LIMITS = (1_000, 2_000, 4_000)
"""Characters that a result may have."""


@dataclass(frozen=True)
class Trial:
    """One question put to one reader at one limit."""

    reader: str
    limit: int
    question: Question
    kind: str
    answered: bool
    size: int
    original: int
    is_over: bool


def run_trials(
    readers: dict[str, Reader],
    questions: Sequence[Question],
    outputs: dict[str, Output],
    limits: Sequence[int] = LIMITS,
) -> list[Trial]:
    """Put every question to every reader. `size` and `original` are bytes in UTF-8; `limit` is in characters."""
    trials = []
    for question in questions:
        output = outputs[question.output]
        original = len(output.text.encode())
        for name, reader in readers.items():
            for limit in limits[:1] if name in UNBOUNDED else limits:
                text = reader(output, question.query, limit)
                answered, size = question.is_answered(text), len(text.encode())
                is_over = name not in UNBOUNDED and len(text) > limit
                trials.append(Trial(name, limit, question, output.kind, answered, size, original, is_over))
    return trials


def totals_table(trials: Sequence[Trial]) -> list[str]:
    """Return the answered share of each reader, and the bytes of its results beside those of the outputs."""
    rows = ["| reader | all | with a query | without | bytes of a result | saved |", "|---|---|---|---|---|---|"]
    for name in dict.fromkeys(trial.reader for trial in trials):
        own = [trial for trial in trials if trial.reader == name]
        shares = [
            _shares(group)
            for group in (
                own,
                [trial for trial in own if trial.question.query is not None],
                [trial for trial in own if trial.question.query is None],
            )
        ]
        sizes = " / ".join(f"{_mean(trial.size for trial in group):,.0f}" for group in _by_limit(own))
        saved = " / ".join(
            f"{100 * (1 - sum(trial.size for trial in group) / sum(trial.original for trial in group)):.1f}"
            for group in _by_limit(own)
        )
        rows.append(f"| {name} | {' | '.join(shares)} | {sizes} | {saved} % |")
    return rows


def kinds_table(trials: Sequence[Trial]) -> list[str]:
    """Return the answered share of each reader by kind."""
    names = list(dict.fromkeys(trial.reader for trial in trials))
    rows = [f"| kind | questions | {' | '.join(names)} |", "|---|---:|" + "---|" * len(names)]
    for kind in sorted({trial.kind for trial in trials}):
        own = [trial for trial in trials if trial.kind == kind]
        count = len({id(trial.question) for trial in own})
        shares = [_shares([trial for trial in own if trial.reader == name]) for name in names]
        rows.append(f"| {kind} | {count} | {' | '.join(shares)} |")
    return rows


def assertion_lines(trials: Sequence[Trial]) -> list[str]:
    """Return in how many results of failing tests the failing assertion is shown, by reader."""
    own = [trial for trial in trials if trial.question.assertion]
    lines = []
    for name in dict.fromkeys(trial.reader for trial in own):
        groups = _by_limit([trial for trial in own if trial.reader == name])
        counts = " / ".join(f"{sum(trial.answered for trial in group)} of {len(group)}" for group in groups)
        lines.append(f"failing assertion shown by {name}: {counts}")
    return lines


def over_lines(trials: Sequence[Trial]) -> list[str]:
    """Return how many results of a reader are longer than its limit, for the readers that have any."""
    counts = Counter(trial.reader for trial in trials if trial.is_over)
    return [f"longer than the limit: {count} results of {name}" for name, count in counts.items()]


def miss_lines(trials: Sequence[Trial], reader: str) -> list[str]:
    """Return the questions that a reader misses, with the smallest limit that answers them."""
    lines = []
    questions = {id(trial.question): trial.question for trial in trials}
    for key, question in questions.items():
        own = [trial for trial in trials if trial.reader == reader and id(trial.question) == key]
        if own and not all(trial.answered for trial in own):
            found = min((trial.limit for trial in own if trial.answered), default=0)
            answers = " + ".join(answer[:60] for answer in question.answers)
            lines.append(f"{question.output} | {question.query or '-'} | {answers} | {found or 'never'}")
    return lines


def _shares(trials: Sequence[Trial]) -> str:
    """Return the percentages of the trials that are answered, one for each limit."""
    groups = _by_limit(trials)
    return " / ".join(f"{100 * _mean(trial.answered for trial in group):.0f}" for group in groups)


def _by_limit(trials: Iterable[Trial]) -> list[list[Trial]]:
    groups: dict[int, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(trial.limit, []).append(trial)
    return list(groups.values())


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0
