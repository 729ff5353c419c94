"""The texts of a content are read, replaced and added to, whatever its form."""

from __future__ import annotations

from keyhole.extract.conversations.parts import add_text_part, replace_result, show_results_as_text, text_of

IMAGE = {"type": "image", "source": {}}


def text(value: str, kind: str = "text") -> dict[str, str]:
    return {"type": kind, "text": value}


def test_the_text_of_a_content_is_that_of_its_text_parts() -> None:
    assert text_of("done") == "done"
    assert text_of([text("one"), IMAGE, text("two", "output_text"), "three"]) == "one\ntwo"
    assert text_of(None) == text_of({"type": "computer_screenshot"}) == ""


def test_the_text_of_a_result_is_replaced_and_its_images_stay() -> None:
    item = {"role": "tool", "content": [text("long"), IMAGE, text("more")], "name": "sh"}
    assert replace_result(item, "content", None, "short", "text") == {**item, "content": [text("short"), IMAGE]}
    assert replace_result({"output": "long"}, "output", None, "short", "input_text") == {"output": "short"}


def test_one_of_several_results_in_a_message_is_replaced() -> None:
    first = {"type": "tool_result", "tool_use_id": "a", "content": "one"}
    item = {"role": "user", "content": [first, {**first, "tool_use_id": "b"}]}
    changed = replace_result(item, "content", 1, "short", "text")
    assert changed["content"] == [first, {**first, "tool_use_id": "b", "content": "short"}]
    assert item["content"] == [first, {**first, "tool_use_id": "b"}]


def test_a_text_is_added_in_the_form_of_the_content() -> None:
    assert add_text_part("task", "note", "text") == "task\n\nnote"
    assert add_text_part(None, "note", "text") == add_text_part("", "note", "text") == "note"
    assert add_text_part([IMAGE], "note", "input_text") == [IMAGE, text("note", "input_text")]


def test_stray_results_become_parts_of_the_message() -> None:
    stray = [
        {"type": "tool_result", "tool_use_id": "a", "content": "one"},
        {"type": "tool_result", "tool_use_id": "b", "content": [text("two"), IMAGE]},
        {"type": "tool_result", "tool_use_id": "c", "content": ""},
    ]
    shown = show_results_as_text({"role": "user", "content": [*stray, text("so?")]})
    assert shown == {"role": "user", "content": [text("one"), text("two"), IMAGE, text("so?")]}
