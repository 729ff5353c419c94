"""The labels before the lines of several programs are found, and left out of what is read."""

from __future__ import annotations

import pytest

from keyhole.outputs.kinds import MIN_LINES, take_labels
from keyhole.outputs.read import read_output, recognise

NAMES = ("api", "worker")
LINES = [f"line {number} of the log" for number in range(MIN_LINES)]


@pytest.mark.parametrize("form", ["[{}] ", "{}-1  | ", "@town/{}:build: ", "{}: ", "{}\t", "{} > "])
def test_a_label_before_each_line_is_taken(form: str) -> None:
    text = "".join(f"{form.format(name)}{line}\n" for line in LINES for name in NAMES)
    bare, labels = take_labels(text)
    assert bare == "".join(f"{line}\n" for line in LINES for _ in NAMES)
    assert labels is not None


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"word{number}: a text\n" for number in range(90)),
        "".join(f"{level}: a line {number}\n" for number in range(90) for level in ("INFO", "ERROR")),
        "".join(f"src/{name}.py:    return {number}\n" for number in range(90) for name in NAMES),
        "only: one label\n" * 90,
        "a text\n" * 90,
    ],
)
def test_other_words_before_lines_are_no_labels(text: str) -> None:
    assert take_labels(text) == (text, None)


def test_a_failure_is_marked_with_its_label() -> None:
    text = "".join(f"@town/{name}:test: ok {number} - a test\n" for number in range(40) for name in NAMES)
    text = text.replace("@town/api:test: ok 30", "@town/api:test: not ok 30")
    assert recognise(text) != "grep"
    read = read_output(text)
    start, end, _ = max(read.marks, key=lambda mark: mark[2])
    assert text[start:end] == "@town/api:test: not ok 30 - a test\n"
