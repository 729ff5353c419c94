"""The benchmark of gateways: the recorded results, the questions, the replaying server, reading on, and the tables."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.proxy.gateways import measure, report
from benchmarks.proxy.gateways.__main__ import FIGURES, PAGE, write
from benchmarks.proxy.gateways.corpus import Question, load_questions, load_results, model_bytes, model_text, squeeze
from benchmarks.proxy.gateways.make.__main__ import CALLS, MIN_BYTES
from benchmarks.proxy.gateways.make.servers import SERVERS
from benchmarks.proxy.gateways.measure import Trial
from benchmarks.proxy.gateways.replay import call_key
from benchmarks.proxy.gateways.stores import GovernorStore, KeyholeStore
from benchmarks.proxy.gateways.systems import SYSTEMS, head_and_tail

RESULTS = load_results()
QUESTIONS = load_questions()
BY_NAME = {system.name: system for system in SYSTEMS}
QUESTION = Question("git/show", "what changed", ("one", "two"))


def text(value: str) -> dict[str, object]:
    return {"content": [{"type": "text", "text": value}]}


def trial(system: str, budget: int, answered: bool, *, found: bool = False, question: Question = QUESTION) -> Trial:
    return Trial(system, budget, question, answered, answered, answered or found, True, budget - 100, 90_000)


def test_every_answer_is_in_its_result() -> None:
    texts = {id: squeeze(model_text(recorded.result)) for id, recorded in RESULTS.items()}
    missing = [q for q in QUESTIONS for answer in q.answers if squeeze(answer) not in texts[q.result]]
    assert missing == []


def test_every_result_needs_bounding_and_has_two_questions() -> None:
    assert len(RESULTS) >= 60 and len(QUESTIONS) >= 120
    assert min(Counter(question.result for question in QUESTIONS).values()) >= 2
    assert {question.result for question in QUESTIONS} == set(RESULTS)
    assert all(model_bytes(recorded.result) >= MIN_BYTES for recorded in RESULTS.values())


def test_every_result_has_a_call_of_a_known_server_and_no_two_calls_are_equal() -> None:
    assert set(RESULTS) <= {call["id"] for call in CALLS}
    assert {recorded.server for recorded in RESULTS.values()} == set(SERVERS)
    keys = Counter(call_key(recorded.tool["name"], recorded.arguments) for recorded in RESULTS.values())
    assert max(keys.values()) == 1


def test_a_result_names_no_folder_of_the_machine_that_made_it() -> None:
    folders = re.compile(r"/root/(?!\.)|/home/\w+/\.cache")
    assert [id for id, recorded in RESULTS.items() if folders.search(model_text(recorded.result))] == []


def test_an_answer_counts_in_either_form_and_whatever_the_white_space() -> None:
    question = Question("a/b", "q", ('"name": "x"', "a quoted 'y'"))
    assert question.is_answered('{"name":"x"}\na quoted\n\'y\'')
    structured = {"content": [], "structuredContent": {"text": 'say "hi"'}}
    assert Question("a/b", "q", ('say "hi"',)).is_answered(model_text(structured))
    assert model_bytes({**text("ü"), "structuredContent": {"a": 1}}) == 2 + len('{"a":1}')


def test_head_and_tail_keep_both_ends_and_drop_structured_content() -> None:
    shown = head_and_tail({**text("a" * 900 + "z" * 900), "structuredContent": {}}, 500)
    assert shown == text("a" * 200 + "\n…\n" + "z" * 200)
    assert head_and_tail(text("short"), 500) == text("short")


def test_keyholes_named_call_takes_the_question_or_reads_from_the_start() -> None:
    result = text(
        'log\n--- untrusted text ab ---\none\n--- end ab ---\nNext: keep(id="xy", offset=4, find="a\\"b")\n[end]'
    )
    store = KeyholeStore()
    assert store.find(result, "why", 4_000) == ("keep", {"id": "xy", "query": "why"})
    assert store.first_page(result, 4_000) == ("keep", {"id": "xy", "offset": 0, "limit": 4_000})
    assert store.next_page(result, ("keep", {}), 0) == ("keep", {"id": "xy", "offset": 4, "find": 'a"b'})
    assert store.page_text(result) == "one"
    assert store.follow(result, 4_000) == ("keep", {"id": "xy", "offset": 4, "find": 'a"b'})
    assert store.find(text("whole"), "why", 4_000) is None


def test_the_governors_receipt_names_the_slice_after_what_is_shown() -> None:
    receipt = {"type": "text", "text": '{"_governor_receipt": {"artifact_id": "xy", "returned_bytes": 7}}'}
    result = {"content": [{"type": "text", "text": "part"}, receipt]}
    first = ("governor_fetch_slice", {"artifact_id": "xy", "offset": 0, "limit": 50})
    store = GovernorStore()
    assert store.first_page(result, 50) == first
    assert store.follow(result, 50) == ("governor_fetch_slice", {"artifact_id": "xy", "offset": 7, "limit": 50})
    assert store.next_page(text("four"), first, 50) == (first[0], {**first[1], "offset": 4})
    assert store.next_page(text(""), first, 50) is None
    assert store.follow(text("whole"), 50) is None


@pytest.mark.parametrize("name", ["no gateway", "keyhole"])
def test_a_progress_notification_disturbs_no_call(name: str) -> None:
    assert measure.survives_progress(BY_NAME[name], 4_000, "")


def test_a_repeated_call_gets_the_new_result() -> None:
    assert measure.survives_repeat(BY_NAME["keyhole"], 4_000, "")


def test_keyhole_shows_or_finds_the_answer_and_its_store_has_the_whole_text() -> None:
    questions = [question for question in QUESTIONS if question.result == "commands/ciphers"]
    trials = list(measure.run_trials(BY_NAME["keyhole"], 4_000, "", RESULTS, questions))
    assert [(each.found, each.stored) for each in trials] == [(True, True)] * len(questions)
    assert all(each.size <= 4_000 < each.original for each in trials)


def test_the_tables_have_a_share_for_each_budget() -> None:
    trials = [trial("a", 1_000, False, found=True), trial("a", 2_000, True), trial("b", 500, False)]
    totals = report.totals_table(trials, {"a": (True, True), "b": (False, True)})
    assert totals[2:] == [
        "| a | 0 / 100 | 0 / 100 | 100 / 100 | 100 / 100 | 900 / 1,900 | works | works |",
        "| b | 0 | 0 | 0 | 100 | 400 | breaks | works |",
    ]
    assert report.servers_table(trials)[2:] == ["| git | 1 | 0 / 100 | 0 |"]
    assert report.miss_lines(trials, "a") == ["1000 | git/show | what changed | one call"]


def test_tables_are_written_between_the_comments(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("before\n<!-- begin:gateways -->\nold\n<!-- end:gateways -->\nafter\n", encoding="utf-8")
    write(path, ["| a |"])
    expected = "before\n<!-- begin:gateways -->\n\n| a |\n\n<!-- end:gateways -->\nafter\n"
    assert path.read_text(encoding="utf-8") == expected


def test_the_page_of_the_proxy_has_the_figures_of_the_benchmarks() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(("| keyhole", "| gov"))]
    assert len(rows) == 4
    assert set(rows) <= set(FIGURES.read_text(encoding="utf-8").splitlines())
