"""A small run of the benchmark of stored pages as resources, in both eras."""

from __future__ import annotations

import pytest

from benchmarks.server import resources


def test_clients_that_list_complete_and_read_are_timed(capsys: pytest.CaptureFixture[str]) -> None:
    assert resources.main(["--count", "60"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum("| completion/complete | 120 |" in line for line in lines) == 2
    assert sum("pages of 60" in line for line in lines) == 2
