"""The place in a text that the fragment of an address names."""

from __future__ import annotations

import re

import pytest

from keyhole.text.sections import find_section, is_name

TEXT = """# Harbour

Intro.

1. First berth, [see the map](https://a.example/map), costs 5 &lt; 6.

## Rules

Boats wait here.

## Prices

Boats wait here. Boats pay 7 euros at the **quay** office.

Paid is by card.

## Rules

Boats wait here. Dogs too.
"""
HEADINGS = [match.span() for match in re.finditer(r"^#.*", TEXT, re.MULTILINE)]
FIRST_RULES, SECOND_RULES = TEXT.index("## Rules"), TEXT.rindex("## Rules")


def place(fragment: str, section: str = "") -> str:
    """Return the line that a fragment names."""
    at = find_section(TEXT, fragment, section, HEADINGS, ())
    assert at >= 0
    return TEXT[at:].partition("\n")[0]


@pytest.mark.parametrize(
    ("section", "line"),
    [
        ("Intro.\nFirst berth, see the map, costs 5 < 6. Rules Boats", "1. First berth, [see the map](https"),
        ("Rules Boats wait here.\nPrices Boats wait here. Boats pay", "## Prices"),
        ("quay office.\nPaid is by card. Rules", "Paid is by card."),
    ],
)
def test_a_part_is_found_by_its_first_words_without_regard_to_markup(section: str, line: str) -> None:
    assert place("x", section).startswith(line)


def test_the_heading_above_a_part_belongs_to_it() -> None:
    assert place("x", "Prices\nBoats wait here. Boats pay 7") == "## Prices"


def test_the_words_before_a_part_tell_parts_with_the_same_beginning_apart() -> None:
    found = [find_section(TEXT, "x", f"{before}\nRules", HEADINGS, ()) for before in ("5 < 6.", "by card.")]
    assert found == [FIRST_RULES, SECOND_RULES]


@pytest.mark.parametrize(
    ("directive", "line"),
    [
        ("text=by%20card", "Paid is by card."),
        ("text=PAID,card", "Paid is by card."),
        ("text=office.-,paid", "Paid is by card."),
        ("text=Boats%20wait%20here,-Boats%20pay", "## Prices"),
        ("text=nowhere&text=by%20card", "Paid is by card."),
        ("text=7%20euros,-not%20there", "## Prices"),
    ],
)
def test_the_words_of_a_text_directive_are_found_in_their_context(directive: str, line: str) -> None:
    assert place(f"prices:~:{directive}") == place(f":~:{directive}") == line


def test_names_are_made_from_headings_and_numbered_if_they_repeat() -> None:
    assert place("prices") == place("%70rices") == "## Prices"
    found = [find_section(TEXT, name, "", HEADINGS, ()) for name in ("rules", "rules-1", "rules-2")]
    assert found == [FIRST_RULES, SECOND_RULES, -1]


def test_pages_of_a_pdf_and_lines_of_a_file_are_named_by_numbers() -> None:
    pages = ((0, "i"), (10, "ii"), (11, "1"))
    assert [find_section(TEXT, name, "", [], pages) for name in ("page=2", "zoom=5&page=3", "page=9")] == [10, 11, 11]
    lines = "one\ntwo\nthree"
    assert [find_section(lines, name, "", [], ()) for name in ("L1", "L3-L9", "L4", "L0")] == [0, 8, -1, -1]


@pytest.mark.parametrize("fragment", ["nothing", ":~:text=", ":~:text=-,-", ":~:other", "L", "page=2", "%ff%00", "-1"])
def test_a_name_that_the_text_lacks_is_not_found(fragment: str) -> None:
    assert find_section(TEXT, fragment, "", [(0, 9)], ()) == -1


def test_views_of_applications_are_no_names() -> None:
    assert [is_name(each) for each in ("a", ":~:text=a", "", "/a", "!a", "?a=b")] == [True, True, *[False] * 4]
