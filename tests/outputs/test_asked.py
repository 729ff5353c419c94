"""The records that a question asks for are found: by words, by numbers, and by the largest and smallest."""

from __future__ import annotations

import json
import time

import pytest

from keyhole.outputs.asked import MAX_ASKED, find_asked
from keyhole.outputs.bound import bound
from keyhole.outputs.fields import Data, read_table
from keyhole.outputs.values import Telling
from tests.support.machine import allowed

TASKS = [
    {"id": number, "name": f"task {number}", "state": "blocked" if number == 40 else "ready", "note": "word " * 9}
    for number in range(90)
]
ROWS = "year,month,day,hour,heat\n" + "".join(
    f"2013,{month},{day},{hour},{month * day + hour}\n"
    for month in range(1, 13)
    for day in range(1, 10)
    for hour in range(24)
)


@pytest.mark.parametrize("form", ["line", "pretty", "lines"])
def test_a_record_is_found_by_a_value_that_is_rare_among_its_siblings(form: str) -> None:
    text = {
        "line": json.dumps(TASKS),
        "pretty": json.dumps(TASKS, indent=2),
        "lines": "\n".join(map(json.dumps, TASKS)),
    }[form]
    shown = bound(text, query="which task is blocked", budget=1_000).text
    assert '"id": 40' in shown
    assert '"state": "blocked"' in shown


def test_a_record_in_the_middle_of_a_large_line_is_found() -> None:
    tasks = [{**TASKS[0], "id": n, "state": "blocked" if n == 2_600 else "ready"} for n in range(4_500)]
    text = json.dumps(tasks)
    assert len(text) > 450_000
    assert '"id": 2600' in bound(text, query="which task is blocked", budget=1_000).text


def test_a_row_is_found_by_several_small_numbers_in_their_order() -> None:
    assert "2013,7,4,9,37\n" in bound(ROWS, query="heat in 2013, month 7, day 4, hour 9", budget=600).text


@pytest.mark.parametrize(
    ("question", "value"),
    [("highest heat", "131"), ("lowest heat", "1"), ("höchste Hitze: heat", "131"), ("heat 最大", "131")],
)
def test_the_extreme_of_the_field_that_a_question_names_is_found(question: str, value: str) -> None:
    found = find_asked(ROWS, question, read_table(ROWS))[0]
    assert isinstance(found, Telling)
    assert (found.field, found.value) == ("heat", value)


def test_words_that_many_records_have_choose_none() -> None:
    data = read_table(ROWS)
    assert find_asked(ROWS, "year 2013", data) == ()
    assert len(find_asked(ROWS, "day 3 hour 5", data)) <= MAX_ASKED
    assert find_asked("", "anything", Data({})) == ()


def test_digits_are_found_as_whole_numbers_only() -> None:
    records = [
        {"title": f"M {number}.46 - sea {number}", "place": "6.4" if number == 70 else "x"} for number in range(99)
    ]
    text = json.dumps(records)
    shown = bound(text, query="magnitude 6.4", budget=700).text
    assert '"place": "6.4"' in shown


def test_a_long_record_is_shown_by_its_lines_with_the_words() -> None:
    packages = {f"node_modules/part-{n}": {"version": f"1.{n}", "files": ["x" * 60] * 20} for n in range(60)}
    packages["node_modules/typescript"] = {"version": "7.0.2", "files": ["y" * 60] * 20}
    text = json.dumps({"packages": packages}, indent=2)
    shown = bound(text, query="which version of typescript is locked", budget=1_000).text
    assert '"node_modules/typescript": {\n      "version": "7.0.2"' in shown


def test_a_commit_is_named_by_its_hash_author_and_date() -> None:
    log = "".join(
        f"commit {number:040x}\nAuthor: Ann <ann@example.org>\nDate:   Mon Nov {number % 28 + 1} 10:00:00 2026\n\n"
        f"    Start the pump {number}\n\n"
        for number in range(70)
    ).replace("pump 33\n", "lighthouse\n")
    shown = bound(log, query="who started the lighthouse", budget=1_000, command="git log").text
    assert f"commit {33:040x}\nAuthor: Ann <ann@example.org>\nDate:   Mon Nov 6 10:00:00 2026" in shown
    assert f"commit {0:040x}\nAuthor: Ann" in bound(log, budget=1_000, command="git log").text


def test_a_large_table_is_searched_in_time() -> None:
    rows = "id,port,weight\n" + "".join(f"{n},Oslo,{n % 97}\n" for n in range(120_000))
    started = time.process_time()
    bound(rows, query="largest weight of 77 in Oslo 3 4 5", budget=1_000)
    assert time.process_time() - started < allowed(2)
