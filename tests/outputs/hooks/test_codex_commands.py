"""Commands of Codex do the same with `--rewrite-commands` as without, in the shells that Codex uses."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.outputs.codex_commands import Case, compare, main, read_cases

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs a proc file system, as on Linux")


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case.name)
def test_a_command_behaves_as_without_keyhole(case: Case, tmp_path: Path) -> None:
    if shutil.which(case.shell[0]) is None:
        pytest.skip(f"no {case.shell[0]} on this machine")
    difference = compare(case, tmp_path)
    if case.differs:
        assert difference, "the difference is gone: remove `differs` from the table"
    else:
        assert difference == ""


def test_the_names_of_the_cases_are_different() -> None:
    names = [case.name for case in read_cases()]
    assert len(set(names)) == len(names) >= 94


def test_the_comparison_prints_how_many_commands_are_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--case", "greatest exit status"]) == 0
    assert capsys.readouterr().out == "1 of 1 commands behave the same with Keyhole\n"
