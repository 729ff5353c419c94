"""What a run of the load test gave, counted and told. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

SMALL: Final = "fetch small"
MAX_SMALL_P95: Final = 1.0
"""Seconds: the bound for small pages at an offered rate, where no replica is killed."""
WANTED_RATIO: Final = 1.6
"""Throughput of three replicas over that of one."""
BUSY: Final = 0.85
"""Share of the machine's processors in use above which more replicas have nothing to run on."""
EXAMPLES: Final = 12
"""Faults that are told in full."""


@dataclass(slots=True)
class Tally:
    """What the clients saw, while they see it."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    """Of every answer, by kind of call."""
    said: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By kind of call and what was said: `ok`, an error's code, or why there was no result."""
    refused: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    retried: int = 0
    """Calls made again because the connection broke under them."""
    out_of_time: int = 0
    """Calls whose own deadline passed: overload that has its name, and a miss where the offered rate is one to bear."""
    in_time: int = 0
    """Calls that were answered before the run's time was up; the others were under way then."""
    late: int = 0
    """Calls that began more than a second after they were due."""

    def add(self, kind: str, said: str, seconds: float) -> None:
        """One answer."""
        self.seconds.setdefault(kind, []).append(seconds)
        self.said[kind, said] += 1


@dataclass(frozen=True, slots=True)
class Run:
    """One run, with what was found after it."""

    replicas: int
    clients: int
    seconds: float
    offered: float
    """Calls per second that the clients were to make together; 0: each one at once after the other."""
    tally: Tally
    acknowledged: int
    read_back: int
    """Acknowledged artifacts that were read whole afterwards, character for character."""
    lost: tuple[str, ...]
    wrong: tuple[str, ...]
    foreign: tuple[str, ...]
    """What a tenant could read of another's."""
    kills: int
    cpu: Mapping[str, float]
    """Seconds of processor time by role, of the run's time."""
    machine: float
    """The same of everything on this machine, whoever started it."""
    processors: int

    @property
    def answered(self) -> int:
        """Calls that were answered, refusals left out."""
        return sum(len(times) for times in self.tally.seconds.values())

    @property
    def rate(self) -> float:
        """Calls answered per second of the run."""
        return self.tally.in_time / self.seconds

    @property
    def busy(self) -> float:
        """Share of the machine's processors that was in use, by this run or others."""
        return self.machine / self.seconds / self.processors

    @property
    def own(self) -> float:
        """Share of the machine's processors that this run took."""
        return sum(self.cpu.values()) / self.seconds / self.processors


def percentile(times: Sequence[float], share: float) -> float:
    """The time that this share of all does not exceed."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def misses(run: Run) -> list[str]:
    """Where a run misses what is wanted."""
    found = [f"{len(run.lost)} acknowledged artifacts lost: {run.lost[:3]}"] if run.lost else []
    found += [f"{len(run.wrong)} read back with other bytes: {run.wrong[:3]}"] if run.wrong else []
    found += [f"{len(run.foreign)} of another tenant were read: {run.foreign[:3]}"] if run.foreign else []
    found += [f"{len(run.tally.faults)} answers were not right"] if run.tally.faults else []
    found += ["no call was answered"] if not run.answered else []
    if run.offered and run.tally.out_of_time:
        found.append(f"{run.tally.out_of_time} calls ran out of time at {run.offered:g} calls/s offered")
    p95 = percentile(run.tally.seconds.get(SMALL, []), 0.95)
    if run.offered and not run.kills and p95 > MAX_SMALL_P95:
        found.append(f"p95 of small fetches is {p95:.2f} s at {run.offered:g} calls/s offered")
    return found


def table(run: Run) -> str:
    """A run as Markdown."""
    offered = f"{run.offered:g} calls/s offered" if run.offered else "as fast as they are answered"
    lines = [
        f"### {run.replicas} replica{'s' * (run.replicas > 1)}, {run.clients} clients, {run.seconds:.0f} s, {offered}",
        "",
        "| call | answers | p50 ms | p95 ms | p99 ms | said |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for kind, times in sorted(run.tally.seconds.items()):
        marks = (f"{1_000 * percentile(times, share):,.0f}" for share in (0.5, 0.95, 0.99))
        said = Counter({what: number for (one, what), number in run.tally.said.items() if one == kind})
        words = ", ".join(f"{what} {number}" for what, number in said.most_common())
        lines.append(f"| {kind} | {len(times):,} | {' | '.join(marks)} | {words} |")
    lines += ["", *_summary(run)]
    return "\n".join(lines)


def _summary(run: Run) -> list[str]:
    tally = run.tally
    refused = ", ".join(f"{code} {number:,}" for code, number in tally.refused.most_common()) or "none"
    processors = ", ".join(f"{role} {seconds:.1f}" for role, seconds in run.cpu.items())
    each = 1_000 * sum(run.cpu.values()) / max(1, run.tally.in_time)
    lines = [
        f"{run.rate:.1f} calls/s answered; refused: {refused}; "
        f"out of time {tally.out_of_time:,}; begun late {tally.late:,}; made again {tally.retried:,}.",
        f"{run.acknowledged:,} artifacts acknowledged, {run.read_back:,} read back whole and equal, "
        f"{len(run.lost)} lost, {len(run.wrong)} wrong, {len(run.foreign)} read by another tenant; "
        f"{run.kills} replicas killed.",
        f"Processor seconds: {processors}: {run.own:.0%} of {run.processors} processors, {each:.0f} ms a call; "
        f"with all else on this machine {run.busy:.0%}.",
    ]
    return lines + [f"- {fault}" for fault in tally.faults[:EXAMPLES]]


def compared(one: Run, many: Run) -> list[str]:
    """What more replicas brought, and what bounds it where it is less than wanted."""
    ratio = many.rate / one.rate if one.rate else 0.0
    lines = [f"{many.replicas} replicas answered {ratio:.2f} × as many calls as {one.replicas}."]
    if ratio < WANTED_RATIO and one.busy >= BUSY:
        lines.append(
            f"With one replica {one.busy:.0%} of this machine's {one.processors} processors were in use already, "
            f"{one.own:.0%} by this run: there was nothing left for the others to run on."
        )
    return lines


def unscaled(one: Run, many: Run) -> bool:
    """Whether more replicas should have brought more: there were processors left to run them on."""
    return one.offered == 0 and many.rate < WANTED_RATIO * one.rate and one.busy < BUSY


def as_json(run: Run) -> dict[str, Any]:
    """A run for programs."""
    facts = asdict(run)
    times = facts.pop("tally")["seconds"]
    marks = {kind: {f"p{share}": percentile(one, share / 100) for share in (50, 95, 99)} for kind, one in times.items()}
    said: dict[str, dict[str, int]] = {}
    for (kind, what), number in run.tally.said.items():
        said.setdefault(kind, {})[what] = number
    return facts | {
        "rate": run.rate,
        "busy": run.busy,
        "own": run.own,
        "out_of_time": run.tally.out_of_time,
        "times": marks,
        "said": said,
        "refused": dict(run.tally.refused),
        "faults": run.tally.faults,
        "late": run.tally.late,
        "retried": run.tally.retried,
        "misses": misses(run),
    }
