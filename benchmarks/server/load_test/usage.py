"""Measure processor time and memory of processes and their children. Linux only."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

TICK: Final = os.sysconf("SC_CLK_TCK")
"""Ticks per second in the kernel's count of processor time."""


def process_tree(pid: int) -> list[int]:
    """Return the ids of a process and all its descendants."""
    found = [pid]
    for one in found:
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            found += [int(word) for word in _read(children).split()]
    return found


def cpu_seconds(pid: int) -> float:
    """Return the processor seconds of a process and its descendants, including ended ones."""
    own = sum(_ticks(pid, 11, 15))
    return (own + sum(sum(_ticks(one, 11, 15)) for one in process_tree(pid)[1:])) / TICK


def own_cpu_seconds(pid: int) -> float:
    """Return the processor seconds of one process."""
    return sum(_ticks(pid, 11, 13)) / TICK


def machine_seconds() -> float:
    """Return the processor seconds of everything on this machine, including time stolen by its host."""
    user, nice, system, _, _, *rest = (int(word) for word in _read(Path("/proc/stat")).split("\n")[0].split()[1:9])
    return (user + nice + system + sum(rest)) / TICK


def resident_megabytes(pid: int) -> float:
    """Return the resident memory of one process, in megabytes."""
    found = [line for line in _read(Path(f"/proc/{pid}/status")).splitlines() if line.startswith("VmRSS:")]
    return int(found[0].split()[1]) / 1_000 if found else 0.0


def _ticks(pid: int, first: int, last: int) -> list[int]:
    # Fields after the name in parentheses, which may contain any character: user and system time, of the process and
    # of its ended children.
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return [int(field) for field in fields[first:last]]


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the process has just ended
        return ""
