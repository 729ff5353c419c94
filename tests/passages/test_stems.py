"""Terms that compare across texts and queries."""

from __future__ import annotations

import pytest

from keyhole.passages.stems import search_terms, stems


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The towns surrendered in the end", "surrendering town"),
        ("Die Häuser waren in der Stadt und das ist gut", "Häusern in der Stadt und das ist"),
        ("La ciudad de Bogotá", "bogota"),
        ("蒙特利尔的总督投降", "总督投降"),
        ("เมืองยอมจำนน", "จำนน"),
    ],
)
def test_a_query_shares_a_term_with_the_text_that_has_its_words(text: str, query: str) -> None:
    assert set(search_terms(text)) & set(search_terms(query))


def test_terms_stand_in_the_order_of_the_text_with_repetition() -> None:
    assert stems("zebra quagga zebra") == ["zebra", "quagga", "zebra"]


def test_function_words_are_no_terms() -> None:
    assert stems("the zebra and the quagga were in it") == ["zebra", "quagga"]


def test_search_terms_are_distinct_and_hold_the_words_themselves() -> None:
    terms = search_terms("The towns surrendered, the towns burned")
    assert len(terms) == len(set(terms))
    assert {"town", "towns", "surrend", "surrendered"} <= set(terms)


def test_unspaced_scripts_are_pairs_and_a_lone_character_is_a_term() -> None:
    assert stems("总督投降") == ["总督", "督投", "投降"]
    assert stems("投") == ["投"]


def test_a_latin_word_inside_an_unspaced_run_is_a_term_of_its_own() -> None:
    assert stems("使用SQLite数据") == ["使用", "数据", "sqlite"]


@pytest.mark.parametrize("text", ["", "...", "\ud800", "\u0301"])
def test_text_without_words_has_no_terms(text: str) -> None:
    assert stems(text) == search_terms(text) == []
