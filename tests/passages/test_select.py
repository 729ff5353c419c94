"""`select` shows the passages with the answer, describes its selection and is fast on any text."""

from __future__ import annotations

import random
import re
import time
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from keyhole.extract import extract
from keyhole.passages import index_text, select
from keyhole.passages.selection import score_index
from keyhole.passages.strength import judge_match
from keyhole.records import Selection
from keyhole.text.measure import serialized_size
from tests.support.machine import allowed

FIXTURES = Path(__file__).parents[2] / "fixtures"
MB = 1_000_000

FILLER = (
    "The committee met again in the long hall and spoke about roads, bridges and the price of grain.",
    "Nobody could say which of the letters had come first, and the clerk wrote down both of them.",
    "In the evening the lamps were lit, the doors were closed, and the watch walked along the river.",
    "A second report about the harbour followed a week later and was put away with all the others.",
)


def filler(paragraphs: int, seed: int = 0) -> str:
    """Return prose without any word of the queries."""
    rng = random.Random(seed)
    return "\n\n".join(" ".join(rng.sample(FILLER, k=4)) for _ in range(paragraphs)) + "\n\n"


def page_with(answer: str, paragraphs: int = 20) -> str:
    """Return a long page with the answer in the middle."""
    return filler(paragraphs, 1) + answer + "\n\n" + filler(paragraphs, 2)


@cache
def recorded_text(name: str) -> str:
    """Return the text of a recorded page."""
    return extract((FIXTURES / name / "body").read_bytes(), url="https://e.org/", content_type="text/html").text


def counts(selection: Selection) -> dict[str, int]:
    return {term.term: term.count for term in selection.terms}


# Matching.


