"""Nearly the same texts are found by small sketches; a template around different things does not make them the same."""

from __future__ import annotations

import random

import pytest

from keyhole.passages.near_duplicates import KEPT_HASHES, MAX_SKETCHED, groups, runs, sketch

CHANCE = random.Random(5)
VOCABULARY = [f"word{n}" for n in range(3_000)]


def prose(words: int, seed: int) -> str:
    chance = random.Random(seed)
    return ". ".join(" ".join(chance.choices(VOCABULARY, k=15)) for _ in range(words // 15))


def grouped(*texts: str) -> tuple[tuple[int, ...], ...]:
    return groups([sketch(text) for text in texts])


def edited(text: str, share: float) -> str:
    """A share of its sentences left out."""
    sentences = text.split(". ")
    return ". ".join(sentence for sentence in sentences if CHANCE.random() > share)


def test_a_copy_with_other_furniture_a_cut_and_a_new_title_is_the_same() -> None:
    article = prose(900, 1)
    copy = f"Another title\n\n{prose(200, 2)}\n\n{edited(article, 0.1)}\n\n{prose(300, 3)}"
    assert grouped(f"A title\n\n{article}", prose(900, 4), copy) == ((0, 2), (1,))


def test_pages_of_one_template_about_different_things_are_not() -> None:
    head, tail = prose(150, 1), prose(150, 2)
    pages = [f"{head}\n\n{prose(400, seed)}\n\n{tail}" for seed in range(10, 16)]
    assert grouped(*pages) == tuple((number,) for number in range(6))


def test_a_short_text_quoted_in_a_long_one_is_not() -> None:
    article = prose(300, 1)
    assert grouped(article, article + prose(900, 2)) == ((0,), (1,))


def test_small_differences_do_not_chain_unlike_texts_together() -> None:
    article = prose(1_200, 1)
    chain = [article]
    for _ in range(6):
        chain.append(edited(chain[-1], 0.2))
    assert len(grouped(*chain)) > 1


def test_case_punctuation_and_line_breaks_make_no_difference() -> None:
    article = prose(100, 1)
    assert grouped(article, article.upper().replace(". ", "!\n\n")) == ((0, 1),)


@pytest.mark.parametrize(
    "script",
    ["数据库的清理阈值由以下公式定义并且每次更新之后都会重新计算一次", "ฐานข้อมูลจะถูกล้างเมื่อจำนวนแถวที่ถูกลบเกินค่าที่กำหนดไว้"],
)
def test_scripts_without_spaces_are_compared_by_characters(script: str) -> None:
    assert grouped(script, "。" + script[:-2], script[::-1]) == ((0, 1), (2,))


def test_texts_of_no_or_few_words_equal_only_themselves() -> None:
    assert grouped("", "", "!") == ((0,), (1,), (2,))
    assert grouped("one two", "One, two!", "one three") == ((0, 1), (2,))
    assert runs("One two") == ["one two"]
    assert grouped("\udc80", "a\udc80b") == ((0,), (1,))


def test_a_sketch_is_small_however_long_the_text() -> None:
    small, large = sketch(prose(300, 1)), sketch(prose(60_000, 2))
    assert len(small.kept) == small.size
    assert len(large.kept) < 2 * KEPT_HASHES < large.size


def test_texts_of_unlike_length_are_compared_at_the_coarser_level() -> None:
    article = prose(1_300, 1)
    one, other = sketch(article), sketch(article + " " + prose(600, 2))
    assert one.level <= other.level
    assert groups([one, other]) == ((0, 1),)


def test_of_a_long_text_the_beginning_is_compared_and_the_size_counts() -> None:
    book = prose(MAX_SKETCHED // 6, 1)
    assert len(book) >= MAX_SKETCHED
    assert grouped(book, f"{book} {prose(3_000, 2)}") == ((0, 1),)
    assert grouped(book, f"{book} {prose(MAX_SKETCHED // 4, 2)}") == ((0,), (1,)), "of a book its first part is no copy"
    assert sketch(f"{book} {book}").kept == sketch(book).kept
