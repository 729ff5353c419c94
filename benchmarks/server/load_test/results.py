"""Count the answers of a load test's run, find its misses and format its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

SMALL: Final = "fetch small"
MAX_SMALL_P95: Final = 1.0
"""Maximum seconds of the 95th percentile of small fetches, at an offered rate without killed replicas."""
MIN_RATIO: Final = 1.6
"""Required ratio of the throughput of three replicas to that of one."""
BUSY: Final = 0.85
"""Share of the machine's processors in use from which on more replicas cannot help."""
EXAMPLES: Final = 12
"""Maximum number of printed faults."""


@dataclass(slots=True)
class Tally:
    """Counts of the clients' answers, updated during the run."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    """Seconds of every answer, by kind of call."""
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of answers by kind of call and `Reply.outcome`."""
    refusals: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    undigested: int = 0
    """Answers with the text of a page that no worker finished. No page of this test is too hard for a worker."""
    pending: int = 0
    """Calls repeated because their page was fetched, but not read in time."""
    retried: int = 0
    """Calls repeated because their connection broke."""
    out_of_time: int = 0
    """Calls whose deadline passed: expected under overload, a miss at an offered rate."""
    in_time: int = 0
    """Calls answered before the run's time was over; other calls were still active then."""
    late: int = 0
    """Calls that started more than a second after they were due."""

    def add(self, kind: str, outcome: str, seconds: float) -> None:
        """Count one answer."""
        self.seconds.setdefault(kind, []).append(seconds)
        self.outcomes[kind, outcome] += 1


@dataclass(frozen=True, slots=True)
class Run:
    """A run's settings and results."""

    replicas: int
    clients: int
    seconds: float
    offered: float
    """Calls per second of all clients together; 0: each client calls again at once."""
    tally: Tally
    acknowledged: int
    read_back: int
    """Acknowledged artifacts that were read back unchanged."""
    lost: tuple[str, ...]
    wrong: tuple[str, ...]
    foreign: tuple[str, ...]
    """Artifacts that another tenant could read."""
    kills: int
    cpu: Mapping[str, float]
    """Processor seconds by role during the run."""
    machine: float
    """Processor seconds of everything on this machine."""
    processors: int
    busy_programs: int = 0
    """Other programs that kept processors busy during the run."""

    @property
    def answered(self) -> int:
        """Calls that were answered and not refused."""
        return sum(len(times) for times in self.tally.seconds.values())

    @property
    def rate(self) -> float:
        """Calls answered per second of the run."""
        return self.tally.in_time / self.seconds

    @property
    def busy(self) -> float:
        """Share of the machine's processors in use, by this run or other programs."""
        return self.machine / self.seconds / self.processors

    @property
    def own(self) -> float:
        """Share of the machine's processors used by this run."""
        return sum(self.cpu.values()) / self.seconds / self.processors


