"""Texts are read in windows."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keyhole.passages.reading import max_window_chars, read_window
from keyhole.text.measure import serialized_size

LINES = "".join(f"line number {n}\n" for n in range(100))
TEXTS = st.text(st.sampled_from('ab\n"é\ud800') | st.characters(), max_size=120)


def test_a_limit_that_fits_is_exact() -> None:
    window = read_window(LINES, 5, 17, 1_000, len)
    assert (window.start, window.end, window.total, window.next_start) == (5, 22, len(LINES), 22)


def test_a_window_cut_by_the_size_limit_ends_with_a_line() -> None:
    window = read_window(LINES, 0, None, 100, len)
    assert 75 <= window.end <= 100
    assert LINES[window.end - 1] == "\n"


def test_a_window_without_a_line_break_in_its_last_quarter_uses_the_whole_size() -> None:
    assert read_window("a\n" + "b" * 500, 0, None, 100, len).end == 100


def test_a_window_at_the_end_of_the_text_has_no_next_start() -> None:
    window = read_window(LINES, len(LINES) - 4, None, 1_000, len)
    assert (window.end, window.next_start) == (len(LINES), None)


@pytest.mark.parametrize(("offset", "start"), [(-7, 0), (0, 0), (3, 3), (4, 4), (99, 4)])
def test_an_offset_outside_the_text_is_clamped(offset: int, start: int) -> None:
    assert read_window("abcd", offset, None, 10, len).start == start


@example("0000", 0, -1, 2, False)
@given(TEXTS, st.integers(-3, 130), st.none() | st.integers(-3, 40), st.integers(-3, 60), st.booleans())
def test_a_window_obeys_both_limits_and_is_never_empty_before_the_end(
    text: str, offset: int, limit: int | None, max_size: int, serialized: bool
) -> None:
    measure = serialized_size if serialized else len
    window = read_window(text, offset, limit, max_size, measure)
    assert 0 <= window.start <= window.end <= len(text)
    assert window.end > window.start or window.start == len(text)
    if window.end - window.start > 1:
        assert measure(text[window.start : window.end]) <= max_size
        assert limit is None or window.end - window.start <= limit


@given(TEXTS, st.integers(0, 130), st.none() | st.integers(1, 40), st.integers(0, 60), st.integers(0, 9), st.booleans())
def test_a_part_of_max_window_chars_gives_the_same_window_as_the_whole_text(
    text: str, offset: int, limit: int | None, max_size: int, before: int, serialized: bool
) -> None:
    measure = serialized_size if serialized else len
    base = max(0, min(offset, len(text)) - before)
    part = text[base : offset + max_window_chars(limit, max_size)]
    assert read_window(part, offset, limit, max_size, measure, base=base, total=len(text)) == read_window(
        text, offset, limit, max_size, measure
    )


@given(TEXTS, st.integers(1, 40), st.none() | st.integers(1, 30))
def test_successive_windows_give_the_whole_text_once(text: str, max_size: int, limit: int | None) -> None:
    read, offset = "", 0
    while offset is not None and offset < len(text):
        window = read_window(text, offset, limit, max_size, serialized_size)
        read += text[window.start : window.end]
        offset = window.next_start if window.next_start is not None else len(text)
    assert read == text
