"""Count what the gateways answer, and print it as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from benchmarks.proxy.gateways.measure import Trial


def totals_table(trials: Sequence[Trial], survives: Mapping[str, Sequence[bool]]) -> list[str]:
    """Return a row for each gateway: shares of the questions and mean bytes, at each budget.

    `survives`: whether a gateway works after a progress notification, and when a call is repeated.
    """
    rows = [
        "| gateway | answer in the result | reading on once | one call with the question | reading to the end "
        "| bytes to the model | after a progress notification | repeated call |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, own in _by(trials, lambda trial: trial.system).items():
        budgets = list(_by(own, lambda trial: str(trial.budget)).values())
        cells = [
            _each(budgets, lambda trial: trial.answered),
            _each(budgets, lambda trial: trial.followed),
            _each(budgets, lambda trial: trial.found),
            _each(budgets, lambda trial: trial.stored),
            " / ".join(f"{_mean(trial.size for trial in group):,.0f}" for group in budgets),
            *("works" if each else "breaks" for each in survives[name]),
        ]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return rows


def servers_table(trials: Sequence[Trial]) -> list[str]:
    """Return the share of answers in the result, by server and gateway."""
    names = list(_by(trials, lambda trial: trial.system))
    rows = [f"| server | questions | {' | '.join(names)} |", "|---|---:|" + "---|" * len(names)]
    for server, own in sorted(_by(trials, lambda trial: trial.question.result.partition("/")[0]).items()):
        systems = _by(own, lambda trial: trial.system)
        count = len({id(trial.question) for trial in own})
        shares = [
            _each(_by(systems[name], lambda trial: str(trial.budget)).values(), lambda trial: trial.answered)
            for name in names
        ]
        rows.append(f"| {server} | {count} | {' | '.join(shares)} |")
    return rows


def miss_lines(trials: Sequence[Trial], system: str) -> list[str]:
    """Return the questions whose answer is not in the result of a gateway, and whether a call finds it."""
    missed = [trial for trial in trials if trial.system == system and not trial.answered]
    states = ["one call" if trial.found else "stored" if trial.stored else "lost" for trial in missed]
    return [
        f"{trial.budget} | {trial.question.result} | {trial.question.query} | {state}"
        for trial, state in zip(missed, states, strict=True)
    ]


def _by(trials: Iterable[Trial], key: Callable[[Trial], str]) -> dict[str, list[Trial]]:
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(key(trial), []).append(trial)
    return groups


def _each(groups: Iterable[Sequence[Trial]], value: Callable[[Trial], bool]) -> str:
    """Return the percentages of the trials for which a value is true, one for each budget."""
    return " / ".join(f"{100 * _mean(value(trial) for trial in group):.0f}" for group in groups)


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0
