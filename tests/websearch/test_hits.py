"""Test that the texts of engines become plain, bounded text."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.records import Hit
from keyhole.websearch.hits import (
    MAX_ROWS,
    MAX_SNIPPET,
    MAX_TITLE,
    MAX_URL,
    build_hits,
    date_range,
    parse_url,
    to_iso_date,
    to_single_line,
)

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


# Dates


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-11-20", "2026-11-20"),
        ("2026-11-20T08:30:00Z", "2026-11-20T08:30:00+00:00"),
        ("Fri, 20 Nov 2026 08:30:00 GMT", "2026-11-20T08:30:00+00:00"),
        (1_700_000_000, "2023-11-14T22:13:20+00:00"),
        (1_700_000_000.9, "2023-11-14T22:13:20+00:00"),
        (1_700_000_000_000, "2023-11-14T22:13:20+00:00"),
        ("1700000000", "2023-11-14T22:13:20+00:00"),
    ],
)
def test_a_moment_is_converted_to_iso_8601(value: Any, expected: str) -> None:
    assert to_iso_date(value) == expected


@pytest.mark.parametrize(
    "value", [None, True, "", "3 days ago", "2026-13-01", 5, -1, 1e300, float("nan"), [], {}, "20261120", "9" * 5_000]
)
def test_other_values_give_an_empty_date(value: Any) -> None:
    assert to_iso_date(value) == ""


@pytest.mark.parametrize(
    ("text", "days"), [("2026", 365), ("2024", 366), ("2026-02", 28), ("2026-12", 31), ("2026-11-20", 1)]
)
def test_the_range_of_a_date_is_its_year_month_or_day(text: str, days: int) -> None:
    found = date_range(text)
    assert found is not None
    assert found[1] - found[0] == days * 86_400


def test_the_range_of_a_moment_is_empty_and_respects_its_zone() -> None:
    assert date_range("2023-11-14T22:13:20+00:00") == date_range("2023-11-14T23:13:20+01:00") == (1.7e9, 1.7e9)
    assert date_range("2023-11-14T22:13:20") == (1.7e9, 1.7e9)


@pytest.mark.parametrize("text", ["", "soon", "0000", "9999-99", "2026-02-30"])
def test_other_texts_have_no_range(text: str) -> None:
    assert date_range(text) is None


@given(st.text(max_size=70) | st.floats() | st.integers() | st.datetimes().map(str) | st.dates().map(str))
def test_any_value_gives_a_readable_date_or_none(value: Any) -> None:
    if converted := to_iso_date(value):
        assert to_iso_date(converted)
        assert date_range(converted) is not None


@pytest.mark.parametrize(
    ("stated", "expected"),
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
    ],
)
def test_dates_in_text_are_converted_to_iso_8601_or_dropped(stated: Any, expected: str) -> None:
    assert to_iso_date(stated) == expected


DATES = st.from_regex(r"\d{1,4}-\d\d-\d\d(T\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)?)?", fullmatch=True)
MAIL_DATES = st.from_regex(r"([A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", fullmatch=True)


@given(st.text(max_size=40) | DATES | MAIL_DATES)
def test_any_text_gives_a_readable_date_or_none(stated: str) -> None:
    if found := to_iso_date(stated):
        datetime.fromisoformat(found)
