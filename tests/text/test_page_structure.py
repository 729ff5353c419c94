"""Mark and find the parts of a page's text."""

from __future__ import annotations

import pytest

from keyhole.text.page_structure import (
    blank_rest_lines,
    clean_label,
    describe_rest,
    find_page,
    find_rest_lines,
    format_page_starts,
    format_rest_cut,
    format_rest_line,
    parse_page_starts,
)

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


# The rest


def test_a_line_names_the_kind_and_the_heading_above_it() -> None:
    assert format_rest_line("navigation") == "# [rest: navigation]"
    assert format_rest_line("related links", "More news") == "# [rest: related links, under “More news”]"


def test_a_long_heading_is_shortened() -> None:
    line = format_rest_line("comments", "word " * 100)
    assert len(line) < 130
    assert line.endswith("…”]")


def test_the_description_lists_each_kind_once_in_order() -> None:
    lines = [format_rest_line("navigation"), "- [Home](/)", format_rest_line("footer", "A “quoted” word"), "© 2026"]
    lines += [format_rest_line("footer"), "Imprint", "## [rest: form]"]
    assert describe_rest("\n\n".join(lines)) == "navigation, 2 × footer"


def test_a_text_without_parts_has_an_empty_description() -> None:
    assert describe_rest("Nothing here.") == ""


def test_lines_are_found_only_in_the_rest() -> None:
    text = "# [rest: form]\n\nPumps.\n\n# [rest: footer]\n\nImprint\n"
    (line,) = find_rest_lines(text, 24)
    assert (text[line.start : line.end], line.kind) == ("# [rest: footer]", "footer")
    assert find_rest_lines(text, None) == ()


def test_lines_of_the_rest_are_replaced_by_as_many_spaces() -> None:
    text = f"# [rest: form]\n\n# [rest: footer, under “A”]\n\nImprint\n{format_rest_cut(5)}\n"
    blank = blank_rest_lines(text, 16)
    assert len(blank) == len(text)
    assert blank.split() == ["#", "[rest:", "form]", "Imprint"]
    assert blank_rest_lines(text, None) == text
