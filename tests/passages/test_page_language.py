"""A query in another language than the page is told which language the page is in."""

from __future__ import annotations

import pytest

from keyhole.passages import index_text, select
from keyhole.passages.page_language import find_script, page_language_if_other

PAGES = {
    "German": "Die Brücke wurde im Jahr 1871 von der Ingenieurin Amalia Roth für den Verkehr geöffnet. ",
    "English": "The bridge was opened to traffic in the year 1871 by the engineer Amalia Roth. ",
    "French": "Le pont a été ouvert à la circulation en 1871 par l'ingénieure Amalia Roth et les siens. ",
    "Russian": "Мост был открыт для движения в 1871 году, и его построила инженер Амалия Рот, которая жила здесь. ",
    "Japanese": "橋は1871年に開通し、技師のアマリア・ロートが建設を指揮した。",
    "Chinese": "这座桥于1871年通车，由工程师阿玛利亚·罗特主持建造。",
    "Korean": "다리는 1871년에 개통되었고 기사 아말리아 로트가 지었다. ",
    "Greek": "Η γέφυρα άνοιξε το 1871 από τη μηχανικό Αμαλία Ροτ και τους άλλους. ",
    "Thai": "สะพานเปิดใช้ในปี 1871 โดยวิศวกรอามาเลีย โรท ",
    "Hebrew": "הגשר נפתח לתנועה בשנת 1871 בידי המהנדסת אמליה רות. ",
    "Arabic": "تم افتتاح الجسر في عام 1871 من قبل المهندسة أماليا روت التي كانت تعيش في هذه المدينة. ",
}


def told(language: str, query: str) -> str:
    return page_language_if_other(index_text(PAGES[language] * 30), query)


@pytest.mark.parametrize("language", [language for language in PAGES if language != "English"])
def test_an_english_question_is_told_the_language_of_another_page(language: str) -> None:
    assert told(language, "What is the price of tungsten and who sells it?") == language


@pytest.mark.parametrize(
    ("language", "query"),
    [
        ("English", "Wie teuer ist Wolfram und wer verkauft es?"),
        ("English", "Сколько стоит вольфрам?"),
        ("English", "タングステンの値段はいくらですか"),
        ("German", "Quel est le prix du tungstène et qui le vend ?"),
        ("Russian", "鎢的價格是多少"),
        ("Chinese", "タングステンの値段はいくらですか"),
    ],
)
def test_a_question_in_any_language_is_told(language: str, query: str) -> None:
    assert told(language, query) == language


@pytest.mark.parametrize(
    ("language", "query"),
    [
        ("English", "What is the price of tungsten?"),
        ("German", "Wie teuer ist Wolfram?"),
        ("German", "Wolframpreis"),
        ("German", "tungsten price"),
        ("English", "Los Angeles population"),
        ("English", "1902"),
        ("Japanese", "1902"),
        ("Japanese", "鎢的價格"),
        ("Japanese", "タングステンの値段"),
        ("Russian", "цена вольфрама"),
    ],
)
def test_a_question_that_may_be_in_the_page_s_language_is_told_nothing(language: str, query: str) -> None:
    assert told(language, query) == ""


@pytest.mark.parametrize(
    "page",
    [
        "int main(void) { return run(argv); }\n" * 60,
        "1902 | 77 | 14\n" * 60,
        "",
        "Kestrel, Roth, Zanzibar, Lisbon.\n" * 60,
    ],
)
def test_the_language_of_code_and_lists_is_unknown(page: str) -> None:
    assert page_language_if_other(index_text(page), "Was ist der Preis von Wolfram und wer verkauft es?") == ""


def test_russian_function_words_without_russian_letters_do_not_make_a_page_russian() -> None:
    bulgarian = "Мостът е построен на реката и е отворен за движение в края на века от инженера. " * 30
    assert page_language_if_other(index_text(bulgarian), "What is the price of tungsten?") == ""


def test_the_script_of_a_manual_with_much_latin_code_is_its_own() -> None:
    assert find_script("SELECT name FROM bridges WHERE opened = 1871; これは例です。") == "Japanese"


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("What is the price of tungsten and who sells it?", "German"),
        ("When did Amalia Roth open it in 1871?", ""),
        ("Wann wurde die Brücke geöffnet?", ""),
        ("Was kostet Wolfram heute in der Schweiz?", ""),
    ],
)
def test_a_selection_tells_the_language_only_where_the_words_do_not_match(query: str, language: str) -> None:
    filler = "Das Wetter im Tal blieb mild, und die Bauern brachten das Heu vor dem Mittag ein. " * 3
    page = "\n\n".join([filler] * 10 + [PAGES["German"]] + [filler] * 10)
    assert select(page, query, 2_000).page_language == language


def test_a_page_that_is_partly_in_the_language_of_the_query_is_not_called_one_of_another_language() -> None:
    licence, manual = PAGES["English"] * 120, PAGES["German"] * 10
    query = "Wie teuer ist Wolfram und wer verkauft es?"
    assert page_language_if_other(index_text(licence), query) == "English"
    assert page_language_if_other(index_text(licence + manual), query) == ""
