"""Languages are recognised by their function words and have their stemmers."""

from __future__ import annotations

import pytest

from keyhole.passages.languages import (
    FUNCTION_WORDS,
    SNOWBALL,
    UNKNOWN,
    VIETNAMESE,
    count_function_words,
    guess_language,
    snowball_stem,
)
from keyhole.passages.words import WORD
from keyhole.text.letters import lower


def guess(page: str, query: str = "") -> str:
    words = WORD.findall(lower(page))
    return guess_language(count_function_words(words), len(words), WORD.findall(lower(query)))


@pytest.mark.parametrize(
    ("language", "page"),
    [
        ("en", "The governor of the town was in the hall, and there were many who said that he had left."),
        ("de", "Der Statthalter der Stadt war in der Halle, und es gab viele, die sagten, dass er nicht da ist."),
        ("fr", "Le gouverneur de la ville était dans la salle, et il y a ceux qui disent qu'il est parti."),
        ("es", "El gobernador de la ciudad estaba en la sala, y hay muchos que dicen que no se ha ido."),
        ("it", "Il governatore della città era nella sala, e quelli che sono con lui non hanno detto perché."),
        ("pt", "O governador da cidade não foi para a sala, e os que estavam com ele são seus irmãos."),
        ("nl", "De gouverneur van de stad was in het huis, en er waren velen die het niet hebben gezien."),
        ("ru", "Губернатор города был в зале, и те, кто был с ним, не знают, что он ушёл."),
        ("el", "Ο κυβερνήτης της πόλης ήταν στην αίθουσα και δεν είναι από τους άλλους."),
        ("tr", "Bu şehrin valisi bir salonda ve onun için çok şey var, ama ne kadar olduğu belli değil."),
        ("ar", "كان الحاكم في القاعة مع الذين لم يكن هذا من أجلهم."),
        ("hi", "शहर का राज्यपाल भवन में था और उस के लिए यह नहीं है।"),
        (VIETNAMESE, "Thành phố này là của những người đã được sống trong các làng và không có gì."),
    ],
)
def test_a_page_of_two_lines_is_recognised(language: str, page: str) -> None:
    assert guess(page) == language


def test_text_without_function_words_has_no_language() -> None:
    assert guess("") == UNKNOWN
    assert guess("foo_bar = 17; return qux") == UNKNOWN
    assert guess("蒙特利尔的总督投降") == UNKNOWN


def test_the_query_decides_the_language_of_a_mixed_page() -> None:
    page = "The town of the governor is in the hall. Die Stadt des Statthalters ist in der Halle und das ist nicht gut."
    assert guess(page, "what is the name of the governor") == "en"
    assert guess(page, "wie heißt der Statthalter und wo ist das") == "de"


def test_a_few_function_words_in_a_long_text_are_not_enough() -> None:
    assert guess("zorb " * 500 + "der die") == UNKNOWN


@pytest.mark.parametrize("language", sorted(SNOWBALL))
def test_every_named_stemmer_exists(language: str) -> None:
    import snowballstemmer

    assert SNOWBALL[language] in snowballstemmer.algorithms()
    assert language in FUNCTION_WORDS


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "surrendered", "surrendering"),
        ("de", "häuser", "häusern"),
        ("fr", "continuelle", "continuellement"),
        ("ru", "важная", "важный"),
    ],
)
def test_inflections_of_a_word_have_one_stem(language: str, one: str, other: str) -> None:
    assert snowball_stem(language, one) == snowball_stem(language, other)


def test_a_language_without_a_stemmer_leaves_words_unchanged() -> None:
    for language in (UNKNOWN, VIETNAMESE, "uk"):
        assert snowball_stem(language, "running") == "running"
