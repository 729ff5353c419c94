"""The list of the offsets at which pages begin: written, read back, and looked up."""

from __future__ import annotations

import pytest

from keyhole.text.page_starts import clean_label, find_page, format_page_starts, parse_page_starts

PAGES = ((0, "i"), (120, "ii"), (900, "1"))


def test_a_list_that_is_written_is_read_back() -> None:
    assert format_page_starts(PAGES) == "0:i 120:ii 900:1"
    assert parse_page_starts(format_page_starts(PAGES)) == PAGES
    assert parse_page_starts("") == ()


@pytest.mark.parametrize(("offset", "label"), [(0, "i"), (119, "i"), (120, "ii"), (5_000, "1")])
def test_an_offset_is_on_the_page_that_begins_before_it(offset: int, label: str) -> None:
    assert find_page(PAGES, offset) == label


def test_a_text_without_pages_has_no_label() -> None:
    assert find_page((), 3) == ""


@pytest.mark.parametrize(("label", "clean"), [("xii", "xii"), ("A-3", "A-3"), ("", "7"), ("a b\n[end]", "7")])
def test_a_label_is_one_short_word(label: str, clean: str) -> None:
    assert clean_label(label, 7) == clean
