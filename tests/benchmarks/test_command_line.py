"""A small run of the command line benchmark."""

from __future__ import annotations

import pytest

from benchmarks.server import command_line


def test_every_command_is_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["command_line.py", "--rounds", "1"])
    assert command_line.main() == 0
    rows = capsys.readouterr().out.splitlines()[2:]
    assert len(rows) == len(command_line.commands(""))
    assert all(float(row.split("/")[-2]) > 0 for row in rows)
