"""A query is parsed into terms: stems, exact words and character pairs, without function words."""

from __future__ import annotations

import pytest

from keyhole.passages.languages import count_function_words
from keyhole.passages.query import MAX_TERMS, Match, Query, parse_query
from keyhole.passages.words import WORD, fold
from keyhole.text.letters import lower


def parse(query: str, page: str = "") -> Query:
    words = WORD.findall(lower(page))
    return parse_query(query, count_function_words(words), len(words))


def surfaces(query: str, page: str = "") -> list[str]:
    return [term.surface for term in parse(query, page).terms]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("When was the town of Montreal founded?", ["town", "montreal", "founded"]),
        ("Wann wurde die Stadt gegründet und von wem?", ["stadt", "gegründet"]),
        ("Quand la ville a été fondée et par qui ?", ["ville", "fondée"]),
        ("Когда был основан город и кем?", ["основан", "город"]),
        ("Πότε ήταν η πόλη και ποιος", ["πόλη"]),
        ("शहर का राज्यपाल कौन था?", ["शहर", "राज्यपाल"]),
        ("متى كان الحاكم في المدينة؟", ["الحاكم", "المدينة"]),
        ("Thành phố này là của ai khi nào?", ["thành", "phố"]),
    ],
)
def test_question_words_are_dropped_in_the_language_of_the_question(query: str, words: list[str]) -> None:
    assert surfaces(query) == words


def test_a_query_of_question_words_alone_keeps_them() -> None:
    assert surfaces("who is it") == ["who", "is", "it"]


def test_question_words_of_unspaced_scripts_are_cut_out() -> None:
    assert set(surfaces("投降是什么")) == {"投降", "投", "降"}
    assert "いつ" not in surfaces("降伏はいつですか")
    assert "降伏" in surfaces("降伏はいつですか")
    assert all("เมื่อใด" not in surface for surface in surfaces("ยอมจำนนเมื่อใด"))


@pytest.mark.parametrize("word", ["1945", "e4711", "4gb", "x2", "ab"])
def test_numbers_and_short_words_are_matched_exactly(word: str) -> None:
    (term,) = parse(word).terms
    assert (term.match, term.needle) == (Match.EXACT, word)


@pytest.mark.parametrize("name", ["max_wal_size", "e-4711", "1.2.3", "/usr/lib64"])
def test_an_identifier_is_also_an_exact_term(name: str) -> None:
    found = [term.surface for term in parse(f"value of {name}").terms if term.match is Match.EXACT]
    assert name.strip("/") in found


@pytest.mark.parametrize(("query", "name"), [("what does tar -H do", "-h"), ("variable %E", "%e"), ("$1 in awk", "$1")])
def test_a_letter_with_its_sign_is_also_an_exact_term(query: str, name: str) -> None:
    assert name in surfaces(query)
    assert "-c" not in surfaces("an A-C circuit, --c, 5 % of it")


def test_a_korean_word_becomes_an_exact_term_and_its_syllable_pairs() -> None:
    terms = parse("몬트리올이").terms
    assert [(term.surface, term.match) for term in terms] == [
        ("몬트리올이", Match.EXACT),
        *((pair, Match.GRAM) for pair in ("몬트", "트리", "리올", "올이")),
    ]
    assert all(term.weight < 1 for term in terms[1:])


def test_single_han_characters_weigh_less_than_pairs() -> None:
    weights = {term.surface: term.weight for term in parse("投降").terms}
    assert weights["投降"] == 1
    assert 0 < weights["投"] < 1


def test_vietnamese_keeps_its_accents_and_other_languages_fold_them() -> None:
    vietnamese = parse("thành phố của những người được là gì")
    assert not vietnamese.folded
    assert "phố" in [term.needle for term in vietnamese.terms]
    french = parse("où est la ville fortifiée de Québec", "la ville est dans le pays et les rues")
    assert french.folded
    assert "quebec" in [term.needle for term in french.terms]


def test_a_repeated_word_is_one_term() -> None:
    assert surfaces("montreal Montreal MONTREAL") == ["montreal"]


def test_only_the_beginning_of_a_pasted_text_is_parsed() -> None:
    assert len(parse(" ".join(f"word{n}x" for n in range(5_000))).terms) == MAX_TERMS
    assert len(parse("蒙特利尔总督投降" * 1_000).terms) <= MAX_TERMS


@pytest.mark.parametrize("query", ["", "?", "\u0301", "\ud800", "\x00", "___", "的"])
def test_a_query_without_words_has_no_terms(query: str) -> None:
    assert surfaces(query) == []


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("cities", "the of and is in"),
        ("studied", "the of and is in"),
        ("häuser", "der die das und ist"),
        ("gouvernements", "le la les et est"),
        ("важного", "и в не на что"),
    ],
)
def test_the_needle_is_a_prefix_of_the_word(word: str, page: str) -> None:
    (term,) = parse(word, page).terms
    assert term.match is Match.STEM
    assert len(term.needle) >= 3
    assert fold(word).startswith(term.needle)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("como guardar a chave num ficheiro pelos outros", {"guardar", "chave", "ficheiro", "outros"}),
        ("come copiare i dati dalle tabelle negli archivi", {"copiare", "dati", "tabelle", "archivi"}),
        ("läuft der Dienst bis zum Ende mit ihnen", {"läuft", "dienst", "ende"}),
    ],
)
def test_contracted_articles_and_prepositions_are_no_terms(query: str, expected: set[str]) -> None:
    assert {term.surface for term in parse(query, query).terms} == expected
