"""The events of the benchmark of a hook's start."""

from __future__ import annotations

import json
import os

import pytest

from benchmarks.outputs.corpus import Output
from benchmarks.outputs.hook_start import event, largest, resize
from keyhole.outputs.hooks.answer import answer

SMALL, LARGE = (Output(f"app/{size}", "command-log", "make orders", 0, "line of a log\n" * size) for size in (2, 20))


def test_a_text_is_repeated_and_cut_to_a_size() -> None:
    assert resize("abc", 7) == "abcabca"
    assert resize("abc", 2) == "ab"


def test_the_largest_output_of_a_kind_is_used() -> None:
    assert largest({output.id: output for output in (SMALL, LARGE)}, "command-log") == LARGE


@pytest.mark.parametrize(("size", "is_answered"), [(2_000, False), (20_000, True)])
def test_only_a_long_output_is_answered(size: int, is_answered: bool) -> None:
    reply = answer(event(LARGE, size), "claude", 4_000, {**os.environ, "KEYHOLE_KEEP_OUTPUTS": "off"})
    assert bool(reply) == is_answered
    assert not reply or "stdout" in json.loads(reply)["hookSpecificOutput"]["updatedToolOutput"]
