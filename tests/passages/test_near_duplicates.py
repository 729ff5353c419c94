"""Sketches find texts that are nearly the same, and distinguish different pages of one template."""

from __future__ import annotations

import random

import pytest

from keyhole.passages.near_duplicates import MAX_SKETCHED_CHARS, SKETCH_HASHES, group_duplicates, shingles, sketch

CHANCE = random.Random(5)
VOCABULARY = [f"word{n}" for n in range(3_000)]


def prose(words: int, seed: int) -> str:
    chance = random.Random(seed)
    return ". ".join(" ".join(chance.choices(VOCABULARY, k=15)) for _ in range(words // 15))


def group(*texts: str) -> tuple[tuple[int, ...], ...]:
    return group_duplicates([sketch(text) for text in texts])


def shorten(text: str, share: float) -> str:
    """Remove a share of the sentences."""
    sentences = text.split(". ")
    return ". ".join(sentence for sentence in sentences if CHANCE.random() > share)


def test_a_shortened_copy_with_other_boilerplate_and_a_new_title_is_a_duplicate() -> None:
    article = prose(900, 1)
    copy = f"Another title\n\n{prose(200, 2)}\n\n{shorten(article, 0.1)}\n\n{prose(300, 3)}"
    assert group(f"A title\n\n{article}", prose(900, 4), copy) == ((0, 2), (1,))


def test_different_pages_of_one_template_are_not_duplicates() -> None:
    head, tail = prose(150, 1), prose(150, 2)
    pages = [f"{head}\n\n{prose(400, seed)}\n\n{tail}" for seed in range(10, 16)]
    assert group(*pages) == tuple((number,) for number in range(6))


def test_a_short_text_quoted_in_a_long_one_is_not_a_duplicate() -> None:
    article = prose(300, 1)
    assert group(article, article + prose(900, 2)) == ((0,), (1,))


def test_a_chain_of_small_differences_does_not_group_unlike_texts() -> None:
    article = prose(1_200, 1)
    chain = [article]
    for _ in range(6):
        chain.append(shorten(chain[-1], 0.2))
    assert len(group(*chain)) > 1


def test_case_punctuation_and_line_breaks_make_no_difference() -> None:
    article = prose(100, 1)
    assert group(article, article.upper().replace(". ", "!\n\n")) == ((0, 1),)


@pytest.mark.parametrize(
    "script",
    ["数据库的清理阈值由以下公式定义并且每次更新之后都会重新计算一次", "ฐานข้อมูลจะถูกล้างเมื่อจำนวนแถวที่ถูกลบเกินค่าที่กำหนดไว้"],
)
def test_scripts_without_spaces_are_compared_by_characters(script: str) -> None:
    assert group(script, "。" + script[:-2], script[::-1]) == ((0, 1), (2,))


def test_texts_of_few_words_are_duplicates_only_if_their_words_are_equal() -> None:
    assert group("", "", "!") == ((0,), (1,), (2,))
    assert group("one two", "One, two!", "one three") == ((0, 1), (2,))
    assert shingles("One two") == ["one two"]
    assert group("\udc80", "a\udc80b") == ((0,), (1,))


def test_a_sketch_of_a_long_text_is_small() -> None:
    small, large = sketch(prose(300, 1)), sketch(prose(60_000, 2))
    assert len(small.hashes) == small.size
    assert len(large.hashes) < 2 * SKETCH_HASHES < large.size


def test_sketches_of_different_levels_are_compared_at_the_coarser_level() -> None:
    article = prose(1_300, 1)
    one, other = sketch(article), sketch(article + " " + prose(600, 2))
    assert one.level <= other.level
    assert group_duplicates([one, other]) == ((0, 1),)


def test_a_long_text_is_compared_by_its_beginning_and_its_size() -> None:
    book = prose(MAX_SKETCHED_CHARS // 6, 1)
    assert len(book) >= MAX_SKETCHED_CHARS
    assert group(book, f"{book} {prose(3_000, 2)}") == ((0, 1),)
    assert group(book, f"{book} {prose(MAX_SKETCHED_CHARS // 4, 2)}") == ((0,), (1,)), (
        "the first part of a book is not a copy of it"
    )
    assert sketch(f"{book} {book}").hashes == sketch(book).hashes
