"""The benchmark of outputs: its questions, the split, the readers and the tables."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from benchmarks.outputs import readers, report
from benchmarks.outputs.corpus import Output, Question, load_outputs, load_questions, split_outputs
from benchmarks.outputs.make.__main__ import MAX_BYTES, MIN_BYTES, RECIPES
from benchmarks.outputs.make.printed_logs import print_log
from benchmarks.outputs.make.recipe import KINDS

OUTPUTS = load_outputs()
QUESTIONS = load_questions()
LINES = "\n".join(f"line {number} of the log" for number in range(500))
OUTPUT = Output("app/small", "command-log", "make orders", 2, f"{LINES}\nerror in orders: /srv/shop/a.c\n{LINES}")
QUESTION = Question("app/small", "which orders have an error", ("error in orders",))


def test_every_answer_is_in_its_output() -> None:
    assert [q for q in QUESTIONS if not q.answers or not q.is_answered(OUTPUTS[q.output].text)] == []


def test_every_output_has_a_question_a_kind_and_a_size_that_needs_bounding() -> None:
    assert set(OUTPUTS) == {question.output for question in QUESTIONS}
    assert {output.kind for output in OUTPUTS.values()} == set(KINDS)
    assert all(MIN_BYTES <= len(output.text.encode()) <= MAX_BYTES for output in OUTPUTS.values())


def test_every_output_has_a_recipe() -> None:
    assert set(OUTPUTS) <= {recipe.id for recipe in RECIPES}
    assert max(Counter(recipe.id for recipe in RECIPES).values()) == 1


def test_two_of_three_questions_have_a_query() -> None:
    share = sum(question.query is not None for question in QUESTIONS) / len(QUESTIONS)
    assert 0.6 <= share <= 0.75


def test_an_output_names_no_folder_of_the_machine_that_made_it() -> None:
    folders = re.compile(r"/root/(?!\.)|/work/|/opt/(?:pypi|wheels)")
    assert [id for id, output in OUTPUTS.items() if folders.search(output.text)] == []


def test_the_splits_share_programs_but_no_output() -> None:
    splits = split_outputs(["a/1", "a/2", "a/3", "b/1", "b/2"])
    assert set(splits) == {"a/1", "a/2", "a/3", "b/1", "b/2"}
    assert {splits["b/1"], splits["b/2"]} == {splits[id] for id in ("a/1", "a/2", "a/3")} == {"dev", "test"}


@pytest.mark.parametrize("reader", [readers.head_tail, readers.query_lines, readers.passages])
@pytest.mark.parametrize("query", [None, "which orders have an error"])
def test_a_bounded_reader_keeps_to_the_limit(reader: readers.Reader, query: str | None) -> None:
    assert 0 < len(reader(OUTPUT, query, 1_000)) <= 1_000


def test_the_seeds_rule_shows_both_ends_and_the_hints_whatever_the_limit() -> None:
    text = readers.seed_rule(OUTPUT, None, 100)
    assert text.startswith("line 0 of") and "line 499 of" in text and text.endswith("/srv/shop/a.c")


def test_a_small_output_is_whole() -> None:
    small = Output("app/small", "command-log", "make", 0, "done")
    assert readers.head_tail(small, None, 1_000) == readers.passages(small, "done", 1_000) == "done"


def test_the_tables_give_the_share_of_answers_beside_the_bytes_saved() -> None:
    trials = report.run_trials({"head+tail": readers.head_tail, "query lines": readers.query_lines},
                               [QUESTION], {"app/small": OUTPUT})  # fmt: skip
    rows = report.totals_table(trials)
    assert rows[2].startswith("| head+tail | 0 / 0 / 0 | 0 / 0 / 0 |") and "| 1,000 / 2,000 / 4,000 |" not in rows[0]
    assert rows[3].startswith("| query lines | 100 / 100 / 100 |") and rows[3].endswith(" % |")
    assert report.kinds_table(trials)[2] == "| command-log | 1 | 0 / 0 / 0 | 100 / 100 / 100 |"


def test_the_failing_assertion_is_counted_apart() -> None:
    question = Question("app/small", None, ("error in orders",), assertion=True)
    trials = report.run_trials({"query lines": readers.query_lines}, [question], {"app/small": OUTPUT})
    assert report.assertion_lines(trials) == ["failing assertion shown by query lines: 1 of 1 / 1 of 1 / 1 of 1"]


def test_a_result_over_the_limit_is_told() -> None:
    readers_here: dict[str, readers.Reader] = {"whole": lambda output, _query, _max_chars: output.text}
    trials = report.run_trials(readers_here, [QUESTION], {"app/small": OUTPUT})
    assert report.over_lines(trials) == ["longer than the limit: 3 results of whole"]


def test_a_missed_question_names_the_smallest_limit_that_answers_it() -> None:
    trials = report.run_trials({"head+tail": readers.head_tail}, [QUESTION], {"app/small": OUTPUT})
    line = "app/small | which orders have an error | error in orders | never"
    assert report.miss_lines(trials, "head+tail") == [line]


def test_a_printed_log_is_the_same_each_time() -> None:
    assert list(print_log("kube/events")) == list(print_log("kube/events"))
