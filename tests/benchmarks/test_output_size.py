"""The benchmark of very large outputs: its outputs, and what it counts as a miss."""

from __future__ import annotations

import pytest

from benchmarks.outputs.size import ANSWER, CASES, Measured, blocks, misses

GOOD = Measured(9.0, 2.0, 100, f'{ANSWER}Next: read_artifact(id="abc", offset=0)')


@pytest.mark.parametrize("content", ["log", "line", "binary", "latin"])
def test_an_output_has_about_its_size_and_a_log_contains_its_answer_once(content: str) -> None:
    output = b"".join(blocks(content, 5))
    assert 4_000_000 < len(output) < 5_100_000
    assert output.count(ANSWER.encode()) == (content == "log")


def test_a_case_misses_its_limits_and_its_answer() -> None:
    assert misses(CASES[0], GOOD) == []
    assert misses(CASES[0], Measured(9.0, 4.0, 200, "x" * 5_000)) == [
        "more than 3 s",
        "more than 150 MB",
        "over its budget",
        "not stored",
        "without its answer",
    ]
