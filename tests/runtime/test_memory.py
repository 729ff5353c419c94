"""Memory of large blocks goes back to the operating system."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from pathlib import Path
from keyhole.runtime.memory import return_large_blocks

def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

if sys.argv[1] == "returned":
    return_large_blocks()
kept = []
before = resident()
for _ in range(6):
    body = bytes([1]) * 12_000_000
    kept.append(bytes([2]) * 200_000)
    del body
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems return it anyway")
def test_large_blocks_are_returned_between_small_ones_that_stay() -> None:
    command = [sys.executable, "-c", PROGRAM, "returned"]
    assert int(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout) < 4_000_000
