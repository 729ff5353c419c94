"""A process that keeps artifacts and says so, a line each, until it is killed: `python -m faults.writer HOME SEED`."""

from __future__ import annotations

import itertools
import os
import sys
import time
from pathlib import Path
from typing import Final

from benchmarks.store.faults.kept import digest, made, opened, terms

PAUSE: Final = 0.005
"""Seconds between two artifacts. SQLite has no queue for its lock: who writes without a pause lets nobody else in."""


def main(home: Path, seed: int, count: int | None = None) -> None:
    """Acknowledge each artifact on stdout once the store took it; one that only memory took is called `held`."""
    stores, store = opened(home, lasting=True)
    say("opened")
    for number in itertools.count() if count is None else range(count):
        artifact = made(seed, number)
        store.put(artifact, terms(artifact))
        say(f"{'held' if store.warning() else 'kept'} {artifact.id} {digest(artifact)}")
        time.sleep(PAUSE)
    stores.close()


def say(line: str) -> None:
    """One write, so that a line is there whole or not at all."""
    os.write(1, f"{line}\n".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else None)
