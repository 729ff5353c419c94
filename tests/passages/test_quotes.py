"""A quote is found exactly, or by its letters and digits alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.passages.quotes import MAX_PLACES, Quote, find_quote
from tests.support.machine import allowed

TEXTS = st.text(st.sampled_from('ab\n"é\ud800') | st.characters(), max_size=120)


@given(TEXTS, st.integers(0, 60), st.integers(1, 30))
def test_a_verbatim_quote_is_found_exactly(text: str, start: int, size: int) -> None:
    quote = text[start : start + size]
    found = find_quote(text, quote)
    assert found is not None
    assert found.exact
    assert text[found.start : found.end] == quote


@given(TEXTS, TEXTS)
def test_every_place_is_a_span_of_the_text_in_order(text: str, quote: str) -> None:
    found = find_quote(text, quote)
    edges = [edge for place in found.places for edge in place] if found else []
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(text) for edge in edges)


@pytest.mark.parametrize(
    "quote",
    ["the GOVERNOR, left", "the governor left", "The\n governor — left!", "“The governor” left"],
)
def test_a_quote_is_found_by_its_words_alone(quote: str) -> None:
    text = "At dawn *The governor*, left. Nobody saw."
    assert find_quote(text, quote) == Quote(((9, 28),), 1, exact=False)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("See [the manual](https://a.example/x_(y)) for limits.", "See the manual for limits."),
        ('Use [`VACUUM`](vacuum.html "Vacuum the table"), then wait.', "Use VACUUM, then wait."),
        ("It is **un**believable and _quite_ rare.", "unbelievable and quite rare"),
        ("The gov\u00ader\u00adnor left.", "the governor left"),
        ("The governor left at cafe\u0301 noon.", "governor left at café noon"),
        ("The café closed.", "the cafe\u0301 closed"),
        ("He said: “It’s over” – at last…", 'He said: "It\'s over" - at last...'),
        ("A zero\u200bwidth space", "zerowidth space"),
        ("| rpm | 40 |\n| --- | --- |\n| oil | 7 |", "rpm 40"),
        ("An efficient office", "an eﬃcient oﬃce"),
        ("A long hyphen-\nated line", "a long hyphenated line"),
        ("这座桥于\n1871年通车", "这座桥于1871年通车"),
        ("Use \\*all\\* of snake\\_case", "all of snake_case"),
        ("अमालिया ने पुल बनाया।", "अमालिया  ने पुल बनाया"),
    ],
)
def test_a_quote_copied_from_the_rendered_page_is_found_in_the_markdown(text: str, quote: str) -> None:
    found = find_quote(text, quote)
    assert found is not None
    assert not found.exact
    assert found.count == 1


@pytest.mark.parametrize("quote", ["the governor stayed", "governors left", "overnor le", "...", "—", "he", "to day"])
def test_an_absent_quote_is_not_found(quote: str) -> None:
    assert find_quote("At dawn the governor left into daylight", quote.upper()) is None


def test_words_of_other_vowels_are_other_words() -> None:
    assert find_quote("कि वह", "की  वह") is None


def test_a_long_quote_may_begin_and_end_inside_a_word() -> None:
    text = "At dawn the governor left the city, and nobody saw him."
    found = find_quote(text, "vernor  left the city and nob")
    assert found is not None
    assert text[found.start : found.end] == "vernor left the city, and nob"


def test_an_exact_match_is_preferred_to_an_earlier_inexact_one() -> None:
    assert find_quote("A B. a b", "a b") == Quote(((5, 8),), 1, exact=True)


def test_all_places_are_counted_and_the_first_have_offsets() -> None:
    found = find_quote("Oil, oil. " * 30, "oil")
    assert found is not None
    assert (found.count, len(found.places), found.places[:2]) == (30, MAX_PLACES, ((5, 8), (15, 18)))
    found = find_quote("Oil, oil. " * 30, "OIL")
    assert found is not None
    assert (found.count, found.places[:2]) == (60, ((0, 3), (5, 8)))


@pytest.mark.parametrize("text", ["[x](" * 250_000, "[a](b(" * 170_000, "a " * 500_000, "- \n" * 300_000])
def test_a_hostile_megabyte_is_searched_in_time(text: str) -> None:
    begin = time.process_time()
    find_quote(text, "A.A.b")
    assert time.process_time() - begin < allowed(2)
