"""Trace the system calls that store an artifact, and check that all data is synced before the acknowledgement."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.store.faults.kills import environment

CALLS: Final = "write,pwrite64,writev,pwritev,fsync,fdatasync,ftruncate,unlink,unlinkat,openat"
SYNCS: Final = frozenset({"fsync", "fdatasync"})
WRITES: Final = frozenset({"write", "pwrite64", "writev", "pwritev"})
ACKNOWLEDGED: Final = re.compile(r'^write\(1(?:<[^>]*>)?, "kept ')

_CALL: Final = re.compile(r"^(\w+)\(\d+<([^>]*)>.*\) += ([-\d]+)")
_REMOVAL: Final = re.compile(r'^unlink(?:at)?\((?:\w+(?:<[^>]*>)?, )?"([^"]*)".*\) += 0')


@dataclass(frozen=True, slots=True)
class Event:
    """One system call on a file of the store."""

    call: str
    file: str


def trace(home: Path, puts: int) -> list[str]:
    """Return the output of strace for a writer process that stores `puts` artifacts."""
    with tempfile.NamedTemporaryFile(mode="r", suffix=".strace") as out:
        command = ["strace", "-y", "-qq", "-s", "300", "-e", f"trace={CALLS}", "-o", out.name]
        writer = [sys.executable, "-m", "benchmarks.store.faults.writer", str(home), "1", str(puts)]
        subprocess.run([*command, *writer], env=environment(), stdout=subprocess.DEVNULL, check=True, timeout=120)
        return out.read().splitlines()


def split_puts(lines: Iterable[str], home: str) -> list[list[Event]]:
    """Return for each acknowledgement the calls on files in `home` since the previous acknowledgement."""
    puts: list[list[Event]] = []
    events: list[Event] = []
    for line in lines:
        if ACKNOWLEDGED.match(line):
            puts.append(events)
            events = []
        elif (call := _CALL.match(line)) and call[2].startswith(home) and not call[3].startswith("-"):
            events.append(Event(call[1], call[2].removeprefix(home).lstrip("/") or "."))
        elif (removal := _REMOVAL.match(line)) and removal[1].startswith(home):
            events.append(Event("unlink", removal[1].removeprefix(home).lstrip("/")))
    return puts


def find_faults(events: Sequence[Event]) -> list[str]:
    """Return the faults of one put: data not synced before the acknowledgement, or written in a dangerous order."""
    database = [event for event in events if "/" not in event.file and event.file.endswith((".db", ".db-wal"))]
    wrong = []
    if not any(event.call in WRITES for event in database):
        wrong.append("the database was never written")
    last: dict[str, int] = {}
    synced: dict[str, int] = {}
    for number, event in enumerate(events):
        (synced if event.call in SYNCS else last if event.call in WRITES else {})[event.file] = number
    for file in sorted(last):
        if file.endswith("-shm"):
            continue  # an index of the log, which SQLite rebuilds
        if synced.get(file, -1) < last[file]:
            wrong.append(f"{file} was written after its last sync")
    return wrong + _journal_faults(events)


def _journal_faults(events: Sequence[Event]) -> list[str]:
    """Return the faults in the order of journal and database writes.

    A rollback journal must be synced before the pages it can restore are overwritten. Its removal, which is the commit,
    must be synced before the acknowledgement. Otherwise a power cut could restore the old pages.
    """
    wrong, unsynced, ended = [], False, ""
    for event in events:
        if event.file.endswith("-journal"):
            unsynced = (unsynced or event.call in WRITES) and event.call not in SYNCS
            ended = event.call if event.call in ("unlink", "ftruncate") else ended
            ended = "" if ended == "ftruncate" and event.call in SYNCS else ended
        elif event.file == "." and event.call in SYNCS:
            ended = ""
        elif event.file.endswith(".db") and event.call in WRITES and unsynced:
            wrong.append("the database was overwritten before its journal was on the disk")
    return wrong + (["the end of the journal was not on the disk"] if ended else [])


def format_order(events: Sequence[Event]) -> str:
    """Return the calls of one put as a line, with repeated calls merged."""
    steps: list[str] = []
    for event in events:
        step = f"{event.call} {event.file}"
        if not steps or steps[-1] != step:
            steps.append(step)
    return " → ".join([*steps, "acknowledged"])
