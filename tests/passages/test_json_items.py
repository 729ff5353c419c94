"""Passages of JSON begin and end at records, and name the address at which they begin."""

from __future__ import annotations

import json

import pytest

from keyhole import passages
from keyhole.passages.index import Index
from keyhole.passages.labels import gap_label

PUMPS = {"pumps": [{"name": f"pump {number}", "place": f"hall {number}", "note": "n" * 300} for number in range(20)]}
SERVICES = {"regions": ["north"], "services": {f"s{number}": {"hosts": ["a" * 200]} for number in range(20)}}


def to_page(value: object) -> str:
    """Return the text of a page that is JSON."""
    return f"JSON: object\n\n```json\n{json.dumps(value, indent=2)}\n```\n"


def to_windows(text: str) -> list[str]:
    """Return the windows of a text."""
    index = Index(text)
    return [text[index.starts[window] : index.end(window)] for window in range(index.size)]


def label_at(text: str, words: str) -> str:
    """Return the label of the window that has some words."""
    index = Index(text)
    return gap_label(index, index.window_at(text.index(words)))


def test_a_record_longer_than_a_window_is_a_window_of_its_own() -> None:
    windows = to_windows(to_page(PUMPS))
    assert all(window.count('"name"') == 1 for window in windows)
    assert all(window.startswith("    {\n") for window in windows[1:])


def test_short_records_share_windows_that_begin_and_end_at_records() -> None:
    text = to_page([{"name": f"pump {number}", "place": f"hall {number}"} for number in range(60)])
    assert all(window.startswith("  {\n") for window in to_windows(text)[1:])


def test_a_record_without_space_for_all_of_it_is_left_out() -> None:
    text = to_page(PUMPS)
    for limit in range(700, 1_200, 25):
        shown = passages.select(text, "pump 7 place hall", limit).text
        assert shown.count('"name"') == shown.count('"note"'), limit


def test_a_passage_names_the_number_of_its_record() -> None:
    assert label_at(to_page(PUMPS), '"pump 7"') == " $.pumps[7]"


def test_a_passage_that_shows_its_key_names_the_path_of_the_object() -> None:
    assert label_at(to_page(SERVICES), '"s7"') == " $.services"


def test_a_passage_inside_a_long_value_names_its_key() -> None:
    text = to_page({"about": {"a.b": "word " * 900}})
    assert gap_label(Index(text), Index(text).size - 2) == ' $.about["a.b"]'


def test_lines_of_json_have_no_address() -> None:
    text = "```json\n" + "\n".join(json.dumps({"name": number, "note": "n" * 300}) for number in range(9)) + "\n```\n"
    assert label_at(text, '"name": 7') == ""
    assert all(window.count('"name"') == 1 for window in to_windows(text))


@pytest.mark.parametrize("broken", ["[1, 2", '{"a": ]', '"', "]", ""])
def test_text_that_is_no_json_has_no_address(broken: str) -> None:
    text = f"```json\n{broken}\n{'word ' * 600}\n```\n"
    index = Index(text)
    assert [gap_label(index, window) for window in range(index.size)] == [""] * index.size


def test_the_rest_of_a_page_has_addresses_too() -> None:
    main = "The pumps of the town.\n\n"
    text = main + to_page(PUMPS)
    index = Index(text, len(main))
    assert gap_label(index, index.window_at(text.index('"pump 7"'))) == " $.pumps[7]"
