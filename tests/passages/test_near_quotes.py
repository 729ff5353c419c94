"""The passage nearest to an absent quote tells a slip from an invention."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.passages.near_quotes import find_near_quote
from tests.support.machine import allowed

FILLER = "The weather in the valley stayed mild, and the farmers brought in the hay before noon. "
SENTENCE = "The Kestrel Bridge was opened to carriages in 1871 by the engineer Amalia Roth."
PAGE = FILLER * 20 + SENTENCE + " " + FILLER * 20
WORDS = st.lists(st.sampled_from(["the", "bridge", "oil", "1871", "橋は開通した", "é"]), max_size=60).map(" ".join)


def passage(quote: str, text: str = PAGE) -> str:
    near = find_near_quote(text, quote)
    assert near is not None
    return text[near.start : near.end]


def test_a_changed_number_is_named() -> None:
    quote = "The Kestrel Bridge was opened to carriages in 1902 by the engineer Amalia Roth"
    near = find_near_quote(PAGE, quote)
    assert near is not None
    assert passage(quote) == SENTENCE.rstrip(".")
    assert (near.shared, near.words, near.missing, near.extra) == (13, 14, ("1902",), 1)


def test_a_word_that_the_quote_leaves_out_is_counted() -> None:
    near = find_near_quote(PAGE.replace("was opened", "was not opened"), SENTENCE)
    assert near is not None
    assert (near.shared, near.missing, near.extra) == (14, (), 1)


def test_a_paraphrase_has_a_near_passage() -> None:
    quote = "Amalia Roth, the engineer, opened the Kestrel Bridge to carriages in 1871"
    assert "Kestrel Bridge was opened to carriages in 1871" in passage(quote)


def test_missing_words_are_written_as_in_the_quote() -> None:
    near = find_near_quote(PAGE, "the Kestrel Bridge was opened to Carriages by Zanzibár")
    assert near is not None
    assert near.missing == ("Zanzibár",)


def test_the_passage_with_most_words_in_their_order_is_nearest_and_a_differing_negation_is_named() -> None:
    text = (
        "If the timeout expires, the child process will be killed and waited for. "
        + FILLER * 20
        + "The child process is not killed if the timeout expires, so clean up properly."
    )
    quote = "killed automatically if the timeout expires"
    near = find_near_quote(text, quote)
    assert near is not None
    assert passage(quote, text) == "not killed if the timeout expires"
    assert (near.shared, near.missing, near.differs) == (5, ("automatically",), ("negation",))


@pytest.mark.parametrize(
    ("quote", "differs"),
    [
        ("The Kestrel Bridge was opened to carriages in 1872 by the engineer", ("number",)),
        ("The Kestrel Bridge was not opened to carriages in 1871", ("negation",)),
        ("The Kestrel Bridge was never opened to carriages in 1902 by the engineer", ("negation", "number")),
        ("The Kestrel Bridge was opened to wide carriages in 1871", ()),
    ],
)
def test_what_may_turn_the_sense_is_named(quote: str, differs: tuple[str, ...]) -> None:
    near = find_near_quote(PAGE, quote)
    assert near is not None
    assert near.differs == differs


@pytest.mark.parametrize(
    ("sentence", "quote", "differs", "moved"),
    [
        ("The process is not killed if the timer ends.", "If the timer ends, the process is not killed", (), 4),
        ("Users can't delete old archives.", "Users can delete old archives", ("negation",), 0),
        ("It is impossible to restore files.", "It is possible to restore files", ("negation",), 0),
        ("The limit is 1,000 calls a minute.", "The limit is 1000 calls every minute", (), 0),
        ("Die Sicherung erfolgt keinesfalls allein.", "Die Sicherung erfolgt allein", ("negation",), 0),
        ("Lang müssen Passwörter mindestens sein.", "Passwörter müssen mindestens lang sein", (), 2),
        ("Les fichiers ne sont jamais supprimés.", "Les fichiers sont supprimés", ("negation",), 0),
        ("子プロセスは終了されません。既定値は三十です。", "子プロセスは終了されます", ("negation",), 0),
        ("既定値は30秒です。", "既定値は60秒です", ("number",), 0),
        ("文件删除后无法恢复。", "文件删除后可以恢复", ("negation",), 0),
        (
            "자식 프로세스는 시간 초과 시 종료되지 않습니다.",
            "자식 프로세스는 시간 초과 시 종료됩니다",
            ("negation",),
            0,
        ),
        ("기본값은 30초입니다.", "기본값은 60초입니다", ("number",), 0),
        ("Файлы не хранятся долго на диске.", "Файлы хранятся долго на диске", ("negation",), 0),
    ],
)
def test_the_sentence_that_says_something_else_is_nearest_in_any_language(
    sentence: str, quote: str, differs: tuple[str, ...], moved: int
) -> None:
    text = f"{FILLER * 9}{sentence} {FILLER * 9}"
    near = find_near_quote(text, quote)
    assert near is not None
    assert text[near.start : near.end] in sentence
    assert (near.differs, near.moved) == (differs, moved)


def test_words_in_another_order_are_counted() -> None:
    near = find_near_quote(PAGE, "The Kestrel Bridge was to carriages opened in 1871 by the engineer Roth")
    assert near is not None
    assert (near.missing, near.moved) == (("opened",), 1)


@pytest.mark.parametrize(
    "quote",
    [
        "The unicorn sings operas of tungsten at midnight",
        "a checkpoint always runs to completion",
        "Zanzibar",
        "Kestrel Zanzibar",
        "...",
        "",
    ],
)
def test_an_invention_has_no_near_passage(quote: str) -> None:
    assert find_near_quote(PAGE, quote) is None


def test_the_first_of_equal_passages_is_chosen() -> None:
    near = find_near_quote(PAGE + PAGE, SENTENCE.replace("1871", "1902"))
    assert near is not None
    assert near.start == len(FILLER * 20)


def test_in_scripts_without_spaces_characters_are_compared() -> None:
    text = (
        "谷の天気は穏やかだった。" * 20
        + "技師のアマリアが建設を指揮し、町の人々は祝った。"
        + "農民は干し草を運んだ。" * 20
    )
    near = find_near_quote(text, "技師のアマリアが建設を計画し、町の人々は祝った")
    assert near is not None
    assert near.missing == ("計", "画")
    assert text[near.start : near.end] == "技師のアマリアが建設を指揮し、町の人々は祝った"


@given(WORDS, WORDS)
def test_the_passage_is_a_span_of_the_text_with_at_most_the_quote_s_words(text: str, quote: str) -> None:
    near = find_near_quote(text, quote)
    if near:
        assert 0 <= near.start < near.end <= len(text)
        assert near.shared + len(near.missing) == near.words


@pytest.mark.parametrize("text", ["a b c d " * 130_000, PAGE * 300, "橋" * 500_000])
def test_a_megabyte_is_searched_in_time(text: str) -> None:
    begin = time.process_time()
    find_near_quote(text, "a zebra b the Kestrel d bridge was 橋橋は opened of tungsten" * 20)
    assert time.process_time() - begin < allowed(1.5)
