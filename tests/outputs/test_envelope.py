"""The prefixes of the lines of a log are taken, and each line that is shown is found in the stored text."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from keyhole.outputs.envelope import MIN_LINES, take_prefixes
from keyhole.outputs.output import Output, of_larger_text
from keyhole.outputs.output_text import OutputText
from keyhole.passages.excerpt import make_excerpt

LINES = [f"line {number} of the log" for number in range(2 * MIN_LINES)]


@pytest.mark.parametrize(
    "prefix",
    [
        "2026-04-23T04:08:22.8180462Z ",
        "2026-04-23 04:08:22,818 ",
        "2026/04/23 04:08:22 ",
        "[2026-04-23T04:08:22.818Z] ",
        "[04:08:22] ",
        "04:08:22.818 ",
        "Apr 23 04:08:22 ",
        "2026-04-23T04:08:22+02:00 ",
        "2026-04-23T04:08:22.818123Z 00O ",
        "[task 2026-04-23T04:08:22.818Z] 04:08:22 ",
        "build\tRun tests\t2026-04-23T04:08:22.8180462Z ",
    ],
)
def test_a_time_before_each_line_is_taken(prefix: str) -> None:
    bare, envelope = take_prefixes("".join(f"{prefix}{line}\n" for line in LINES))
    assert bare == "".join(f"{line}\n" for line in LINES)
    assert envelope is not None
    assert envelope.time_at(0) == "04:08:22"


@pytest.mark.parametrize("prefix", ["", "12 ", "v1.2.3 ", "ERROR ", "db-1  | ", "10:30 "])
def test_other_words_before_each_line_stay(prefix: str) -> None:
    text = "".join(f"{prefix}{line}\n" for line in LINES)
    assert take_prefixes(text) == (text, None)


@pytest.mark.parametrize("prefix", ["[    7s] ", "[   12.482910] "])
def test_the_seconds_since_the_start_are_taken(prefix: str) -> None:
    bare, envelope = take_prefixes("".join(f"{prefix}{line}\n" for line in LINES))
    assert bare == "".join(f"{line}\n" for line in LINES)
    assert envelope is not None


def test_a_text_in_which_few_lines_have_a_time_keeps_them() -> None:
    text = "".join(f"{line}\n" for line in LINES) + "04:08:22 done\n" * MIN_LINES
    assert take_prefixes(text) == (text, None)


def test_lines_without_a_prefix_stay_as_they_are() -> None:
    text = "".join(f"04:08:22 {line}\n" for line in LINES) + "Traceback:\n  at pump\n"
    bare, envelope = take_prefixes(text)
    assert bare.endswith("Traceback:\n  at pump\n")
    assert envelope is not None
    assert envelope.time_at(bare.index("at pump")) == "04:08:22"


def test_the_steps_in_the_prefixes_are_named_where_they_begin() -> None:
    steps = [("build", "Install"), ("build", "Run tests"), ("lint", "Run tests")]
    text = "".join(f"{job}\t{step}\t2026-04-23T04:08:22Z {line}\n" for job, step in steps for line in LINES)
    _bare, envelope = take_prefixes(text)
    assert envelope is not None
    size = len("".join(f"{line}\n" for line in LINES))
    assert envelope.steps == ((0, "build › Install"), (size, "build › Run tests"), (2 * size, "lint › Run tests"))


@given(
    st.lists(st.tuples(st.booleans(), st.text("ab é", max_size=9)), min_size=MIN_LINES, max_size=30),
    st.integers(0, 200),
    st.integers(0, 200),
)
def test_each_line_of_a_range_is_a_range_of_the_stored_text(
    lines: list[tuple[bool, str]], start: int, size: int
) -> None:
    text = "\n".join(f"04:08:22 {line}" if has_time else line for has_time, line in lines)
    text = "04:08:22 begin\n" * 200 + text
    bare, envelope = take_prefixes(text)
    assert envelope is not None
    start = min(len("begin\n") * 198 + start, len(bare))
    end = min(start + size, len(bare))
    assert "".join(text[first:last] for first, last in envelope.places(start, end)) == bare[start:end]
    assert len(text) == len(bare) + envelope.taken[-1]


@given(st.lists(st.booleans(), min_size=4, max_size=40), st.sets(st.integers(0, 900)), st.data())
def test_each_range_of_an_excerpt_is_a_range_of_the_larger_text(
    timed: list[bool], edges: set[int], data: st.DataObject
) -> None:
    lines = ["04:08:22 begin\n"] * (8 * MIN_LINES) + ["04:08:22 é\n" if has_time else "end\n" for has_time in timed]
    text = "".join(lines)
    cuts = sorted(edge for edge in edges if edge <= len(text))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    spans = [(0, 4 * MIN_LINES * 15), *((start, end) for start, end in pairs if start > 4 * MIN_LINES * 15)]
    excerpt = make_excerpt(spans, len(text), lambda start, end: text[start:end])
    bare, envelope = take_prefixes(excerpt.text)
    assume(envelope is not None)
    assert envelope is not None
    larger, joints = of_larger_text(envelope, excerpt.joints)
    output = OutputText(Output(bare, "log", joints=joints, envelope=larger), 0, 10_000)
    start = data.draw(st.integers(0, len(bare)))
    end = data.draw(st.integers(start, len(bare)))
    assert "".join(text[first:last] for first, last in output.stored_places([(start, end)])) == bare[start:end]
    assert Output(bare, "log", joints=joints, envelope=larger).total == len(text)
