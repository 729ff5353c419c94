"""Reading a text in order, and finding a quote in it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keyhole.passages.reading import find_quote, reach, window
from keyhole.records import Quote
from keyhole.text.measure import serialized_size

LINES = "".join(f"line number {n}\n" for n in range(100))
TEXTS = st.text(st.sampled_from('ab\n"é\ud800') | st.characters(), max_size=120)


def test_a_limit_that_fits_is_kept_to_the_character() -> None:
    got = window(LINES, 5, 17, 1_000, len)
    assert (got.start, got.end, got.total, got.next_start) == (5, 22, len(LINES), 22)


def test_a_window_ended_by_the_room_ends_with_a_line() -> None:
    got = window(LINES, 0, None, 100, len)
    assert 75 <= got.end <= 100
    assert LINES[got.end - 1] == "\n"


def test_a_room_without_a_line_end_in_its_last_quarter_is_used_whole() -> None:
    assert window("a\n" + "b" * 500, 0, None, 100, len).end == 100


def test_the_end_of_the_text_is_said_by_no_next_start() -> None:
    got = window(LINES, len(LINES) - 4, None, 1_000, len)
    assert (got.end, got.next_start) == (len(LINES), None)


@pytest.mark.parametrize(("offset", "start"), [(-7, 0), (0, 0), (3, 3), (4, 4), (99, 4)])
def test_an_offset_outside_is_moved_inside(offset: int, start: int) -> None:
    assert window("abcd", offset, None, 10, len).start == start


@example("0000", 0, -1, 2, False)
@given(TEXTS, st.integers(-3, 130), st.none() | st.integers(-3, 40), st.integers(-3, 60), st.booleans())
def test_a_window_is_within_limit_and_room_but_never_empty_before_the_end(
    text: str, offset: int, limit: int | None, room: int, serialized: bool
) -> None:
    measure = serialized_size if serialized else len
    got = window(text, offset, limit, room, measure)
    assert 0 <= got.start <= got.end <= len(text)
    assert got.end > got.start or got.start == len(text)
    if got.end - got.start > 1:
        assert measure(text[got.start : got.end]) <= room
        assert limit is None or got.end - got.start <= limit


@given(TEXTS, st.integers(0, 130), st.none() | st.integers(1, 40), st.integers(0, 60), st.integers(0, 9), st.booleans())
def test_a_part_as_long_as_its_reach_gives_the_same_window_as_the_whole_text(
    text: str, offset: int, limit: int | None, room: int, before: int, serialized: bool
) -> None:
    measure = serialized_size if serialized else len
    base = max(0, min(offset, len(text)) - before)
    part = text[base : offset + reach(limit, room)]
    assert window(part, offset, limit, room, measure, base=base, total=len(text)) == window(
        text, offset, limit, room, measure
    )


@given(TEXTS, st.integers(1, 40), st.none() | st.integers(1, 30))
def test_reading_on_gives_the_whole_text_once(text: str, room: int, limit: int | None) -> None:
    read, offset = "", 0
    while offset is not None and offset < len(text):
        got = window(text, offset, limit, room, serialized_size)
        read += text[got.start : got.end]
        offset = got.next_start if got.next_start is not None else len(text)
    assert read == text


@given(TEXTS, st.integers(0, 60), st.integers(1, 30))
def test_a_quote_taken_from_the_text_is_found_exactly(text: str, start: int, size: int) -> None:
    quote = text[start : start + size]
    found = find_quote(text, quote)
    assert found is not None
    assert found.exact
    assert text[found.start : found.end] == quote


@pytest.mark.parametrize(
    "quote",
    ["the GOVERNOR, left", "the governor left", "The\n governor — left!", "“The governor” left"],
)
def test_a_quote_is_found_by_its_words_when_the_rest_differs(quote: str) -> None:
    text = "At dawn *The governor*, left. Nobody saw."
    assert find_quote(text, quote) == Quote(9, 28, exact=False)


@pytest.mark.parametrize("quote", ["the governor stayed", "governors left", "...", "—"])
def test_a_quote_that_is_not_there_is_not_found(quote: str) -> None:
    assert find_quote("At dawn the governor left", quote) is None


def test_an_exact_quote_comes_before_an_earlier_inexact_one() -> None:
    assert find_quote("A B. a b", "a b") == Quote(5, 8, exact=True)
