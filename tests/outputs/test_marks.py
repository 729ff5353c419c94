"""The lines that every reader of an output looks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.outputs.kinds import KINDS
from keyhole.outputs.marks import MAX_LINE_CHARS, MAX_MARKS, find_key_marks, mark_lines
from keyhole.outputs.output import Mark
from keyhole.outputs.repeats import line_forms

PASSED = "".join(f"tests/test_{number}.py::test_passes PASSED\n" for number in range(500))


def marks_of(text: str, kind: str) -> tuple[Mark, ...]:
    return mark_lines(text, kind, line_forms(text), list(find_key_marks(text, kind)))


def best(text: str, kind: str, count: int = 6) -> list[str]:
    """Return the lines with the largest weights."""
    marks = sorted(marks_of(text, kind), key=lambda mark: -mark[2])
    return [text[start:end].rstrip("\n") for start, end, _ in marks[:count]]


@pytest.mark.parametrize(
    ("kind", "text", "wanted"),
    [
        (
            "test",
            f"===== test session starts =====\n{PASSED}>   assert total(2) == 5\nE   assert 4 == 5\n\na.py:3: Error\n"
            "===== 1 failed, 500 passed in 0.2s =====\n",
            {"E   assert 4 == 5", "===== 1 failed, 500 passed in 0.2s ====="},
        ),
        (
            "test",
            f"{PASSED}FAIL: test_sum (t.T)\n----\n"
            'Traceback (most recent call last):\n  File "t.py", line 4, in test_sum\n'
            "AssertionError: 4 != 5\n\n----\nRan 501 tests in 0.1s\n\nFAILED (failures=1)\n",
            {"AssertionError: 4 != 5", "FAILED (failures=1)"},
        ),
        (
            "test",
            "  ● adds\n\n    expect(received).toBe(expected)\n\n    Expected: 5\n    Received: 4\n\n"
            "Tests:       1 failed, 9 passed\n",
            {"Tests:       1 failed, 9 passed", "    Expected: 5"},
        ),
        (
            "test",
            "  keeps crate 7\n" * 90 + "Failures:\n\n  1) Depot takes\n     Failure/Error: expect(count).to eq(7)\n\n"
            "       expected: 77\n            got: 78\n\n121 examples, 1 failure\n",
            {"       expected: 77", "            got: 78", "121 examples, 1 failure"},
        ),
        (
            "compiler",
            "cc -c a.c\na.c:9:3: warning: unused\na.c:14:9: error: 'x' undeclared\n   14 |   x;\n      |   ^\n" * 2
            + "make: *** [Makefile:3: a.o] Error 1\n",
            {"a.c:14:9: error: 'x' undeclared\n   14 |   x;\n      |   ^"},
        ),
        (
            "trace",
            'starting\nTraceback (most recent call last):\n  File "a.py", line 1, in <module>\n    run()\n'
            "ValueError: no seeds\n",
            {"ValueError: no seeds"},
        ),
        ("source", "# licence\nimport os\n\nclass Unpacker:\n" + "    x = 1\n" * 99, {"class Unpacker:"}),
        ("page", "<html>\n<title>COPY</title>\n" + "<p>x</p>\n" * 99, {"<title>COPY</title>"}),
        ("log", "ok 1\n" * 300 + "12:00 ERROR disk is full\n" + "ok 2\n" * 300, {"12:00 ERROR disk is full"}),
    ],
)
def test_failures_their_causes_and_the_summary_come_first(kind: str, text: str, wanted: set[str]) -> None:
    assert wanted <= set(best(text, kind))


def test_a_different_line_comes_before_the_first_of_many_equal_ones_and_this_before_its_repetitions() -> None:
    text = "".join(f"ERROR worker {number} lost\n" for number in range(200)) + "ERROR the disk is full\n" + "ok\n" * 50
    errors = [line for line in best(text, "log") if "ERROR" in line]
    assert errors[:2] == ["ERROR the disk is full", "ERROR worker 0 lost"]


def test_of_lines_that_differ_only_in_numbers_three_are_marked() -> None:
    text = "start\n" * 9 + "".join(f"ERROR request {n} lost\n" for n in range(50)) + "end\n" * 9
    marked = [text[start:end] for start, end, _ in marks_of(text, "log")]
    assert [line for line in marked if "ERROR" in line] == [f"ERROR request {n} lost\n" for n in range(3)]


def test_a_line_of_a_rare_form_is_marked_among_frequent_ones() -> None:
    lines = [f"request {n} served\n" for n in range(300)]
    lines[150] = "the queue was emptied\n"
    text = "".join(lines)
    marked = [text[start:end] for start, end, _ in marks_of(text, "log")]
    assert "the queue was emptied\n" in marked


def test_the_first_and_the_last_lines_of_any_output_are_marked() -> None:
    text = "".join(f"line {number}\n" for number in range(100))
    assert {"line 0", "line 99"} <= set(best(text, "listing"))


def test_each_file_of_a_search_is_marked_once() -> None:
    text = "".join(f"src/{name}.py:{line}:call()\n" for name in "abc" for line in range(50))
    marked = {text[start:end] for start, end, _ in marks_of(text, "grep")}
    assert {f"src/{name}.py:0:call()\n" for name in "abc"} <= marked


@given(
    st.lists(
        st.sampled_from(["ERROR x", "E   assert", "a.c:1:2: error: y", "", "ok", "x" * 900, "@@ -1 +1 @@"]), max_size=40
    ),
    st.sampled_from(KINDS),
)
def test_marks_are_in_order_short_and_inside_the_text(lines: list[str], kind: str) -> None:
    text = "\n".join(lines)
    marks = marks_of(text, kind)
    assert len(marks) <= MAX_MARKS
    assert list(marks) == sorted(marks)
    assert all(0 <= start < end <= len(text) and end - start <= MAX_LINE_CHARS for start, end, _ in marks)


def test_the_last_lines_are_marked_because_a_summary_often_has_several() -> None:
    text = (
        "".join(f"copied {'x' * (number % 7)}{number}\n" for number in range(300)) + "Totals:\n  low: 9026\n  mid: 35\n"
    )
    text += "  high: 0\n  files: 300\n  links: 4\n"
    starts = {start for start, _, _ in marks_of(text, "log")}
    assert text.index("  low: 9026") in starts


@pytest.mark.parametrize(
    "line",
    [
        "ok 12 - it raises an error",
        "  ✓ shows the failure",
        "tests/test_a.py::test_error_names[fatal] PASSED   [ 98%]",
        "test pump::panics_on_error ... ok",
        "[gw1] [ 12%] PASSED tests/test_error.py::test_fatal",
        "        PASS [   0.03s] (4/9) pump::panic panics",
        "dist/api/error.js",
        "error_upload_url: none",
        "client/failure-handler.d.ts",
    ],
)
def test_a_word_of_failures_in_the_name_of_a_passed_test_or_of_a_file_is_no_failure(line: str) -> None:
    text = "begin\n" * 9 + f"{line}\n" + "end\n" * 9
    for kind in ("log", "test", "step"):
        assert all(weight < 5 for start, _, weight in marks_of(text, kind) if text.startswith(line, start))


def test_the_summary_of_what_passed_weighs_little_in_a_failed_section() -> None:
    text = "Tests: 3 passed, 3 total\n" + "a line\n" * 9 + "Tests: 1 failed, 2 passed, 3 total\n" + "a line\n" * 20
    assert best(text, "step", 1) == ["Tests: 1 failed, 2 passed, 3 total"]
    weights = {text[start:end]: weight for start, end, weight in marks_of(text, "step")}
    assert weights["Tests: 3 passed, 3 total\n"] < 5
