"""Tests of numbers, sizes, durations and times as a person reads them."""

from __future__ import annotations

from typing import get_args

import pytest

from keyhole.extensions.look.page import (
    environment,
    format_ago,
    format_duration,
    format_exact_time,
    format_folder,
    format_iso_time,
    format_miss,
    format_number,
    format_percent,
    format_size,
)
from keyhole.store.calls.base import Miss


def test_numbers_have_thousands_separators() -> None:
    assert [format_number(each) for each in (0, 999, 1_234_567)] == ["0", "999", "1,234,567"]


def test_sizes_have_decimal_units() -> None:
    sizes = [format_size(each) for each in (0, 1, 999, 1_200, 12_345_678, 2 * 10**9)]
    assert sizes == ["0 bytes", "1 byte", "999 bytes", "1.2 kB", "12.3 MB", "2.0 GB"]


def test_durations_use_the_unit_that_a_person_would() -> None:
    durations = [format_duration(each) for each in (0, 0.0344, 1.2345, 90, 600, 10_000)]
    assert durations == ["0 ms", "34 ms", "1.23 s", "90 s", "10 min", "2.8 h"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1_000_000, "just now"), (999_940, "1 minute ago"), (1_000_000 - 7_200, "2 hours ago"), (0, "11 days ago"),
     (1_000_030, "in less than a minute"), (1_000_000 + 2 * 86_400, "in 2 days")],
)  # fmt: skip
def test_a_time_is_told_relative_to_now(seconds: float, words: str) -> None:
    assert format_ago(seconds, 1_000_000) == words


def test_an_exact_time_is_in_utc() -> None:
    assert format_exact_time(0) == "1970-01-01 00:00:00 UTC"
    assert format_iso_time(86_399) == "1970-01-01T23:59:59Z"


@pytest.mark.parametrize("seconds", [float("nan"), 1e300])
def test_a_damaged_time_does_not_fail(seconds: float) -> None:
    assert format_exact_time(seconds) == "?"


def test_shares_are_whole_percents() -> None:
    assert [format_percent(*each) for each in ((1, 3), (0, 3), (1, 1_000), (0, 0))] == ["33 %", "0 %", "under 1 %", "–"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/ann/work/shop/", "shop"), ("/srv/shop", "shop"), ("C:\\Users\\ann\\shop", "shop"),
        ("", ""), ("/", ""), ("/root", ""), ("/home/ann", ""), ("/Users/ann", ""), ("C:\\Users\\ann", ""),
    ],
)  # fmt: skip
def test_a_folder_is_a_project_unless_it_is_the_root_or_a_home(path: str, name: str) -> None:
    assert format_folder(path) == name


def test_every_kind_of_miss_has_words() -> None:
    words = [format_miss(kind) for kind in get_args(Miss)]
    assert words[0] == ""
    assert all(" " in each or each == "failed" for each in words[1:])


def test_the_macro_of_a_time_gives_the_exact_time_as_its_title() -> None:
    template = environment().from_string('{% from "macros.html" import when with context %}{{ when(0) }}')
    expected = '<time datetime="1970-01-01T00:00:00Z" title="1970-01-01 00:00:00 UTC">1 hour ago</time>'
    assert template.render(now=3_700) == expected
