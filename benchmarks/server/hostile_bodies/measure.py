"""Measure one row: one kind of bodies at one size, beside calls on a stored page."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import cycle, islice
from typing import Any, Final

from benchmarks.server.hostile_bodies.attack import Attack, BodyKind, place
from benchmarks.server.hostile_bodies.keyhole_server import AT_ONCE, STORED_HOST, RunningServer
from benchmarks.server.hostile_bodies.site import HostileSite
from benchmarks.server.load_test.usage import cpu_seconds, own_cpu_seconds, process_tree, resident_megabytes
from benchmarks.server.wire import SilentError

MAX_DELAY: Final = 1.0
"""Greatest seconds of a call on the stored page."""
MAX_MEMORY: Final = 100.0
"""Greatest change of the server's memory after the calls, in MB."""
PATIENCE: Final = 5.0
"""Seconds after which a call on the stored page counts as unanswered, and the server is replaced."""
ROW_SECONDS: Final = 90.0
"""Seconds for all calls of a row."""
BUSY_SECONDS: Final = 10.0
"""Seconds that the server may work on after all calls of a row were answered. Its workers may finish pages longer, for
later calls; the next row then has a new server."""
SAMPLE: Final = 0.1
"""Seconds between two calls on the stored page, in which the server's processor time is measured."""
BUSY_SHARE: Final = 0.15
"""Share of a processor from which the server and its workers are busy. It is small, since a busy machine may give them
no more; one tick of the kernel's count is 0.1 of a pause."""
IDLE_PAUSES: Final = 3
"""Pauses in a row in which they must be idle, before the next row begins."""


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of a kind at a size."""

    kind: str
    percent: int
    bytes: int
    outcomes: str
    delay: float
    """The slowest call on the stored page, in seconds."""
    memory: float
    """The change of the server's memory since before the calls, in MB."""
    total: float
    """The same since the server's first calls."""
    workers: float
    """The memory of the server's workers after the calls, in MB."""
    seconds: float
    faults: tuple[str, ...]
    is_lost: bool
    """True if the server cannot be used for another row."""

    @property
    def is_only_late(self) -> bool:
        """Return whether nothing but late calls is wrong, all of which were answered."""
        return len(self.faults) == 1 and MAX_DELAY < self.delay < PATIENCE

    @property
    def facts(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return asdict(self)


def measure(server: RunningServer, site: HostileSite, kind: BodyKind, percent: int, numbers: Iterator[int]) -> Row:
    """Serve and request the bodies of a kind at a share of their limit. `numbers`: of attacks, none used before."""
    size = kind.limit * percent // 100
    attacks = make_attacks(kind, size, numbers)
    site.serve(attacks)
    before, started = server.memory, time.monotonic()
    watch = _Watch(server, attacks, 1 if kind.recovery else AT_ONCE)
    watch.run()
    memory = _settled_memory(server, before)
    growth, total = memory - before, memory - server.base
    missing = [] if watch.is_lost else site.unrequested(attacks)
    faults = [*dict.fromkeys(watch.faults), *find_faults(watch.outcomes, watch.delay, growth, total, missing)]
    if any(each.startswith(STORED_HOST) for each in site.requested):
        faults.append("NOT MEASURED, the stored page was requested")
    return Row(
        kind.name, percent, size, ", ".join(f"{code} {count}" for code, count in Counter(watch.outcomes).most_common()),
        watch.delay, growth, total, sum(map(resident_megabytes, process_tree(server.pid)[1:])),
        time.monotonic() - started, tuple(faults), watch.is_lost or total > MAX_MEMORY,
    )  # fmt: skip


def find_faults(
    outcomes: Sequence[str], delay: float, growth: float, total: float, missing: Sequence[str]
) -> list[str]:
    """Return what is wrong with the figures of a row. `missing`: targets that were never requested."""
    faults = []
    if delay > MAX_DELAY:
        faults.append(f"a call on the stored page took {'over ' * (delay >= PATIENCE)}{delay:.1f} s")
    if max(growth, total) > MAX_MEMORY:
        faults.append(f"the server kept {growth:.0f} MB, {total:.0f} MB since its start")
    if missing:
        more = f" and {len(missing) - 1} more" if missing[1:] else ""
        faults.append(f"NOT MEASURED, never requested: {missing[0]}{more}")
    return [*faults, *(f"a call ended with {each}" for each in _UNNAMED if each in outcomes)]


_UNNAMED: Final = ("internal_error", "no answer")
"""Outcomes that no body may cause."""


def make_attacks(kind: BodyKind, size: int, numbers: Iterator[int]) -> list[Attack]:
    """Return an attack for each variant of a kind, and as many as run at once if there are fewer."""
    made = [lead(body(size)) for lead, body in kind.variants]
    if kind.recovery:
        made = [each for attack in made for each in (attack, kind.recovery)]
    return [place(attack, next(numbers)) for attack in islice(cycle(made), max(AT_ONCE, len(made)))]


def _settled_memory(server: RunningServer, before: float) -> float:
    """Return the server's memory after the calls, when it has had some time to free it."""
    until = time.monotonic() + 2.0
    while (memory := server.memory) - before > MAX_MEMORY / 2 and time.monotonic() < until:
        time.sleep(SAMPLE)
    return memory


@dataclass(slots=True)
class _Watch:
    """The calls of a row: the attacks in a thread, and those on the stored page in this one."""

    server: RunningServer
    attacks: Sequence[Attack]
    at_once: int
    outcomes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    delay: float = 0.0
    is_lost: bool = False

    def run(self) -> None:
        """Make all calls, and note outcomes, the slowest call and faults."""
        thread = threading.Thread(target=self._attack, daemon=True)
        try:
            reads = self.server.read_stored(PATIENCE)
            thread.start()
            while thread.is_alive():
                self._read(reads)
            self._wait_until_idle(reads)
        except SilentError:
            self.delay = PATIENCE
            self._lose("")
        except (ValueError, OSError) as error:
            self._lose(f"the connection failed: {error}")
        if not self.server.is_alive():
            self._lose("the server ended")
        self.is_lost |= "no answer" in self.outcomes

    def _attack(self) -> None:
        try:
            self.outcomes += self.server.attack(self.attacks, time.monotonic() + ROW_SECONDS, self.at_once)
        except (SilentError, OSError, ValueError, KeyError):
            self.outcomes.append("no answer")

    def _read(self, reads: Iterator[tuple[str, float]]) -> tuple[float, float]:
        """Read the stored page and pause; return the processors that the server used meanwhile, and with workers."""
        outcome, seconds = next(reads)
        self.delay = max(self.delay, seconds)
        if outcome != "ok":
            self.faults.append(f"a call on the stored page ended with {outcome}")
        pid = self.server.pid
        own, everything = own_cpu_seconds(pid), cpu_seconds(pid)
        time.sleep(SAMPLE)
        return (own_cpu_seconds(pid) - own) / SAMPLE, (cpu_seconds(pid) - everything) / SAMPLE

    def _wait_until_idle(self, reads: Iterator[tuple[str, float]]) -> None:
        """Wait until no work of this row is left that could delay the calls of the next one."""
        until, idle = time.monotonic() + BUSY_SECONDS, 0
        while idle < IDLE_PAUSES:
            own, everything = self._read(reads)
            idle = 0 if everything > BUSY_SHARE else idle + 1
            if time.monotonic() > until:
                self._lose(f"busy {BUSY_SECONDS:.0f} s after all calls were answered" if own > BUSY_SHARE else "")
                return

    def _lose(self, fault: str) -> None:
        self.faults += [fault] if fault else []
        self.is_lost = True
