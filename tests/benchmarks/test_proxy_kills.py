"""A killed server, proxy or client leaves no process behind, no caller without an answer and no damaged store."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.proxy.kills import CALLS, run


@pytest.mark.skipif(sys.platform != "linux", reason="a process adopts the children of others only on Linux")
def test_a_kill_of_each_side_leaves_nothing_wrong(tmp_path: Path) -> None:
    counts = run(points=3, seed=7, home=tmp_path)
    assert not counts.wrong
    assert counts.answers.total() >= CALLS
