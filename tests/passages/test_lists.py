"""The list around a passage is found with the line that introduces it."""

from __future__ import annotations

import pytest

from keyhole.passages.lists import MAX_LIST_CHARS, find_list

ITEMS = "- The pump of iron.\n- The pump of wood,\n  which is old.\n\n- The well.\n"
TEXT = f"The town is small.\n\nIt has these things:\n\n{ITEMS}\nThe river is near.\n"


def list_at(text: str, words: str) -> str | None:
    """Return the list of the line with some words."""
    start = text.rindex("\n", 0, text.index(words)) + 1
    found = find_list(text, start, text.index(words) + len(words))
    return text[slice(*found)].strip() if found else None


@pytest.mark.parametrize("words", ["of iron", "of wood", "The well"])
def test_a_list_is_found_from_each_of_its_items_with_its_lead_in(words: str) -> None:
    assert list_at(TEXT, words) == f"It has these things:\n\n{ITEMS}".strip()


def test_a_paragraph_that_ends_with_a_full_stop_introduces_no_list() -> None:
    assert list_at(TEXT.replace("things:", "things."), "of iron") == ITEMS.strip()


def test_a_nested_list_is_found_without_the_items_around_it() -> None:
    text = "Intro.\n\n- One\n  1. a pump\n  2. a well\n- Two\n"
    assert list_at(text, "a well") == "1. a pump\n  2. a well"


@pytest.mark.parametrize("text", ["A text.\n\n- One item alone.\n\nMore.\n", "\nNo item is here.\n"])
def test_a_text_without_two_items_has_no_list(text: str) -> None:
    assert list_at(text, "item") is None


def test_a_list_that_reaches_too_far_is_not_found() -> None:
    item = "- The committee met in the long hall.\n"
    text = "Begin.\n" + item * (2 * MAX_LIST_CHARS // len(item)) + "- The pump.\n"
    assert list_at(text, "The pump") is None
