"""Store artifacts and print a line for each, until killed: `python -m benchmarks.store.faults.writer HOME SEED`."""

from __future__ import annotations

import itertools
import os
import sys
import time
from pathlib import Path
from typing import Final

from benchmarks.store.faults.checks import hash_text, make_artifact, open_store, search_terms

PAUSE: Final = 0.005
"""Seconds between two artifacts. SQLite's lock is not fair: a writer without pauses starves the others."""


def main(home: Path, seed: int, count: int | None = None) -> None:
    """Print `kept` for each artifact stored on disk, and `memory` for each stored in memory only."""
    stores, store = open_store(home, long_running=True)
    print_line("opened")
    for number in itertools.count() if count is None else range(count):
        artifact = make_artifact(seed, number)
        store.put(artifact, search_terms(artifact))
        print_line(f"{'memory' if store.warning() else 'kept'} {artifact.id} {hash_text(artifact)}")
        time.sleep(PAUSE)
    stores.close()


def print_line(line: str) -> None:
    """Print a line in a single write, so that a kill cannot truncate it."""
    os.write(1, f"{line}\n".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else None)