@pytest.mark.parametrize(
    ("answer", "query"),
    [
        ("Montreal surrendered to Amherst at dawn.", "when did the surrender of Montreal happen"),
        ("Das Haustürschloss ist aus Messing, die anderen sind aus Eisen.", "Woraus ist das Schloss der Haustür"),
        ("El capitán vivió en Bogotá.", "capitan Bogota"),
        ("Родился чайник, и его звали Йодль.", "чайники"),
        ("नदी का पानी मॉन्ट्रियल के गवर्नर ने रोका।", "गवर्नर ने किसे रोका"),
        ("เมืองมอนทรีออลยอมจำนนในเดือนกันยายน", "มอนทรีออลยอมจำนนเมื่อใด"),
        ("استسلمت المدينة في الخريف.", "متى استسلمت المدينة"),
        ("Thành phố đầu hàng vào mùa thu.", "thành phố đầu hàng khi nào"),
        ("蒙特利尔的总督在秋天投降。", "蒙特利尔什么时候投降"),
        ("モントリオールは秋に降伏した。", "モントリオールはいつ降伏しましたか"),
        ("몬트리올은 가을에 항복했다.", "몬트리올이 언제 항복했나"),
        ("Set `max_wal_size` to 4GB for E-4711.", "what is max_wal_size"),
        ("The part is E-4711 and no other.", "E-4711"),
        ("The capitulation was signed by the governor.", "capitulaton"),
    ],
)
def test_a_twentieth_of_the_page_shows_the_answer(answer: str, query: str) -> None:
    page = page_with(answer)
    selection = select(page, query, len(page) // 20)
    assert answer in selection.text
    assert selection.strategy == "passages"
    assert selection.matched


def test_a_query_in_another_script_than_the_page_matches_nothing() -> None:
    page = filler(20)
    selection = select(page, "蒙特利尔 投降", 1_000)
    assert selection.strategy == "head_tail"
    assert not selection.matched
    assert not selection.weak
    assert set(counts(selection)) >= {"蒙特利尔", "投降"}
    assert set(counts(selection).values()) == {0}
    assert selection.spans[0][0] == 0
    assert selection.spans[-1][1] == len(page)


def test_a_query_of_question_words_alone_is_still_searched_for() -> None:
    page = page_with("To be, or not to be: that is what he asked.")
    selection = select(page, "what is that", 1_000)
    assert "that is what he asked" in selection.text
    assert counts(selection) == {"what": 1, "is": 1, "that": 1}


def test_a_page_in_two_languages_answers_questions_in_both() -> None:
    english = filler(10, 1) + "The governor surrendered Montreal at dawn, without a shot.\n\n" + filler(10, 2)
    german = "Die Haustür blieb in der Nacht verschlossen.\n\n" + "Der Rat sprach von Brücken und Wegen. " * 60
    page = english + german
    assert "The governor surrendered" in select(page, "Who surrendered Montreal?", 800).text
    assert "Die Haustür blieb" in select(page, "Was war mit der Haustür in der Nacht?", 800).text


def test_terms_are_counted_in_the_whole_text_and_absent_terms_have_count_0() -> None:
    page = (
        filler(10) + "Montreal fell. MONTREAL burned; montreal's bells rang.\n\n" + filler(10) + "The end of Montreal."
    )
    selection = select(page, "bells of Montreal and Quebec", 600)
    assert counts(selection) == {"bells": 1, "montreal": 4, "quebec": 0}


def test_a_bare_question_mark_matches_nothing_and_shows_both_ends() -> None:
    page = filler(20)
    for query in ("?", "   ", "", None):
        selection = select(page, query, 1_000)
        assert (selection.strategy, selection.matched, selection.terms) == ("head_tail", False, ())


# Rendering.


def test_the_whole_text_is_returned_only_if_it_fits() -> None:
    page = filler(3)
    assert select(page, "committee", len(page)).text == page
    assert select(page, "committee", len(page)).strategy == "whole"
    assert select(page, None, len(page)).strategy == "whole"
    assert select(page, "committee", len(page) - 1).strategy == "passages"


def test_a_question_hides_nothing_of_a_short_page_that_fits() -> None:
    page = "".join(
        f"## Setting {number}\n\n{FILLER[number % 4]} Its default is {number} seconds.\n\n" for number in range(40)
    )
    assert 5_000 < len(page) < 8_000
    assert select(page, "default of setting 7", 9_000).strategy == "whole"
    assert select(page, "default of setting 7", len(page) - 1).strategy == "passages"


def test_a_longer_page_is_shown_whole_only_if_its_passages_take_over_half_of_it() -> None:
    page = "".join(f"## Part {number}\n\n{' '.join(FILLER)}\n\n" for number in range(25))
    assert select(page + "The zebra is striped.\n", "zebra", 99_999).strategy == "passages"
    zebras = "".join(
        f"## Zebra {number}\n\nThe zebra of herd {number} is striped and eats grass.\n\n" for number in range(160)
    )
    assert len(zebras) > 8_000
    assert select(zebras, "zebra herd", 99_999, fill=False).strategy == "whole"


def test_the_measure_decides_whether_the_text_fits() -> None:
    page = filler(3).replace(".", "…")
    assert select(page, None, len(page), measure=serialized_size).strategy == "head_tail"
    assert select(page, None, serialized_size(page), measure=serialized_size).strategy == "whole"


def test_a_gap_line_has_the_omitted_offsets_and_the_heading_of_the_next_passage() -> None:
    page = "# Chronicle\n\n" + filler(8, 1) + "## The siege\n\n" + filler(6, 2)
    page += (
        "Amherst took the town at dawn, without a shot, after the garrison had waited for help all summer.\n"
        "He came with three armies, by the lake and by both of the rivers, and had lost few of his men.\n\n"
    )
    page += filler(8, 3)
    selection = select(page, "Amherst garrison armies", 700)
    assert "Amherst took the town" in selection.text
    gaps = re.findall(r"^\[…(\d+):(\d+)\](.*)$", selection.text, re.MULTILINE)
    assert " The siege" in [label for _, _, label in gaps]
    shown = [(0, 0), *selection.spans, (len(page), len(page))]
    omitted = [(end, start) for (_, end), (start, _) in pairwise(shown) if end < start]
    assert [(int(start), int(end)) for start, end, _ in gaps] == omitted


def test_a_gap_line_does_not_repeat_a_heading_that_is_shown() -> None:
    page = filler(8, 1) + "## The siege\n\nAmherst took the town at dawn.\n\n" + filler(8, 2)
    selection = select(page, "Amherst siege", 500)
    assert "## The siege\n\nAmherst took" in selection.text
    assert "] The siege\n## The siege" not in selection.text


def test_a_gap_line_does_not_repeat_a_heading_of_an_earlier_passage() -> None:
    page = filler(8, 1) + "## The siege\n\nAmherst took the town at dawn.\n\n" + filler(8, 2)
    selection = select(page, "Amherst siege", 500)
    assert "## The siege\n\nAmherst took" in selection.text
    assert "] The siege" not in selection.text


def test_a_row_of_a_table_is_shown_under_its_header_row() -> None:
    rows = "".join(
        f"| town number {n} | {n * 37 % 1000} souls | founded by settlers from the coast |\n" for n in range(80)
    )
    page = filler(4) + "| town | inhabitants | history |\n|---|---|---|\n" + rows + "\n" + filler(4)
    selection = select(page, "town number 71", 700)
    assert "\n| town number 71 |" in selection.text
    assert re.search(
        r"^\[…\d+:\d+\].*\n\| town \| inhabitants \| history \|\n\| town number", selection.text, re.MULTILINE
    )


def test_a_row_is_never_shown_under_the_header_row_of_another_table() -> None:
    rows = "".join(
        f"| town number {n} | {n * 37 % 1000} souls | founded by settlers from the coast |\n" for n in range(80)
    )
    page = "| ship | captain |\n|---|---|\n| Orion | Bly |\n \nTowns:\n" + rows + "\n" + filler(4)
    selection = select(page, "town number 71", 700)
    assert "\n| town number 71 |" in selection.text
    assert not re.search(r"^\[…\d+:\d+\].*\n\| ship", selection.text, re.MULTILINE)


def test_a_code_block_is_shown_whole_when_it_fits() -> None:
    code = (
        "```sql\n"
        + "".join(f"SET column_{n} = {n} + a_longer_name_of_it;\n" for n in range(12))
        + "VACUUM zebra;\n```\n"
    )
    page = page_with(code)
    assert code in select(page, "VACUUM zebra", 1_500).text


def test_a_list_is_shown_with_its_lead_in() -> None:
    items = "The treaty had these parts:\n\n- the town is given up\n- the zebra stays\n- the flags are burned\n"
    assert items in select(page_with(items), "zebra", 700).text


def test_adjacent_passages_have_no_gap_line_between_them() -> None:
    answer = " ".join(f"The zebra number {n} walked slowly through the gate of the town." for n in range(40))
    selection = select(page_with(answer, 10), "zebra", 3_200)
    assert len(selection.spans) < 4
    assert answer in selection.text


def test_the_opening_is_shown_only_if_it_is_a_small_part_of_the_selection() -> None:
    opening = "Chronicle of the town.\n\n"
    page = (
        opening + "## Years\n\n" + page_with(" ".join(f"Zebra {n} walked on through the gate." for n in range(400)), 10)
    )
    assert not select(page, "zebra", 300).text.startswith(opening)
    assert select(page, "zebra", 4_000).text.startswith(opening)


def test_every_passage_has_its_score_by_stage() -> None:
    selection = select(recorded_text("sqlite-wal"), "when does a checkpoint run", 2_000)
    assert len(selection.parts) == len(selection.spans) == len(selection.scores)
    for score, parts in zip(selection.scores, selection.parts, strict=True):
        assert parts[0][0] == "words"
        assert sum(part for _, part in parts) == pytest.approx(score, abs=0.001)


# Description of the match.

ANSWERABLE = [
    ("routine-vacuuming", "What does autovacuum do about transaction ID wraparound"),
    ("sqlite-wal", "When is the write-ahead log checkpoint run automatically"),
    ("rust-ownership", "What happens when ownership of a String is moved to another variable"),
]


@pytest.mark.parametrize(("name", "query"), ANSWERABLE)
def test_a_question_that_the_page_answers_is_not_weak(name: str, query: str) -> None:
    selection = select(recorded_text(name), query, 1_500)
    assert selection.matched
    assert not selection.weak


@pytest.mark.parametrize(("answering_page", "query"), ANSWERABLE)
@pytest.mark.parametrize("name", ["routine-vacuuming", "sqlite-wal", "rust-ownership"])
def test_a_question_of_another_page_is_weak_or_unmatched(name: str, answering_page: str, query: str) -> None:
    scored = score_index(index_text(recorded_text(name)), query)
    assert (name == answering_page) == (bool(scored.stages) and not judge_match(scored).is_weak)


# Edge cases.


@pytest.mark.parametrize("text", ["", "\x00", "\ud800", "\u0301" * 50])
@pytest.mark.parametrize("budget", [-(10**30), -1, 0, 1, 10, 10**30])
def test_degenerate_texts_raise_no_error(text: str, budget: int) -> None:
    selection = select(text, "zebra \udc80", budget)
    assert selection.text == (text if budget >= len(text) else selection.text)
    assert len(selection.text) <= max(0, budget)


def test_a_tiny_budget_shows_nothing_or_one_gap_line() -> None:
    page = filler(20)
    assert select(page, "committee", 0).text == ""
    assert select(page, "committee", 3).spans == ()
    assert select(page, "committee", 3).text == ""
    assert select(page, "committee", 12).text == f"[…0:{len(page)}]\n"


def test_a_run_without_borders_is_shown_in_part() -> None:
    selection = select("a" * 5_000, None, 100)
    assert 50 < selection.shown <= 100


def test_an_index_is_cached_for_the_next_query() -> None:
    page = recorded_text("routine-vacuuming")
    assert index_text(page) is index_text("".join(list(page)))


# Time, on texts of a megabyte for which a careless pattern or loop would need minutes.

SLOW_TEXTS = {
    "one line": "the governor of montreal surrendered, " * (MB // 38),
    "one repeated word": "montreal " * (MB // 9),
    "one repeated word without a space": "montreal" * (MB // 8),
    "distinct words": " ".join(f"w{n:x}" for n in range(160_000)),
    "dots": "." * MB,
    "spaced dots": ". " * (MB // 2),
    "headings": "# montreal\n" * (MB // 11),
    "nested headings": "".join("#" * (n % 6 + 1) + f" a {n}\n" for n in range(90_000)),
    "fences": "```\n" * (MB // 4),
    "fences that are closed": "\n```\nmontreal\n" * (MB // 14),
    "combining marks": "\u0301" * MB,
    "letters with marks": "e\u0301" * (MB // 2),
    "lone surrogates": "\udc80" * MB,
    "empty lines": "\n" * MB,
    "spaces": " " * MB,
    "rows": "| montreal | b |\n" * (MB // 17),
    "one letter": "a" * MB,
    "Han": "蒙特利尔" * (MB // 4),
    "colons": "montreal:\n" * (MB // 10),
    "half a misspelt word": "xtreal" * (MB // 6),
}


@pytest.mark.parametrize("kind", list(SLOW_TEXTS))
def test_a_selection_from_a_megabyte_takes_less_than_a_second_per_query(kind: str) -> None:
    started = time.process_time()
    for query in ("governor of montreal 1945 mantreal 蒙特利尔", None):
        select(SLOW_TEXTS[kind], query, 4_000)
    assert time.process_time() - started < allowed(2)


def test_a_heading_of_two_megabytes_is_not_read_for_every_window_below_it() -> None:
    page = "# " + "a" * 2 * MB
    started = time.process_time()
    select(page, None, 60_000)
    assert time.process_time() - started < allowed(1.5)


@pytest.mark.parametrize("query", ["release date of Fossa", "data do lançamento num Fossa", "wann kam Fossa"])
def test_a_function_word_is_never_named_absent(query: str) -> None:
    text = "| version | codename | release |\n| --- | --- | --- |\n" + "| 20.04 | Focal Fossa | 2020-04-23 |\n" * 9
    absent = {term.term for term in select(text, query, 200).terms if not term.count}
    assert absent.isdisjoint({"of", "do", "num", "wann"})
