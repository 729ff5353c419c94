"""The fields of addresses are read back as they were written, and malformed ones change nothing."""

from __future__ import annotations

import pytest

from keyhole.extensions.look.page import read_filters, read_number, read_place, write_filters, write_place
from keyhole.store.calls.base import CallFilters


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", None),
        ("12", 12),
        ("-1", None),
        ("²", None),
        ("٣", None),
        ("1_0", None),
        ("9" * 15, 10**15 - 1),
        ("9" * 5_000, None),
    ],
)
def test_a_number_is_a_few_ascii_digits(text: str, number: int | None) -> None:
    assert read_number(text) == number


def test_filters_and_places_survive_their_address() -> None:
    filters = CallFilters(client="a b", tool="t", site="h", outcome="ok", words="ä ö", misses_only=True)
    assert read_filters(write_filters(filters)) == filters
    assert read_place(write_place((1_700_000_000.1234567, "a~b"))) == (1_700_000_000.1234567, "a~b")


@pytest.mark.parametrize("text", ["", "x", "~", "1e~"])
def test_a_malformed_place_is_the_beginning(text: str) -> None:
    assert read_place(text) is None
