"""Words of texts and queries become comparable terms."""

from __future__ import annotations

from zlib import crc32

import pytest

from keyhole.passages.stems import index_terms, query_words, stem_text
from keyhole.records import TOPIC
from keyhole.store.sqlite.word_index import VERSION


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
def test_a_query_shares_a_term_with_a_text_that_has_its_words(text: str, query: str) -> None:
    assert not set(index_terms("", text)).isdisjoint(form for forms in query_words(query) for form in forms)


INFLECTED = [
    ("The towns surrendered in the end and that was it", "surrendering town"),
    ("Die Häuser waren in der Stadt und das ist gut so", "Hauses Städte"),
    ("Стоимость новых насосов была высокой, и это не удивило их", "насосами стоимости"),
    ("وصل المعلمون إلى المدرسة في الصباح من كل مدينة", "معلمين مدارس المدينة"),
    ("यह किताबें लड़कों के लिए हैं और वे इसे पढ़ते हैं", "किताब लड़का"),
    ("서울에서 회의를 열었다", "서울은 회의가"),
    ("데이터베이스를 정리하는 방법", "데이터베이스는"),
    ("東京で会議が開かれました。", "会議を開く"),
    ("蒙特利尔的总督投降了", "总督为什么投降"),
    ("เมืองยอมจำนนในที่สุด", "การยอมจำนน"),
    ("La ciudad de Bogotá es grande y las casas son viejas", "bogota casa"),
    ("Les maisons étaient grandes et il y avait des chevaux", "maison"),
]


@pytest.mark.parametrize(("text", "query"), INFLECTED)
def test_a_short_query_matches_other_inflections_of_its_words(text: str, query: str) -> None:
    indexed = set(index_terms("", text))
    found = [word for word in query_words(query) if not indexed.isdisjoint(word)]
    assert len(found) >= len(query_words(query)) / 4
    forms = {form for forms in query_words(query) for form in forms}
    assert not forms.isdisjoint(stem_text(text)), "the ranker matches the texts that the store finds"


def test_query_words_have_stem_and_word_and_leave_out_function_words() -> None:
    assert query_words("Where do the pumps run?") == [("pump", "pumps"), ("run",)]
    assert query_words("the of") == [("the",), ("of",)]
    assert query_words("") == query_words("\ud800 ...") == []


def test_only_the_beginning_of_a_pasted_text_is_a_query() -> None:
    assert len(query_words(" ".join(f"w{n}" for n in range(10_000)))) < 500


def test_index_terms_are_those_of_the_title_and_then_those_of_the_text_without_function_words() -> None:
    terms = index_terms("A manual of pumps", "Valves, valve and valves; the nut.")
    titled = [f"{TOPIC}{term}" for term in ("a", "manual", "of", "pump")]
    assert terms == [*titled, "valv", "valv", "valv", "nut"]


def test_terms_keep_the_order_and_repetitions_of_the_text() -> None:
    assert stem_text("zebra quagga zebra") == ["zebra", "quagga", "zebra"]


def test_function_words_are_not_terms() -> None:
    assert stem_text("the zebra and the quagga were in it") == ["zebra", "quagga"]


def test_a_change_of_the_terms_is_a_new_version_of_the_index() -> None:
    """If this fails, count `VERSION` up, which makes all indexes anew, and change the numbers."""
    terms = [" ".join(index_terms(query, text)) for text, query in INFLECTED]
    assert (VERSION, crc32("\n".join(terms).encode())) == (3, 3101320126)


def test_unspaced_scripts_become_pairs_and_a_single_character_is_a_term() -> None:
    assert stem_text("总督投降") == ["总督", "督投", "投降"]
    assert stem_text("投") == ["投"]


def test_a_latin_word_inside_an_unspaced_run_is_a_term_of_its_own() -> None:
    assert stem_text("使用SQLite数据") == ["使用", "sqlite", "数据"]


@pytest.mark.parametrize("text", ["", "...", "\ud800", "\u0301"])
def test_text_without_words_has_no_terms(text: str) -> None:
    assert stem_text(text) == index_terms("", text) == []
