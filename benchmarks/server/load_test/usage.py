"""What processes take of the machine, with all that they started: processor time and memory. Linux only."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

TICK: Final = os.sysconf("SC_CLK_TCK")
"""A second in the kernel's count of processor time."""


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found = [pid]
    for one in found:
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            found += [int(word) for word in _read(children).split()]
    return found


def cpu_seconds(pid: int) -> float:
    """Seconds of processor time of a process, of what it started and of what it saw end."""
    own = sum(_ticks(pid, 11, 15))
    return (own + sum(sum(_ticks(one, 11, 15)) for one in family(pid)[1:])) / TICK


def machine_seconds() -> float:
    """Seconds of processor time that everything on this machine took, and that was taken from it."""
    user, nice, system, _, _, *rest = (int(word) for word in _read(Path("/proc/stat")).split("\n")[0].split()[1:9])
    return (user + nice + system + sum(rest)) / TICK


def resident(pid: int) -> float:
    """Megabytes of memory that one process alone has in use."""
    found = [line for line in _read(Path(f"/proc/{pid}/status")).splitlines() if line.startswith("VmRSS:")]
    return int(found[0].split()[1]) / 1_000 if found else 0.0


def _ticks(pid: int, first: int, last: int) -> list[int]:
    # Behind the name in parentheses, which may hold anything: user, system, and both of the children waited for.
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return [int(field) for field in fields[first:last]]


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # it ended while we looked
        return ""
