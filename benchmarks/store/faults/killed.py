"""Processes that keep artifacts, killed with SIGKILL at random moments; after each restart all must be there."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from benchmarks.store.faults.kept import Tally, check, names, opened

ROOT: Final = Path(__file__).resolve().parents[3]
OPENING: Final = 0.6
"""Seconds: a process that is killed before its first acknowledgement dies within these, at any step of its start."""
BETWEEN: Final = 0.03
"""Seconds: one that acknowledged some dies within these after the last that was waited for, twice what a put takes."""
MOST_ACKNOWLEDGED: Final = 12
UNBORN: Final = 0.15
"""Share of the runs that are killed while the store opens."""


@dataclass(slots=True)
class Killed:
    """What a series of kills left behind."""

    runs: int = 0
    acknowledged: dict[str, str] = field(default_factory=dict)
    """Digests by id."""
    held: int = 0
    """Artifacts that were said to be in memory only, because another process kept the file locked for too long."""
    hot: int = 0
    """Runs after which a journal stood there: they were killed in the middle of a transaction."""
    left: set[str] = field(default_factory=set)
    tally: Tally = field(default_factory=Tally)


def kill(runs: int, seed: int) -> Killed:
    """So many runs on one folder, each with one or two writers at once."""
    done = Killed()
    with tempfile.TemporaryDirectory() as scratch:
        home, clean = Path(scratch, "home"), clean_names(Path(scratch, "clean"))
        for run in range(runs):
            chance = random.Random(f"kill {seed}/{run}")
            lines = one_run(
                home, [seed * 100_000 + 2 * run + writer for writer in range(chance.choice((1, 1, 2)))], chance
            )
            done.runs += 1
            done.hot += any(name.endswith(("-journal", "-wal")) for name in names(home))
            for word, id, digest in (line.split() for line in lines if line != "opened"):
                if word == "kept":
                    done.acknowledged[id] = digest
                done.held += word == "held"
            done.tally += check(home, done.acknowledged.items())
            done.left |= (left := names(home) - clean)
            done.tally.leftovers += len(left)
    return done


def one_run(home: Path, seeds: list[int], chance: random.Random) -> list[str]:
    """What the writers acknowledged before they were killed."""
    writers = [started(home, seed) for seed in seeds]
    try:
        if chance.random() < UNBORN:
            time.sleep(chance.random() * OPENING)
            lines = []
        else:
            lines = [_line(writers[0]) for _ in range(chance.randint(1, MOST_ACKNOWLEDGED) + 1)]
            time.sleep(chance.random() * BETWEEN)
    finally:
        for writer in writers:
            writer.kill()
    for writer in writers:
        lines += writer.communicate(timeout=60)[0].splitlines()
    return [line for line in lines if line]


def started(home: Path, seed: int) -> subprocess.Popen[str]:
    """A writer."""
    command = [sys.executable, "-m", "benchmarks.store.faults.writer", str(home), str(seed)]
    return subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)


def environment() -> dict[str, str]:
    """In which a process finds Keyhole and these files."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "server"), str(ROOT)])}


def clean_names(home: Path) -> set[str]:
    """The files of a store that was opened and closed as it should be."""
    stores, store = opened(home, lasting=False)
    store.list(1)
    stores.close()
    return names(home)


def _line(writer: subprocess.Popen[str]) -> str:
    out: IO[str] | None = writer.stdout
    return out.readline().strip() if out else ""
