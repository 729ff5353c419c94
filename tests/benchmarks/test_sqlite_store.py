"""The measures of the embedded store find nothing lost and nothing wrong, in small."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(__file__).resolve().parents[2] / "benchmarks" / "sqlite_store.py"


@pytest.mark.parametrize(
    ("action", "count", "said"),
    [
        ("writers", 20, "4 processes x 20 writes: 0 lost, 0 damaged, 0 refused"),
        ("readers", 250, "1000 reads: 0 wrong"),
        ("migrate", 1, "1 MB of text: opened in"),
    ],
)
def test_the_store_keeps_its_word_under_measure(tmp_path: Path, action: str, count: int, said: str) -> None:
    run = subprocess.run(
        [sys.executable, str(COMMAND), action, str(tmp_path), "--count", str(count)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert said in run.stdout
