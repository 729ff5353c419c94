"""What engines write becomes plain, bounded text and ISO dates, whatever it is."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.records import Hit
from keyhole.websearch.base import hits_from
from keyhole.websearch.rows import MAX_ROWS, MAX_SNIPPET, MAX_TITLE, MAX_URL, address, iso_date, line

NAMES = ("url", "title", "text")


def hit(**row: Any) -> Hit:
    """The one hit of a row."""
    (found,) = hits_from([{"url": "https://a.example/", **row}], NAMES, "x", "date", marked_up=True)
    return found


def test_every_field_is_bounded() -> None:
    found = hit(title="t" * 9_000, text="word " * 9_000, date="2024-05-01")
    assert (len(found.title), found.date) == (MAX_TITLE, "2024-05-01")
    assert MAX_SNIPPET - 5 < len(found.snippet) <= MAX_SNIPPET


def test_an_answer_without_end_gives_a_bounded_number_of_hits() -> None:
    rows = [{"url": f"https://a.example/{number}"} for number in range(5_000)]
    assert len(hits_from(rows, NAMES, "x")) == MAX_ROWS


def test_controls_escapes_and_line_breaks_do_not_reach_a_hit() -> None:
    found = hit(title="A\x1b[31m red\u202e title\u200b", text="one\r\n\ttwo\x00 three\ud800")
    assert (found.title, found.snippet) == ("A red title", "one two three")


def test_marks_of_found_words_go_and_other_brackets_stay() -> None:
    raw = 'A <strong class="x">word</strong>, a &lt;b&gt; tag, List<int>, a < b<br/>and <em>more</em> &amp; more'
    assert line(raw, 200, marked_up=True) == "A word, a <b> tag, List<int>, a < band more & more"
    assert line(raw, 200) == raw


@pytest.mark.parametrize("url", [None, 5, [], "", "  ", "https://a.example/a b", "https://a.example/\x00", "https://a"
                                 + "a" * MAX_URL, "https://a.example/\u202egnp.exe", "https://a.example/\n"
                                 "https://b.example/"])  # fmt: skip
def test_a_row_whose_address_cannot_be_asked_for_and_shown_is_left_out(url: Any) -> None:
    assert address(url) == ""
    assert hits_from([{"url": url, "title": "x"}], NAMES, "x") == ()


def test_spaces_around_an_address_are_not_its_own() -> None:
    assert address(" https://a.example/ü?q=1 ") == "https://a.example/ü?q=1"


@pytest.mark.parametrize(
    ("stated", "iso"),
    [
        ("2024-05-01", "2024-05-01"),
        ("2024-05-01T00:00:00", "2024-05-01"),
        ("2024-05-01T10:30:00", "2024-05-01T10:30:00"),
        ("2024-05-01 10:30", "2024-05-01T10:30:00"),
        ("2024-05-01T10:30:00.123Z", "2024-05-01T10:30:00+00:00"),
        ("2024-05-01T10:30:00+0200", "2024-05-01T10:30:00+02:00"),
        ("Thu, 14 Nov 2024 10:05:00 GMT", "2024-11-14T10:05:00+00:00"),
        ("Mon, 01 Jan 2024 00:00:00 +0000", "2024-01-01T00:00:00+00:00"),
        ("May 7, 2023", "2023-05-07"),
        ("September 30, 2023", "2023-09-30"),
        ("Sept. 3, 2023", "2023-09-03"),
        ("12 Mar 2024", "2024-03-12"),
        ("3 days ago", ""),
        ("yesterday", ""),
        ("Feb 30, 2024", ""),
        ("2024-13-01", ""),
        ("2024", ""),
        ("99 Foo 2024", ""),
        ("Thu, 99 Nov 2024 10:05:00 GMT", ""),
        ("2024-05-01" * 10, ""),
        (None, ""),
        (1_714_521_600, ""),
    ],
)
def test_dates_are_iso_8601_or_left_out(stated: Any, iso: str) -> None:
    assert iso_date(stated) == iso


DATES = st.from_regex(r"\d{1,4}-\d\d-\d\d(T\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)?)?", fullmatch=True)
MAIL_DATES = st.from_regex(r"([A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", fullmatch=True)


@given(st.text(max_size=40) | DATES | MAIL_DATES)
def test_any_text_gives_a_date_that_can_be_read_or_none(stated: str) -> None:
    if found := iso_date(stated):
        datetime.fromisoformat(found)


@given(st.text(max_size=300), st.booleans())
def test_any_text_is_one_clean_line(text: str, marked_up: bool) -> None:
    found = line(text, 100, marked_up=marked_up)
    assert len(found) <= 100
    assert found == " ".join(found.split())