def percentile(times: Sequence[float], share: float) -> float:
    """Return the quantile of `times` at `share`, from 0 to 1; 0 if there are no times."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def find_misses(run: Run) -> list[str]:
    """Return the requirements that a run misses."""
    found = [f"{len(run.lost)} acknowledged artifacts lost: {run.lost[:3]}"] if run.lost else []
    found += [f"{len(run.wrong)} read back with another text: {run.wrong[:3]}"] if run.wrong else []
    found += [f"{len(run.foreign)} read by another tenant: {run.foreign[:3]}"] if run.foreign else []
    found += [f"{len(run.tally.faults)} answers were wrong"] if run.tally.faults else []
    found += [f"{run.tally.undigested} answers show undigested text"] if run.tally.undigested else []
    stopping = run.tally.refusals["503 draining"]
    found += [f"{stopping} calls were refused by a replica that stopped"] if stopping else []
    found += ["no call was answered"] if not run.answered else []
    if run.offered and run.tally.out_of_time and not run.busy_programs:
        found.append(f"{run.tally.out_of_time} calls ran out of time at {run.offered:g} calls/s offered")
    p95 = percentile(run.tally.seconds.get(SMALL, []), 0.95)
    if run.offered and not (run.kills or run.busy_programs) and p95 > MAX_SMALL_P95:
        found.append(f"p95 of small fetches is {p95:.2f} s at {run.offered:g} calls/s offered")
    return found


def format_run(run: Run) -> str:
    """Return a run as Markdown."""
    offered = f"{run.offered:g} calls/s offered" if run.offered else "unlimited rate"
    offered += f", {run.busy_programs} busy programs" if run.busy_programs else ""
    lines = [
        f"### {run.replicas} replica{'s' * (run.replicas > 1)}, {run.clients} clients, {run.seconds:.0f} s, {offered}",
        "",
        "| call | answers | p50 ms | p95 ms | p99 ms | outcomes |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for kind, times in sorted(run.tally.seconds.items()):
        marks = (f"{1_000 * percentile(times, share):,.0f}" for share in (0.5, 0.95, 0.99))
        outcome = Counter({what: number for (one, what), number in run.tally.outcomes.items() if one == kind})
        words = ", ".join(f"{what} {number}" for what, number in outcome.most_common())
        lines.append(f"| {kind} | {len(times):,} | {' | '.join(marks)} | {words} |")
    lines += ["", *_summary(run)]
    return "\n".join(lines)


def _summary(run: Run) -> list[str]:
    tally = run.tally
    refusals = ", ".join(f"{code} {number:,}" for code, number in tally.refusals.most_common()) or "none"
    processors = ", ".join(f"{role} {seconds:.1f}" for role, seconds in run.cpu.items())
    each = 1_000 * sum(run.cpu.values()) / max(1, run.tally.in_time)
    lines = [
        f"{run.rate:.1f} calls/s answered; refused: {refusals}; "
        f"out of time {tally.out_of_time:,}; started late {tally.late:,}; repeated {tally.retried:,}, and "
        f"{tally.pending:,} whose page was not read in time; undigested texts {tally.undigested:,}.",
        f"{run.acknowledged:,} artifacts acknowledged, {run.read_back:,} read back unchanged, "
        f"{len(run.lost)} lost, {len(run.wrong)} wrong, {len(run.foreign)} read by another tenant; "
        f"{run.kills} replicas ended.",
        f"Processor seconds: {processors}: {run.own:.0%} of {run.processors} processors, {each:.0f} ms a call; "
        f"with all other programs on this machine {run.busy:.0%}.",
    ]
    return lines + [f"- {fault}" for fault in tally.faults[:EXAMPLES]]


def comparison_lines(one: Run, many: Run) -> list[str]:
    """Return a line on the gain of more replicas, and one on busy processors if these limited the gain."""
    ratio = many.rate / one.rate if one.rate else 0.0
    lines = [f"{many.replicas} replicas answered {ratio:.2f} × as many calls as {one.replicas}."]
    if ratio < MIN_RATIO and one.busy >= BUSY:
        lines.append(
            f"With one replica {one.busy:.0%} of this machine's {one.processors} processors were in use already, "
            f"{one.own:.0%} by this run: too little was left for more replicas."
        )
    return lines


def is_gain_too_small(one: Run, many: Run) -> bool:
    """Return whether more replicas gained too little although processors were idle."""
    return one.offered == 0 and many.rate < MIN_RATIO * one.rate and one.busy < BUSY


def to_json(run: Run) -> dict[str, Any]:
    """Return a run as a JSON value."""
    facts = asdict(run)
    times = facts.pop("tally")["seconds"]
    marks = {kind: {f"p{share}": percentile(one, share / 100) for share in (50, 95, 99)} for kind, one in times.items()}
    outcome: dict[str, dict[str, int]] = {}
    for (kind, what), number in run.tally.outcomes.items():
        outcome.setdefault(kind, {})[what] = number
    return facts | {
        "rate": run.rate,
        "busy": run.busy,
        "own": run.own,
        "out_of_time": run.tally.out_of_time,
        "times": marks,
        "outcomes": outcome,
        "refused": dict(run.tally.refusals),
        "faults": run.tally.faults,
        "late": run.tally.late,
        "retried": run.tally.retried,
        "pending": run.tally.pending,
        "undigested": run.tally.undigested,
        "misses": find_misses(run),
    }
