"""The texts of a content are found, read and replaced, whatever its form."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.extensions.conversations.formats.contents import (
    SMALL_REST,
    count_media,
    find_texts,
    image_text,
    is_text,
    main_text,
    text_of,
    value_at,
    with_text,
)

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo"}}
SCREENSHOT = {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0KGgo"}
SEARCH_RESULT = {
    "type": "search_result",
    "source": "https://example.org",
    "title": "Exit codes",
    "content": [{"type": "text", "text": "137 is out of memory"}],
}
PDF = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0"}}
TEXT_DOCUMENT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "137 is memory"}}
SHELL = [
    {"stdout": "one", "stderr": "two", "outcome": {"type": "exit", "exit_code": 1}},
    {"stdout": "three", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
]


def text(value: str, kind: str = "text") -> dict[str, str]:
    return {"type": kind, "text": value}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("done", "done"),
        ([text("one"), IMAGE, text("two", "output_text"), "three"], "one\ntwo\nthree"),
        (None, ""),
        (SCREENSHOT, ""),
        ([PDF], ""),
        ([TEXT_DOCUMENT], "137 is memory"),
        ({"response": {"output": "done"}, "name": "sh"}, "done"),
    ],
)
def test_the_text_of_a_content_is_that_of_its_parts_without_images_and_files(content: Any, expected: str) -> None:
    assert text_of(content) == expected


def test_the_text_of_a_search_result_is_read() -> None:
    assert "137 is out of memory" in text_of([SEARCH_RESULT])


def test_both_streams_of_a_shell_are_read() -> None:
    assert text_of([{**SHELL[0], "stdout": "one\n" * 100}, {**SHELL[1], "stdout": "three\n" * 100}]).count("\n") > 200


def test_an_object_with_many_texts_is_read_as_json() -> None:
    rows = {"rows": [{"path": f"src/part_{number}.c", "size": number} for number in range(30)]}
    assert text_of(rows).startswith('{\n "rows": [')
    assert '"src/part_29.c"' in text_of(rows)


def test_each_text_is_found_with_its_path() -> None:
    content = [text("one"), IMAGE, SEARCH_RESULT]
    assert all(value_at(content, path) == found for path, found in find_texts(content))
    assert ((0, "text"), "one") in list(find_texts(content))
    assert ((2, "content", 0, "text"), "137 is out of memory") in list(find_texts(content))


def test_the_main_text_is_the_largest_if_little_is_beside_it() -> None:
    assert main_text("done") == ()
    assert main_text([text("a"), text("done" * 9)]) == (1, "text")
    assert main_text({"output": "done", "exit_code": 0}) == ("output",)
    assert main_text([text("done"), text("x" * SMALL_REST)]) == (1, "text")
    assert main_text([text("d" * (SMALL_REST + 1)), text("x" * (SMALL_REST + 1))]) is None
    assert main_text([IMAGE]) is main_text(None) is None


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("long", "short"),
        ([text("long"), IMAGE], [text("short")]),
        ({"type": "a", "rows": [1]}, {"output": "short"}),
        (
            {"id": "1", "name": "sh", "response": {"output": "long"}, "parts": [{"inlineData": {}}]},
            {"id": "1", "name": "sh", "response": {"output": "short"}},
        ),
    ],
)
def test_a_content_gets_another_text_in_its_own_form(content: Any, expected: Any) -> None:
    assert with_text(content, "short", text("short")) == expected


def test_a_shell_keeps_the_outcome_of_its_first_command() -> None:
    assert with_text(SHELL, "short", None) == [{**SHELL[0], "stdout": "short", "stderr": ""}]


def test_the_text_in_the_place_of_a_screenshot_is_in_an_image() -> None:
    changed = with_text(SCREENSHOT, "short", None)
    assert changed["type"] == "computer_screenshot"
    assert image_text(changed["image_url"]) == "short"


def test_images_and_files_are_counted() -> None:
    assert count_media([text("a"), IMAGE, PDF, TEXT_DOCUMENT, {"type": "tool_result", "content": [IMAGE]}]) == 3
    assert count_media({"response": {}, "parts": [{"inlineData": {"data": "x"}}, {"file_data": {}}]}) == 2
    assert count_media(SCREENSHOT) == count_media({"kind": "binary", "data": "x"}) == 1
    assert count_media("text") == count_media(None) == 0


def test_text_parts_are_recognised() -> None:
    assert all(is_text(text("a", kind)) for kind in ("text", "input_text", "output_text"))
    assert not any(map(is_text, (IMAGE, "a", {"type": "text"}, None)))
