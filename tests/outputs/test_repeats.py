"""Lines of an output that repeat others."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.outputs.repeats import MIN_CHARS, MIN_LINES, find_rare_lines, find_repeats, line_forms, template


def lines_of(text: str) -> list[list[str]]:
    return [text[start:end].splitlines() for start, end in find_repeats(text, line_forms(text))]


def test_lines_that_differ_only_in_numbers_times_and_hashes_repeat_the_first_one() -> None:
    lines = [f"2026-01-02T10:00:{n:02}Z 0x{n:08x} commit {n * 7919:07x}a1 took {n}.{n} ms" for n in range(10, 40)]
    assert lines_of("start\n" + "\n".join(lines) + "\nend\n") == [lines[1:]]


@pytest.mark.parametrize("period", [1, 2, 3])
def test_steps_of_up_to_three_lines_repeat(period: int) -> None:
    step = ["fetching the file {}", "compiling unit {} of the library", "done with {}"][:period]
    lines = [line.format(n) for n in range(20) for line in step]
    assert lines_of("\n".join(lines)) == [lines[period:]]


def test_lines_with_other_words_and_short_repetitions_are_no_repeats() -> None:
    assert lines_of("\n".join(f"the {word} line of the text" for word in "abcdefghij" * 5)) == []
    assert lines_of("the same line\n" * MIN_LINES) == []
    assert lines_of("}\n" * 20) == []


@given(st.lists(st.sampled_from(["line 1", "line 22", "other", "", "a longer line of the output 3" * 2]), max_size=40))
def test_every_range_is_whole_lines_that_each_repeat_one_of_the_three_before(lines: list[str]) -> None:
    text = "\n".join(lines)
    for start, end in find_repeats(text, line_forms(text)):
        assert start > 0 and text[start - 1] == "\n" and (end == len(text) or text[end - 1] == "\n")
        assert end - start >= MIN_CHARS
        before = text[:start].splitlines()[-3:]
        for line in text[start:end].splitlines():
            assert template(line) in [template(each) for each in before]
            before = [*before[-2:], line]


def test_a_template_keeps_the_lines() -> None:
    assert not re.search(r"\d", template("1\n2 3.4\n\n0x5f"))
    assert template("1\n2 3.4\n\n5").count("\n") == 3


def test_the_first_line_of_each_rare_form_is_found_among_frequent_ones() -> None:
    lines = [f"request {n} served in {n % 7} ms" for n in range(300)]
    lines[120] = lines[200] = "disk 3 is nearly full"
    text = "\n".join(lines)
    found = find_rare_lines(text, line_forms(text))
    assert [text[start:end] for start, end in found] == ["disk 3 is nearly full\n"]


def test_a_text_of_which_most_lines_differ_has_no_rare_lines() -> None:
    text = "\n".join(f"{word} and {other}" for word in "abcdefghijkl" for other in "mnopqrstuvwx")
    assert find_rare_lines(text, line_forms(text)) == ()
