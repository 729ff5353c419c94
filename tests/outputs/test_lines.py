"""The order of an output's lines for a reader who asks nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.outputs.lines import MAX_LINE, ends_first, lines_with

TEXT = "one alpha\ntwo\nthree ALPHA beta\nfour beta\nfive\n"


def shown(text: str, words: str) -> list[str]:
    return [text[start:end] for start, end in lines_with(text, words)]


def test_lines_with_more_words_are_first_and_then_those_with_rarer_ones() -> None:
    assert shown(TEXT, "alpha beta") == ["three ALPHA beta\n", "one alpha\n", "four beta\n"]
    assert shown("a gamma\n" + TEXT * 3, "alpha gamma")[0] == "a gamma\n"


def test_words_of_one_letter_and_absent_words_are_ignored() -> None:
    assert shown(TEXT, "e delta") == []
    assert shown("", "alpha") == shown(TEXT, "") == []


def test_a_letter_whose_lower_case_is_longer_moves_no_offset() -> None:
    assert shown("İİİ\nthe Straße\n", "STRASSE straße") == ["the Straße\n"]


def test_a_long_line_is_cut() -> None:
    assert [len(line) for line in shown("alpha" * 200, "alpha")] == [MAX_LINE]


def test_both_ends_are_before_the_middle() -> None:
    text = "".join(f"line {number}\n" for number in range(500))
    order = [text[start:end] for start, end in ends_first(text)]
    assert order[0].startswith("line 0\n") and order[1].endswith("line 499\n")
    assert all(stretch.endswith("\n") and stretch.startswith("line ") for stretch in order)


@given(st.text(st.sampled_from("ab \n"), max_size=3_000))
def test_the_stretches_are_the_text(text: str) -> None:
    spans = sorted(ends_first(text))
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)


def test_a_text_of_one_line_is_cut_into_stretches() -> None:
    assert len(list(ends_first("a" * 10_000))) > 20


def test_of_a_long_line_the_part_with_the_word_is_taken() -> None:
    text = "a.min.js:1:" + "x = 1; " * 300 + "needle()" + "; y = 2" * 300
    start, end = next(lines_with(text, "needle"))
    assert "needle()" in text[start:end] and end - start <= MAX_LINE


def test_equal_lines_are_taken_once() -> None:
    assert shown("the needle\n" * 9 + "a needle\n", "needle") == ["the needle\n", "a needle\n"]
