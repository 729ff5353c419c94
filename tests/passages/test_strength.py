"""A match is weak where the page probably does not contain the answer."""

from __future__ import annotations

import pytest

from keyhole.passages import index_text, score_index
from keyhole.passages.query import Query
from keyhole.passages.strength import find_names, judge_match, match_strength, measure_evidence, weigh_terms

FILLER = "The weather in the valley stayed mild, and the farmers brought in the hay before noon. "
BRIDGE = "The Kestrel Bridge was opened to carriages in 1871 by the engineer Amalia Roth."
PAGE = "\n\n".join([FILLER * 3] * 12 + [BRIDGE] + [FILLER * 3] * 12)


def strength(question: str, text: str = PAGE) -> float:
    return match_strength(score_index(index_text(text), question))


@pytest.mark.parametrize(
    "question",
    [
        "When was the Kestrel Bridge opened?",
        "Which engineer opened the Kestrel Bridge to carriages?",
        "kestrel bridge",
        "Amalia Roth",
        "1871",
        "kestral bridge",
        "Could you elaborate on what happened to the Kestrel Bridge in 1871?",
    ],
)
def test_a_question_that_the_page_answers_is_not_weak(question: str) -> None:
    assert not judge_match(score_index(index_text(PAGE), question)).is_weak


@pytest.mark.parametrize(
    "question",
    [
        "When was the Harbour Tunnel opened?",
        "What is the boiling point of tungsten?",
        "Who engineered the Lisbon tramway in 1902?",
        "How many farmers joined the Danish cooperative movement?",
        "zeppelin",
    ],
)
def test_a_question_that_the_page_does_not_answer_is_weak(question: str) -> None:
    assert judge_match(score_index(index_text(PAGE), question)).is_weak


def test_a_question_about_a_name_that_the_page_lacks_is_weak_although_the_topic_is_there() -> None:
    assert judge_match(score_index(index_text(PAGE), "Did the engineer open the bridge to Napoleon?")).is_weak
    assert not judge_match(score_index(index_text(PAGE), "Did the engineer open the bridge to carriages?")).is_weak


def test_a_page_without_any_word_of_the_query_has_no_strength() -> None:
    assert strength("tungsten filament") == 0.0


def test_function_words_do_not_count() -> None:
    assert strength("what is it that the Kestrel Bridge was") == strength("Kestrel Bridge")


def test_an_absent_name_counts_more_than_an_absent_common_word() -> None:
    assert strength("Kestrel Bridge detailed overview") > strength("Kestrel Bridge Zanzibar")


def test_words_that_stand_together_count_more_than_words_far_apart() -> None:
    apart = PAGE.replace("Kestrel Bridge", "Kestrel") + "\n\nA bridge of wood."
    assert strength("kestrel bridge carriages") > strength("kestrel bridge carriages", apart)


def test_a_misspelt_word_counts_less_than_the_word() -> None:
    assert strength("kestral bridge opening") < strength("kestrel bridge opening")


def test_the_parts_of_the_evidence_are_between_0_and_1() -> None:
    found = measure_evidence(score_index(index_text(PAGE), "When was the Kestrel Bridge at SARS-CoV-2 opened?"))
    assert all(0 <= value <= 1 for value in (found.covered, found.absent, found.together, found.peak))


def test_a_hyphenated_word_that_is_absent_counts_by_its_parts_alone() -> None:
    scored = score_index(index_text(PAGE.replace("carriages", "covid 19")), "covid-19")
    assert [each.term.surface for each in scored.hits] == ["covid", "19", "covid-19"]
    assert weigh_terms(scored.query, scored.hits)[-1] == 0.0


@pytest.mark.parametrize(
    ("text", "language", "names"),
    [
        ("When did Roth open it", "en", {"roth"}),
        ("Roth opened it", "en", set()),
        ("what is iPhone in NATO", "en", {"iphone", "nato"}),
        ("When Was The Bridge Opened", "en", set()),
        ("WHEN WAS THE BRIDGE OPENED", "en", set()),
        ("Wann wurde die Brücke der NATO eröffnet", "de", {"nato"}),
        ("когда родился Пушкин", "ru", {"пушкин"}),
        ("桥是什么时候开放的", "xx", set()),
    ],
)
def test_a_name_is_a_word_with_a_capital_that_no_rule_of_spelling_explains(
    text: str, language: str, names: set[str]
) -> None:
    assert find_names(Query(text, language, ())) == names


@pytest.mark.parametrize("language", ["ja", "th"])
def test_scripts_without_spaces_have_strong_and_weak_matches(language: str) -> None:
    sentence, question, other = {
        "ja": ("橋は1871年に開通した。", "橋はいつ開通したか", "鯨の体重はどれくらいか"),
        "th": ("สะพานเปิดใช้ในปี 1871", "สะพานเปิดใช้เมื่อไร", "วาฬมีน้ำหนักเท่าไร"),
    }[language]
    filler = {"ja": "谷の天気は穏やかだった。", "th": "อากาศในหุบเขาอบอุ่นมาก "}[language]
    page = "\n\n".join([filler * 6] * 10 + [sentence] + [filler * 6] * 10)
    assert not judge_match(score_index(index_text(page), question)).is_weak
    assert judge_match(score_index(index_text(page), other)).is_weak


def test_a_rare_identifier_outweighs_the_words_around_it() -> None:
    rows = "".join(f"{number:06X} | Company {number}\n" for number in range(7_000, 7_400))
    assert not judge_match(score_index(index_text(rows), "which firm owns the MAC prefix 001C21?")).is_weak
    assert judge_match(score_index(index_text(rows), "which firm owns the MAC prefix 009C21?")).is_weak


def test_function_words_of_the_query_do_not_count_on_a_page_in_no_language() -> None:
    rows = "".join(f"the {number} | of {number}\n" for number in range(400))
    assert judge_match(score_index(index_text(rows), "what is the price of the tungsten filament?")).is_weak
