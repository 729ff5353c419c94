"""The figures of the source tree stay within their limits, and count what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.source import __main__ as command
from benchmarks.source import figures
from benchmarks.source.figures import Limit, count_code_lines, measure, read_limits
from benchmarks.source.imports import find_circles
from benchmarks.source.loaded_modules import LoadedModules, record_fetch

CODE = '''"""A module.

Its docstring."""

import os  # a comment behind code

# a comment
LIMIT = 5
"""A docstring of a constant."""

TEXT = """first

third"""


def add(
    a: int,
) -> int:
    """Add."""

    return a + LIMIT
'''


def test_no_figure_exceeds_its_limit() -> None:
    assert command.exceeded_limits(measure(), read_limits()) == []


def test_code_lines_exclude_blank_lines_comments_and_docstrings() -> None:
    assert count_code_lines(CODE) == 8
    assert count_code_lines('"""Only a docstring."""\n') == 0
    assert count_code_lines("") == 0


def test_circles_that_share_a_node_are_one() -> None:
    edges = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"), ("c", "d"), ("e", "e"), ("f", "g"), ("g", "f")]
    assert find_circles(edges) == [["a", "b", "c"], ["f", "g"]]


def test_a_fetch_loads_its_modules_in_the_command_and_in_its_worker() -> None:
    loaded = record_fetch()
    assert {"keyhole.__main__", "keyhole.fetch.client", "keyhole.extract.workers.worker_pool"} <= loaded.command
    assert {"keyhole.extract.workers.child", "keyhole.extract.html.converter"} <= loaded.worker
    assert not {"keyhole.extract.html.converter", "keyhole.serve.stdio"} & loaded.command


def test_the_command_prints_the_figures_and_fails_over_a_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", ["source", "--short"])
    monkeypatch.setattr(figures, "record_fetch", lambda: LoadedModules(frozenset("ab"), frozenset("bc")))
    limits = {name: Limit(10**6) for name in read_limits()}
    monkeypatch.setattr(command, "read_limits", lambda: limits)
    assert command.main() == 0
    printed = capsys.readouterr().out
    assert "| modules of a fetch | 3 |" in printed and "| extensions/browser | " in printed
    limits["modules_of_a_fetch"] = Limit(2, 1)
    assert command.main() == 1
    assert capsys.readouterr().err == "modules of a fetch: 3, over the limit of 2\n"
