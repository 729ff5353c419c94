"""Small runs of the benchmark of the SQLite store find nothing lost or wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "benchmarks.store.sqlite_store"]


@pytest.mark.parametrize(
    ("action", "count", "expected"),
    [
        ("writers", 10, "4 processes x 10 writes: 0 lost, 0 damaged, 0 refused"),
        ("readers", 100, "400 reads: 0 wrong"),
    ],
)
def test_the_benchmark_finds_nothing_lost_or_wrong(tmp_path: Path, action: str, count: int, expected: str) -> None:
    run = subprocess.run(
        [*COMMAND, action, str(tmp_path), "--count", str(count)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert expected in run.stdout
