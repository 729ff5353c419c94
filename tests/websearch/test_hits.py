"""Test that the texts of engines become plain, bounded text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.records import Hit
from keyhole.websearch.hits import MAX_ROWS, MAX_SNIPPET, MAX_TITLE, MAX_URL, build_hits, parse_url, to_single_line

NAMES = ("url", "title", "text")


def hit(**row: Any) -> Hit:
    """Return the only hit of a row."""
    (found,) = build_hits([{"url": "https://a.example/", **row}], NAMES, "x", "date", marked_up=True)
    return found


def test_every_field_is_bounded() -> None:
    found = hit(title="t" * 9_000, text="word " * 9_000, date="2024-05-01")
    assert (len(found.title), found.date) == (MAX_TITLE, "2024-05-01")
    assert MAX_SNIPPET - 5 < len(found.snippet) <= MAX_SNIPPET


def test_an_answer_without_end_gives_a_bounded_number_of_hits() -> None:
    rows = [{"url": f"https://a.example/{number}"} for number in range(5_000)]
    assert len(build_hits(rows, NAMES, "x")) == MAX_ROWS


def test_controls_escapes_and_line_breaks_do_not_reach_a_hit() -> None:
    found = hit(title="A\x1b[31m red\u202e title\u200b", text="one\r\n\ttwo\x00 three\ud800")
    assert (found.title, found.snippet) == ("A red title", "one two three")


def test_highlighting_tags_are_removed_and_other_tags_stay() -> None:
    raw = 'A <strong class="x">word</strong>, a &lt;b&gt; tag, List<int>, a < b<br/>and <em>more</em> &amp; more'
    assert to_single_line(raw, 200, marked_up=True) == "A word, a <b> tag, List<int>, a < band more & more"
    assert to_single_line(raw, 200) == raw


@pytest.mark.parametrize("url", [None, 5, [], "", "  ", "https://a.example/a b", "https://a.example/\x00", "https://a"
                                 + "a" * MAX_URL, "https://a.example/\u202egnp.exe", "https://a.example/\n"
                                 "https://b.example/"])  # fmt: skip
def test_a_row_without_a_valid_url_is_left_out(url: Any) -> None:
    assert parse_url(url) == ""
    assert build_hits([{"url": url, "title": "x"}], NAMES, "x") == ()


def test_spaces_around_a_url_are_removed() -> None:
    assert parse_url(" https://a.example/ü?q=1 ") == "https://a.example/ü?q=1"


@given(st.text(max_size=300), st.booleans())
def test_any_text_is_one_clean_line(text: str, marked_up: bool) -> None:
    found = to_single_line(text, 100, marked_up=marked_up)
    assert len(found) <= 100
    assert found == " ".join(found.split())
