"""Kill processes that store artifacts, at random moments, and check that no acknowledged artifact is lost."""

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

from benchmarks.store.faults.checks import Tally, check, list_files, open_store

ROOT: Final = Path(__file__).resolve().parents[3]
OPENING: Final = 0.6
"""Maximum seconds before the kill of a process that is killed while its store opens."""
AFTER_ACKNOWLEDGED: Final = 0.03
"""Maximum seconds from the last awaited acknowledgement to the kill: twice the time of a put."""
MAX_ACKNOWLEDGED: Final = 12
OPENING_SHARE: Final = 0.15
"""Share of the runs that are killed while the store opens."""


@dataclass(slots=True)
class KillResult:
    """The result of a series of kills."""

    runs: int = 0
    acknowledged: dict[str, str] = field(default_factory=dict)
    """Text hashes by id."""
    in_memory: int = 0
    """Artifacts stored in memory only, because another process had locked the file for too long."""
    in_transaction: int = 0
    """Runs that left a journal, because they were killed within a transaction."""
    left: set[str] = field(default_factory=set)
    """Files that a clean exit would not leave."""
    tally: Tally = field(default_factory=Tally)


def run_kills(runs: int, seed: int) -> KillResult:
    """Run one or two writers on one folder and kill them; repeat this `runs` times."""
    done = KillResult()
    with tempfile.TemporaryDirectory() as scratch:
        home, clean = Path(scratch, "home"), list_clean_files(Path(scratch, "clean"))
        for run in range(runs):
            chance = random.Random(f"kill {seed}/{run}")
            lines = run_writers(
                home, [seed * 100_000 + 2 * run + writer for writer in range(chance.choice((1, 1, 2)))], chance
            )
            done.runs += 1
            done.in_transaction += any(name.endswith(("-journal", "-wal")) for name in list_files(home))
            for word, id, digest in (line.split() for line in lines if line != "opened"):
                if word == "kept":
                    done.acknowledged[id] = digest
                done.in_memory += word == "memory"
            done.tally += check(home, done.acknowledged.items())
            done.left |= (left := list_files(home) - clean)
            done.tally.leftovers += len(left)
    return done


def run_writers(home: Path, seeds: list[int], chance: random.Random) -> list[str]:
    """Start writers, kill them after a random time, and return the lines they printed."""
    writers = [start_writer(home, seed) for seed in seeds]
    try:
        if chance.random() < OPENING_SHARE:
            time.sleep(chance.random() * OPENING)
            lines = []
        else:
            lines = [_read_line(writers[0]) for _ in range(chance.randint(1, MAX_ACKNOWLEDGED) + 1)]
            time.sleep(chance.random() * AFTER_ACKNOWLEDGED)
    finally:
        for writer in writers:
            writer.kill()
    for writer in writers:
        lines += writer.communicate(timeout=60)[0].splitlines()
    return [line for line in lines if line]


def start_writer(home: Path, seed: int) -> subprocess.Popen[str]:
    """Start a writer process."""
    command = [sys.executable, "-m", "benchmarks.store.faults.writer", str(home), str(seed)]
    return subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)


def environment() -> dict[str, str]:
    """Return environment variables with which a subprocess can import Keyhole and the benchmarks."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "server"), str(ROOT)])}


def list_clean_files(home: Path) -> set[str]:
    """Return the files of a store after a clean exit."""
    stores, store = open_store(home, long_running=False)
    store.list(1)
    stores.close()
    return list_files(home)


def _read_line(writer: subprocess.Popen[str]) -> str:
    out: IO[str] | None = writer.stdout
    return out.readline().strip() if out else ""
